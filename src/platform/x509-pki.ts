import type { ChainVerdict, IssuedCertificate, Pki } from '../ports/pki.ts'
import type { PkiMaterial } from './pki-material.ts'
import { type Certificate, isRoot, isSelfIssued, readCertificate, readCertificates } from './x509/certificate.ts'
import { isNetworkAuthority, leadsToRoot } from './x509/chain.ts'
import { sameOctets } from './x509/der-values.ts'
import { certificateFacts, pemOf } from './x509/facts.ts'
import { writeUriName } from './x509/general-name.ts'
import { authorityKeyIdentifier, extendedKeyUsage, issueCertificate, keyUsage, subjectAltNames } from './x509/issue.ts'
import { keyUsageBit, oids } from './x509/oids.ts'
import { writeCertificateStore } from './x509/pkcs7.ts'
import { readPart } from './x509/read-part.ts'
import { loadSigningKey } from './x509/signing-key.ts'
import { readSigningRequest } from './x509/signing-request.ts'
import { findTrustDomain } from './x509/trust-domain.ts'
import { validityOf } from './x509/validity.ts'

export interface X509PkiOptions {
  /** SPIFFE trust domain; by default the one that the certificates name, else the fingerprint of the root. */
  readonly trustDomain?: string
}

/** Certificates that a client may send, the leaf included. */
const maxClientChain = 10

/**
 * The network's certificate authority over `material`. Throws an `Error` whose message names the part that cannot be
 * read, does not match its key, or leads to no root of the trust bundle.
 */
export const createX509Pki = async (material: PkiMaterial, options: X509PkiOptions = {}): Promise<Pki> => {
  const configured = await readPart('caPem', () => readCertificates(material.caPem))
  const signingChain = await readPart('signingCertPem', () => readCertificates(material.signingCertPem))
  const [server] = await readPart('serverCertPem', () => readCertificates(material.serverCertPem))
  const [signing] = signingChain
  const signer = await readPart('signingKeyPem', () =>
    loadSigningKey(material.signingKeyPem, signing.publicKey, signing.spki),
  )
  const bundle = distinct([...configured, ...signingChain])
  const roots = await rootsAmong(configured)
  const [firstRoot] = roots
  if (firstRoot === undefined) throw new Error('caPem: no self-signed certificate authority found')
  if (!(await isNetworkAuthority(signing, { roots, intermediates: bundle }))) {
    throw new Error('signingCertPem: is not a certificate authority that leads to a root of caPem')
  }
  const own = bundle.filter((certificate) => !roots.includes(certificate))

  const issueClientCertificate: Pki['issueClientCertificate'] = async (request): Promise<IssuedCertificate> => {
    const accepted = await readSigningRequest(request.csrPem)
    if (typeof accepted === 'string') return { issued: false, problem: accepted }
    const { encodedSubject, spki } = accepted
    const { subjectKeyId } = signing.extensions
    const isNameless = encodedSubject.length <= 2
    const der = await issueCertificate(
      {
        encodedIssuer: signing.encodedSubject,
        encodedSubject,
        spki: spki.encoded,
        ...validityOf(request.now, 1),
        extensions: [
          keyUsage([keyUsageBit.digitalSignature, keyUsageBit.keyEncipherment, keyUsageBit.dataEncipherment]),
          extendedKeyUsage(oids.clientAuth),
          ...(subjectKeyId ? [authorityKeyIdentifier(subjectKeyId)] : []),
          subjectAltNames([writeUriName(request.spiffeId)], isNameless),
        ],
      },
      signer,
    )
    const leaf = readCertificate(der)
    const intermediates = signingChain.filter((certificate) => !isSelfIssued(certificate))
    return { issued: true, leaf: await certificateFacts(leaf), chainPem: pemOf(leaf, ...intermediates) }
  }

  const verifyClientChain: Pki['verifyClientChain'] = async (chain, now): Promise<ChainVerdict> => {
    const [leaf, ...sent] = chain.length <= maxClientChain ? readChain(chain) : []
    if (!leaf) return { trusted: false }
    const intermediates = sent.filter((certificate) => certificate !== undefined)
    const proper = await leadsToRoot(leaf, { roots, intermediates, now })
    const trusted = proper || (await leadsToRoot(leaf, { roots, intermediates: [...own, ...intermediates], now }))
    return trusted ? { trusted, leaf: await certificateFacts(leaf), improper: !proper } : { trusted }
  }

  return {
    trustDomain: options.trustDomain ?? (await findTrustDomain([...bundle, server], firstRoot)),
    caBundlePem: pemOf(...bundle),
    caBundlePkcs7: async () => writeCertificateStore(bundle.map(({ der }) => der)),
    serverCertificate: () => certificateFacts(server),
    issueClientCertificate,
    verifyClientChain,
  }
}

/** What cannot be read becomes undefined: as an intermediate it is then of no use, as the leaf it is not trusted. */
const readChain = (chain: readonly Uint8Array[]): (Certificate | undefined)[] =>
  chain.map((der) => {
    try {
      return readCertificate(new Uint8Array(der))
    } catch {
      return undefined
    }
  })

const distinct = (certificates: readonly Certificate[]): Certificate[] =>
  certificates.filter(({ der }, at) => !certificates.slice(0, at).some((earlier) => sameOctets(earlier.der, der)))

const rootsAmong = async (certificates: readonly Certificate[]): Promise<Certificate[]> => {
  const roots = await Promise.all(certificates.map(isRoot))
  return certificates.filter((_, at) => roots[at])
}
