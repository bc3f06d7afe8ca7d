import type { webcrypto } from 'node:crypto'
import { bytesText, toHex } from '../../base/bytes.ts'
import { BoundedMap } from '../../base/collections.ts'
import type { ChainVerdict, IssuedCertificate, KeySuccession, Pki } from '../../ports/pki.ts'
import type { PkiSource } from '../pki-material.ts'
import type { KeyStore } from '../sealed-key-store.ts'
import { ServerCredentials } from '../server-credentials.ts'
import { type Library, loadLibrary, readPart } from './asn1-structures.ts'
import { type AuthorityState, readAuthorities } from './authority-state.ts'
import {
  type Certificate,
  certificateFacts,
  fingerprintOf,
  pemOf,
  readCertificate,
  readCertificates,
  validityOf,
} from './certificate.ts'
import { isRelated, leadsToRoot } from './chain.ts'
import { nameWithCommonName } from './distinguished-names.ts'
import { issueCertificate, issueRouterCertificates } from './issue.ts'
import { createKeySuccession } from './key-succession.ts'
import { writeCertsOnly, writePem } from './pem.ts'
import { loadSigningKey, type SigningKey } from './signing-key.ts'
import { readSigningRequest } from './signing-request.ts'
import { createThirdPartyVerifier, findTrustDomain, readCertificateFacts } from './third-party.ts'

export interface X509PkiOptions {
  /** SPIFFE trust domain. Default: the trust domain in the certificates, else the fingerprint of the root. */
  readonly trustDomain?: string
  /** WebCrypto implementation; by default that of the runtime. */
  readonly crypto?: webcrypto.Crypto
  /** The server certificate in use, which may be replaced. Default: the fixed certificate of the material. */
  readonly server?: ServerCredentials
  /** The store of new keys; without it no key is made. */
  readonly keyStore?: KeyStore | undefined
}

/** Certificates that a client may send, the leaf included. */
const MAX_CLIENT_CHAIN = 10

/** Octets of an empty name. */
const EMPTY_NAME = 2

/** Trusted client certificates that are kept parsed: some five megabytes. */
const MAX_CLIENTS = 500

/** The network's certificate authority, and the means to change its keys. */
export interface X509Pki extends Pki {
  readonly keys: KeySuccession
}

/**
 * The network's certificate authority over `source`. Throws an `Error` whose message names the part that cannot be
 * read, does not match its key, or leads to no root of the trust bundle.
 */
export async function createX509Pki(source: PkiSource, options: X509PkiOptions = {}): Promise<X509Pki> {
  const library = await loadLibrary(options.crypto)
  const signer = await signerOf(library, source)
  const server = options.server ?? (await ServerCredentials.open(source, library))
  const [signing] = readCertificates(library, source.signingCertPem)
  const id = await fingerprintOf(library, signing)
  const configured = { id, rootPem: source.caPem, chainPem: source.signingCertPem, goodUntil: null }
  const authorities = new Authorities(library, await readAuthorities(library, [configured], { id, signer }))
  const { bundle, roots } = authorities.state
  const trustDomain =
    options.trustDomain ?? (await findTrustDomain(library, [...bundle, server.current.certificate], roots[0]))
  const keys = await createKeySuccession({
    ...{ library, source, trustDomain, server },
    keyStore: options.keyStore,
    issuer: () => authorities.state.issuer,
    adopt: async (generations, issuing, now) => {
      const { id, signer: given = signer } = issuing
      authorities.state = await readAuthorities(library, generations, { id, signer: given }, now)
    },
  })
  return pkiOver(authorities, { trustDomain, keys, server })
}

function pkiOver(
  authorities: Authorities,
  { trustDomain, keys, server }: Pick<X509Pki, 'trustDomain' | 'keys'> & { readonly server: ServerCredentials },
): X509Pki {
  const { library } = authorities
  const isOwn = (authority: Certificate) => isRelated(authority, [...authorities.state.known.values()])
  const thirdParties = createThirdPartyVerifier(library, isOwn)
  return {
    trustDomain,
    keys,
    get caBundlePem() {
      return pemOf(...authorities.state.bundle)
    },
    caBundlePkcs7: async () => writeCertsOnly(authorities.state.bundle.map(({ der }) => der)),
    get issuerKeyId() {
      return authorities.state.issuer.signing.extensions.subjectKeyId ?? null
    },
    authorityIdOf: (keyId) => authorities.state.ids.get(keyId),
    issuer: () => certificateFacts(library, authorities.state.issuer.signing),
    serverCertificate: async () => server.current.facts,
    issueClientCertificate: (request) => issueClientCertificate(library, authorities.state, request),
    issueRouterCertificates: (request) => issueRouterCertificates(library, authorities.state.issuer, request),
    isOwnAuthority: async (certPem) => isOwn(readCertificates(library, certPem)[0]),
    readCertificates: (pem) => readCertificateFacts(library, pem),
    readClientCertificate: async (der) => {
      const certificate = authorities.readSent(der)
      return certificate && certificateFacts(library, certificate)
    },
    verifyClientChain: (chain, now) => authorities.verifyClientChain(chain, now),
    verifyThirdPartyChain: async (chain, parties, now) =>
      thirdParties.findAuthority(...authorities.readChain(chain), parties, now),
    isIssuedByThirdParty: (der, party, now) => thirdParties.isIssuer(authorities.readSent(der), party, now),
  }
}

