import type { webcrypto } from 'node:crypto'
import { BoundedMap } from '../../base/bounded-map.ts'
import { bytesText, toHex } from '../../base/bytes.ts'
import type { ChainVerdict, IssuedCertificate, Pki } from '../../ports/pki.ts'

import type { PkiSource } from '../pki-material.ts'
import { ServerCredentials } from '../server-credentials.ts'
import { loadLibrary, readPart } from './asn1-structures.ts'
import {
  type Certificate,
  certificateFacts,
  fingerprintOf,
  isRoot,
  isSelfIssued,
  pemOf,
  readCertificate,
  readCertificates,
  validityOf,
} from './certificate.ts'
import { isNetworkAuthority, isRelated, leadsToRoot } from './chain.ts'
import { nameWithCommonName } from './distinguished-names.ts'
import { clientExtensions, issueCertificate, issueRouterCertificates } from './issue.ts'
import { writeCertsOnly, writePem } from './pem.ts'
import { loadSigningKey } from './signing-key.ts'
import { readSigningRequest } from './signing-request.ts'
import { createThirdPartyVerifier, findTrustDomain, readCertificateFacts } from './third-party.ts'

export interface X509PkiOptions {
  /** SPIFFE trust domain; by default the one that the certificates name, else the fingerprint of the root. */
  readonly trustDomain?: string
  /** WebCrypto implementation; by default the one of the runtime. */
  readonly crypto?: webcrypto.Crypto
  /** The server certificate in use, where it may be replaced; by default that of the material for good. */
  readonly server?: ServerCredentials
}

/** Certificates that a client may send, the leaf included. */
const MAX_CLIENT_CHAIN = 10

/** Octets of a name that holds nothing. */
const EMPTY_NAME = 2

/** Trusted client certificates that need not be read again when they come back: some five megabytes. */
const MAX_CLIENTS = 500

/**
 * The network's certificate authority over `source`. Throws an `Error` whose message names the part that cannot be
 * read, does not match its key, or leads to no root of the trust bundle.
 */
