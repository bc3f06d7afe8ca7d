import type { webcrypto } from 'node:crypto'
import { bytesText, toHex } from '../../base/bytes.ts'
import { BoundedMap } from '../../base/collections.ts'
import type { ChainVerdict, IssuedCertificate, KeySuccession, Pki } from '../../ports/pki.ts'

import type { PkiSource } from '../pki-material.ts'
import type { KeyStore } from '../sealed-key-store.ts'
import { ServerCredentials } from '../server-credentials.ts'
import { type Library, loadLibrary, readPart } from './asn1-structures.ts'
import { readAuthorities } from './authority-state.ts'
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
  const configuredSigner = await signerOf(library, source)
  const server = options.server ?? (await ServerCredentials.open(source, library))
  const [configuredSigning] = readCertificates(library, source.signingCertPem)
  const id = await fingerprintOf(library, configuredSigning)
  const configured = { id, rootPem: source.caPem, chainPem: source.signingCertPem, goodUntil: null }
  let state = await readAuthorities(library, [configured], { id, signer: configuredSigner })
  const trustDomain =
    options.trustDomain ??
    (await findTrustDomain(library, [...state.bundle, server.current.certificate], state.roots[0]))

  const issueClientCertificate: Pki['issueClientCertificate'] = async (request): Promise<IssuedCertificate> => {
    const accepted = await readSigningRequest(library, request.csrPem)
    if (typeof accepted === 'string') return { issued: false, problem: accepted }
    const { publicKey } = accepted
    const subject =
      request.commonName === undefined ? accepted.subject : nameWithCommonName(library, request.commonName)
    const { extensionsFor, issuer } = state
    const extensions = extensionsFor({ spiffeId: request.spiffeId, isNameless: subject.der.length === EMPTY_NAME })
    const year = validityOf(request.now, 1)
    const notAfter = request.lifetimeMs === undefined ? year.notAfter : request.now + request.lifetimeMs
    const template = {
      issuer: issuer.signing.subjectDer,
      subject: subject.der,
      publicKey,
      extensions,
      ...year,
      notAfter,
    }
    const der = await issueCertificate(library, template, issuer.signer)
    const pem = writePem('CERTIFICATE', der)
    // The issued contents are known without parsing the certificate.
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
      authorityKeyId: issuer.signing.extensions.subjectKeyId ?? null,
      notBefore: wholeSeconds(template.notBefore),
      notAfter: wholeSeconds(template.notAfter),
    }
    return { issued: true, leaf, chainPem: pem + pemOf(...issuer.intermediates) }
  }

  const clients = new BoundedMap<string, Certificate>(MAX_CLIENTS)
  const known = { get: (octets: string) => state.known.get(octets) ?? clients.get(octets) }

  /** Parses a sent certificate; undefined for an unreadable certificate, which is ignored as an intermediate and not trusted as a leaf. */
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
    const { roots, below } = state
    const proper = await leadsToRoot(leaf, { roots, intermediates, now })
    const trusted = proper || (await leadsToRoot(leaf, { roots, intermediates: [...below, ...intermediates], now }))
    if (trusted) clients.set(bytesText(leaf.der), leaf)
    return trusted ? { trusted, leaf: await certificateFacts(library, leaf), improper: !proper } : { trusted }
  }

  const isOwn = (authority: Certificate) => isRelated(authority, [...state.known.values()])
  const thirdParties = createThirdPartyVerifier(library, isOwn)

  const keys = await createKeySuccession({
    ...{ library, source, trustDomain, server },
    keyStore: options.keyStore,
    issuer: () => state.issuer,
    adopt: async (generations, { id: issuing, signer = configuredSigner }, now) => {
      state = await readAuthorities(library, generations, { id: issuing, signer }, now)
    },
  })

  return {
    trustDomain,
    keys,
    get caBundlePem() {
      return pemOf(...state.bundle)
    },
    caBundlePkcs7: async () => writeCertsOnly(state.bundle.map(({ der }) => der)),
    get issuerKeyId() {
      return state.issuer.signing.extensions.subjectKeyId ?? null
    },
    authorityIdOf: (keyId) => state.ids.get(keyId),
    issuer: () => certificateFacts(library, state.issuer.signing),
    serverCertificate: async () => server.current.facts,
    issueClientCertificate,
    issueRouterCertificates: (request) => issueRouterCertificates(library, state.issuer, request),
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