/** The authorities in force, and the clients whose certificates they trusted last. */
class Authorities {
  readonly library: Library
  /** Replaced whole when the network changes its keys. */
  state: AuthorityState
  readonly #clients = new BoundedMap<string, Certificate>(MAX_CLIENTS)

  constructor(library: Library, state: AuthorityState) {
    this.library = library
    this.state = state
  }

  /** Parses a sent certificate; undefined for an unreadable certificate, which is ignored as an intermediate and not trusted as a leaf. */
  readSent(der: Uint8Array): Certificate | undefined {
    const known = { get: (octets: string) => this.state.known.get(octets) ?? this.#clients.get(octets) }
    try {
      return readCertificate(this.library, new Uint8Array(der), known)
    } catch {
      return undefined
    }
  }

  /** The leaf and the readable intermediates of a sent chain. A chain that is too long has neither. */
  readChain(chain: readonly Uint8Array[]): [leaf: Certificate | undefined, intermediates: readonly Certificate[]] {
    const [leaf, ...sent] = chain.length <= MAX_CLIENT_CHAIN ? chain.map((der) => this.readSent(der)) : []
    return [leaf, sent.filter((certificate) => certificate !== undefined)]
  }

  async verifyClientChain(chain: readonly Uint8Array[], now: number): Promise<ChainVerdict> {
    const [leaf, intermediates] = this.readChain(chain)
    if (!leaf) return { trusted: false }
    const { roots, below } = this.state
    const proper = await leadsToRoot(leaf, { roots, intermediates, now })
    const trusted = proper || (await leadsToRoot(leaf, { roots, intermediates: [...below, ...intermediates], now }))
    if (trusted) this.#clients.set(bytesText(leaf.der), leaf)
    return trusted ? { trusted, leaf: await certificateFacts(this.library, leaf), improper: !proper } : { trusted }
  }
}

async function issueClientCertificate(
  library: Library,
  { extensionsFor, issuer }: AuthorityState,
  { csrPem, spiffeId, now, commonName, lifetimeMs }: Parameters<Pki['issueClientCertificate']>[0],
): Promise<IssuedCertificate> {
  const accepted = await readSigningRequest(library, csrPem)
  if (typeof accepted === 'string') return { issued: false, problem: accepted }
  const { publicKey } = accepted
  const subject = commonName === undefined ? accepted.subject : nameWithCommonName(library, commonName)
  const year = validityOf(now, 1)
  const template = {
    ...{ issuer: issuer.signing.subjectDer, subject: subject.der, publicKey },
    extensions: extensionsFor({ spiffeId, isNameless: subject.der.length === EMPTY_NAME }),
    notBefore: year.notBefore,
    notAfter: lifetimeMs === undefined ? year.notAfter : now + lifetimeMs,
  }
  const der = await issueCertificate(library, template, issuer.signer)
  const pem = writePem('CERTIFICATE', der)
  // The issued contents are known without parsing the certificate.
  const leaf = {
    fingerprint: await fingerprintOf(library, { der }),
    ...{ pem, der, commonName: subject.commonName, subject: subject.text },
    ...{ uris: [spiffeId], emails: [], hosts: [] },
    publicKey: toHex(publicKey),
    isAuthority: false,
    authorityKeyId: issuer.signing.extensions.subjectKeyId ?? null,
    notBefore: wholeSeconds(template.notBefore),
    notAfter: wholeSeconds(template.notAfter),
  }
  return { issued: true, leaf, chainPem: pem + pemOf(...issuer.intermediates) }
}

async function signerOf(library: Library, source: PkiSource): Promise<SigningKey> {
  const [signing] = await readPart('signingCertPem', () => readCertificates(library, source.signingCertPem))
  const [part, held] =
    'signingKey' in source
      ? (['signingKey', source.signingKey] as const)
      : (['signingKeyPem', source.signingKeyPem] as const)
  return readPart(part, () => loadSigningKey(library, held, signing.publicKey))
}

/** Certificates hold instants to the second. */
function wholeSeconds(instant: number): number {
  return Math.floor(instant / 1000) * 1000
}