export async function createX509Pki(source: PkiSource, options: X509PkiOptions = {}): Promise<Pki> {
  const library = await loadLibrary(options.crypto)
  const network = new Map<string, Certificate>()
  const readAll = async (part: 'caPem' | 'signingCertPem') => {
    const certificates = await readPart(part, () => readCertificates(library, source[part], network))
    for (const certificate of certificates) network.set(bytesText(certificate.der), certificate)
    return certificates
  }
  const configured = await readAll('caPem')
  const signingChain = await readAll('signingCertPem')
  const [signing] = signingChain
  const [part, held] =
    'signingKey' in source
      ? (['signingKey', source.signingKey] as const)
      : (['signingKeyPem', source.signingKeyPem] as const)
  const signer = await readPart(part, () => loadSigningKey(library, held, signing.publicKey))
  const server = options.server ?? (await ServerCredentials.open(source, library))

  const bundle = [...network.values()]
  const roots = await rootsAmong(configured)
  const [firstRoot] = roots
  if (firstRoot === undefined) throw new Error('caPem: no self-signed certificate authority found')
  if (!(await isNetworkAuthority(signing, { roots, intermediates: bundle }))) {
    throw new Error('signingCertPem: is not a certificate authority that leads to a root of caPem')
  }
  const own = bundle.filter((certificate) => !roots.includes(certificate))

  const between = signingChain.filter((certificate) => !isSelfIssued(certificate))

  const issuer = signing.subjectDer
  const extensionsFor = clientExtensions(library, signing)

  const issueClientCertificate: Pki['issueClientCertificate'] = async (request): Promise<IssuedCertificate> => {
    const accepted = await readSigningRequest(library, request.csrPem)
    if (typeof accepted === 'string') return { issued: false, problem: accepted }
    const { publicKey } = accepted
    const subject =
      request.commonName === undefined ? accepted.subject : nameWithCommonName(library, request.commonName)
    const extensions = extensionsFor({ spiffeId: request.spiffeId, isNameless: subject.der.length === EMPTY_NAME })
    const year = validityOf(request.now, 1)
    const notAfter = request.lifetimeMs === undefined ? year.notAfter : request.now + request.lifetimeMs
    const template = { issuer, subject: subject.der, publicKey, extensions, ...year, notAfter }
    const der = await issueCertificate(library, template, signer)
    const pem = writePem('CERTIFICATE', der)
    // All that it says is known without reading it.
    const leaf = {
      fingerprint: await fingerprintOf(library, { der }),
      pem,
      der,
      commonName: subject.commonName,
      subject: subject.text,
      uris: [request.spiffeId],
      emails: [],
      hosts: [],
      publicKey: toHex(publicKey),
      isAuthority: false,
      notBefore: wholeSeconds(template.notBefore),
      notAfter: wholeSeconds(template.notAfter),
    }
    return { issued: true, leaf, chainPem: pem + pemOf(...between) }
  }

  const clients = new BoundedMap<string, Certificate>(MAX_CLIENTS)
  const known = { get: (octets: string) => network.get(octets) ?? clients.get(octets) }

  /** An unreadable certificate becomes undefined: as an intermediate it is then of no use, as the leaf it is not trusted. */
  const readSent = (der: Uint8Array): Certificate | undefined => {
    try {
      return readCertificate(library, new Uint8Array(der), known)
    } catch {
      return undefined
    }
  }

  const verifyClientChain: Pki['verifyClientChain'] = async (chain, now): Promise<ChainVerdict> => {
    const [leaf, ...sent] = chain.length <= MAX_CLIENT_CHAIN ? chain.map(readSent) : []
    if (!leaf) return { trusted: false }
    const intermediates = sent.filter((certificate) => certificate !== undefined)
    const proper = await leadsToRoot(leaf, { roots, intermediates, now })
    const trusted = proper || (await leadsToRoot(leaf, { roots, intermediates: [...own, ...intermediates], now }))
    if (trusted) clients.set(bytesText(leaf.der), leaf)
    return trusted ? { trusted, leaf: await certificateFacts(library, leaf), improper: !proper } : { trusted }
  }

  const isOwn = (authority: Certificate) => isRelated(authority, bundle)
  const thirdParties = createThirdPartyVerifier(library, isOwn)

  return {
    trustDomain:
      options.trustDomain ?? (await findTrustDomain(library, [...bundle, server.current.certificate], firstRoot)),
    caBundlePem: pemOf(...bundle),
    caBundlePkcs7: async () => writeCertsOnly(bundle.map(({ der }) => der)),
    serverCertificate: async () => server.current.facts,
    issueClientCertificate,
    issueRouterCertificates: (request) =>
      issueRouterCertificates(library, { signing, intermediates: between, signer }, request),
    isOwnAuthority: async (certPem) => isOwn(readCertificates(library, certPem)[0]),
    readCertificates: (pem) => readCertificateFacts(library, pem),
    readClientCertificate: async (der) => {
      const certificate = readSent(der)
      return certificate && certificateFacts(library, certificate)
    },
    verifyClientChain,
    verifyThirdPartyChain: async (chain, authorities, now) => {
      const [leaf, ...sent] = chain.length <= MAX_CLIENT_CHAIN ? chain.map(readSent) : []
      return thirdParties.findAuthority(
        leaf,
        sent.filter((certificate) => certificate !== undefined),
        authorities,
        now,
      )
    },
    isIssuedByThirdParty: (der, authority, now) => thirdParties.isIssuer(readSent(der), authority, now),
  }
}

async function rootsAmong(certificates: readonly Certificate[]): Promise<Certificate[]> {
  const roots = await Promise.all(certificates.map(isRoot))
  return certificates.filter((_, at) => roots[at])
}

/** Certificates tell instants to the second. */
function wholeSeconds(instant: number): number {
  return Math.floor(instant / 1000) * 1000
}
