import type { webcrypto } from 'node:crypto'
import type { ChainVerdict, IssuedCertificate, Pki } from '../ports/pki.ts'
import type { PkiMaterial } from './pki-material.ts'
import { type Certificate, isRoot, isSelfIssued, readCertificate, readCertificates } from './x509/certificate.ts'
import { isNetworkAuthority, leadsToRoot } from './x509/chain.ts'
import { clientExtensions } from './x509/client-extensions.ts'
import { certificateFacts, pemOf } from './x509/facts.ts'
import { issueCertificate } from './x509/issue.ts'
import { issueRouterCertificates } from './x509/issue-router-certificates.ts'
import { loadLibrary } from './x509/library.ts'
import { nameWithCommonName } from './x509/name.ts'
import { readPart } from './x509/read-part.ts'
import { loadSigningKey } from './x509/signing-key.ts'
import { readSigningRequest } from './x509/signing-request.ts'
import { createThirdPartyVerifier, readCertificateFacts } from './x509/third-party.ts'
import { findTrustDomain } from './x509/trust-domain.ts'
import { validityOf } from './x509/validity.ts'

export interface X509PkiOptions {
  /** SPIFFE trust domain; by default the one that the certificates name, else the fingerprint of the root. */
  readonly trustDomain?: string
  /** WebCrypto implementation; by default the one of the runtime. */
  readonly crypto?: webcrypto.Crypto
}

/** Certificates that a client may send, the leaf included. */
const maxClientChain = 10

/**
 * The network's certificate authority over `material`. Throws an `Error` whose message names the part that cannot be
 * read, does not match its key, or leads to no root of the trust bundle.
 */
export const createX509Pki = async (material: PkiMaterial, options: X509PkiOptions = {}): Promise<Pki> => {
  const library = await loadLibrary(options.crypto)
  const network = new Map<string, Certificate>()
  const readAll = async (part: 'caPem' | 'signingCertPem' | 'serverCertPem') => {
    const certificates = await readPart(part, () => readCertificates(library, material[part], network))
    if (part !== 'serverCertPem') for (const certificate of certificates) network.set(certificate.pem, certificate)
    return certificates
  }
  const configured = await readAll('caPem')
  const signingChain = await readAll('signingCertPem')
  const [signing] = signingChain
  const [server] = await readAll('serverCertPem')
  const signer = await readPart('signingKeyPem', () =>
    loadSigningKey(library, material.signingKeyPem, signing.publicKey),
  )
  await readPart('serverKeyPem', () => loadSigningKey(library, material.serverKeyPem, server.publicKey))

  const bundle = [...network.values()]
  const roots = await rootsAmong(configured)
  const [firstRoot] = roots
  if (firstRoot === undefined) throw new Error('caPem: no self-signed certificate authority found')
  if (!(await isNetworkAuthority(signing, { roots, intermediates: bundle }))) {
    throw new Error('signingCertPem: is not a certificate authority that leads to a root of caPem')
  }
  const own = bundle.filter((certificate) => !roots.includes(certificate))

  const between = signingChain.filter((certificate) => !isSelfIssued(certificate))

  const issueClientCertificate: Pki['issueClientCertificate'] = async (request): Promise<IssuedCertificate> => {
    const accepted = await readSigningRequest(library, request.csrPem)
    if (typeof accepted === 'string') return { issued: false, problem: accepted }
    const { publicKey } = accepted
    const subject =
      request.commonName === undefined ? accepted.subject : nameWithCommonName(library, request.commonName)
    const extensions = clientExtensions(library, { subject, spiffeId: request.spiffeId, signing })
    const issuer = signing.parsed.subjectName
    const year = validityOf(request.now, 1)
    const notAfter = request.lifetimeMs === undefined ? year.notAfter : request.now + request.lifetimeMs
    const template = { issuer, subject, publicKey, extensions, ...year, notAfter }
    const leaf = readCertificate(library, await issueCertificate(library, template, signer))
    return { issued: true, leaf: await certificateFacts(library, leaf), chainPem: pemOf(leaf, ...between) }
  }

  /** What cannot be read becomes undefined: as an intermediate it is then of no use, as the leaf it is not trusted. */
  const readSent = (der: Uint8Array): Certificate | undefined => {
    try {
      return readCertificate(library, new Uint8Array(der), network)
    } catch {
      return undefined
    }
  }

  const verifyClientChain: Pki['verifyClientChain'] = async (chain, now): Promise<ChainVerdict> => {
    const [leaf, ...sent] = chain.length <= maxClientChain ? chain.map(readSent) : []
    if (!leaf) return { trusted: false }
    const intermediates = sent.filter((certificate) => certificate !== undefined)
    const proper = await leadsToRoot(leaf, { roots, intermediates, now })
    const trusted = proper || (await leadsToRoot(leaf, { roots, intermediates: [...own, ...intermediates], now }))
    return trusted ? { trusted, leaf: await certificateFacts(library, leaf), improper: !proper } : { trusted }
  }

  const verifyThirdParty = createThirdPartyVerifier(library)

  return {
    trustDomain: options.trustDomain ?? (await findTrustDomain(library, [...bundle, server], firstRoot)),
    caBundlePem: pemOf(...bundle),
    caBundlePkcs7: async () =>
      new Uint8Array(new library.x509.X509Certificates(bundle.map(({ parsed }) => parsed)).export('raw')),
    serverCertificate: () => certificateFacts(library, server),
    issueClientCertificate,
    issueRouterCertificates: (request) =>
      issueRouterCertificates(library, { signing, intermediates: between, signer }, request),
    readCertificates: (pem) => readCertificateFacts(library, pem),
    readClientCertificate: async (der) => {
      const certificate = readSent(der)
      return certificate && certificateFacts(library, certificate)
    },
    verifyClientChain,
    verifyThirdPartyChain: async (chain, authorities, now) => {
      const [leaf, ...sent] = chain.length <= maxClientChain ? chain.map(readSent) : []
      return verifyThirdParty(
        leaf,
        sent.filter((certificate) => certificate !== undefined),
        authorities,
        now,
      )
    },
  }
}

const rootsAmong = async (certificates: readonly Certificate[]): Promise<Certificate[]> => {
  const roots = await Promise.all(certificates.map(isRoot))
  return certificates.filter((_, at) => roots[at])
}
