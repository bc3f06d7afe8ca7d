import type { webcrypto } from 'node:crypto'
import { checkOptions, type OptionRules } from '../base/arguments.ts'
import { loadLibrary } from './x509/asn1-structures.ts'
import {
  createKey,
  issueRoot,
  issueServer,
  issueSigning,
  type NewKey,
  ROOT_YEARS,
  SERVER_YEARS,
  SIGNING_YEARS,
  selfIssuer,
} from './x509/authority-certificates.ts'
import { writePem } from './x509/pem.ts'
import { readPublicKey } from './x509/public-key.ts'
import { type HeldKey, loadSigningKey } from './x509/signing-key.ts'

/** The certificates and private keys of one network, all PEM. */
export interface PkiMaterial {
  /** The key of the root. A controller runs without it, but needs it to make the next signing authority, and to vouch for the next root. */
  readonly caKeyPem?: string
  /** The trust bundle: the roots, and other authorities of the network. */
  readonly caPem: string
  /** The authority that signs client certificates, followed by its intermediates. */
  readonly signingCertPem: string
  readonly signingKeyPem: string
  /** The TLS server certificate, followed by its intermediates. Its key signs the network's tokens. */
  readonly serverCertPem: string
  readonly serverKeyPem: string
}

export interface PkiMaterialRequest {
  /** DNS names and IP addresses under which clients reach the controller. */
  readonly hosts: readonly string[]
  /** SPIFFE trust domain of the network: lower-case letters, digits, dots, hyphens and underscores. */
  readonly trustDomain: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /**
   * The TLS server's key, which signs the network's tokens. `P-256` (the default) is made in a millisecond, RSA in about a
   * hundred; but older SDKs on mbedTLS verify enrollment tokens of RSA keys only.
   */
  readonly serverKey?: 'P-256' | 'RSA-2048'
  /**
   * True when the authorities and the server certificate last as long as the root, for a test whose clock stands still while its clients'
   * clock runs. Default: false.
   */
  readonly endTogether?: boolean
  /** WebCrypto implementation; by default that of the runtime. */
  readonly crypto?: webcrypto.Crypto
}

const REQUEST: OptionRules<PkiMaterialRequest> = {
  hosts: { shape: 'array', isNeeded: true, hint: "a list of names, such as ['localhost']" },
  trustDomain: { shape: 'string', isNeeded: true, hint: "a name, such as 'example.org'" },
  now: { shape: 'number', isNeeded: true, hint: 'milliseconds, such as Date.now()' },
  serverKey: { oneOf: ['P-256', 'RSA-2048'] },
  endTogether: 'boolean',
  crypto: 'object',
}

/**
 * Creates a network's own authorities, with P-256 keys, and server certificate: a root (10 years), below it a signing authority without
 * further authorities below it (5 years), below that the TLS server certificate (1 year). Throws for a malformed host or trust domain.
 *
 * @example
 * const pki = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now: Date.now() })
 * const controller = await createController({ storage, address: 'localhost:1280', pki })
 */
export async function createPkiMaterial(request: PkiMaterialRequest): Promise<Required<PkiMaterial>> {
  checkOptions('createPkiMaterial', request, REQUEST, 'an object with hosts, trustDomain and now')
  const { hosts, trustDomain, now, endTogether = false } = request
  if (!/^[a-z0-9._-]{1,255}$/.test(trustDomain)) throw new Error(`'${trustDomain}' is not a SPIFFE trust domain`)
  const library = await loadLibrary(request.crypto)
  const controllerPath = (hosts[0] ?? 'controller').replace(/[^A-Za-z0-9._-]/g, '-')
  const rootName = `${trustDomain.slice(0, 48)} root CA`
  const signingName = `${trustDomain.slice(0, 48)} signing CA`
  const isRsa = request.serverKey === 'RSA-2048'
  const [root, signing, server] = await Promise.all([
    createKey('ES256', library),
    createKey('ES256', library),
    createKey(isRsa ? 'RS256' : 'ES256', library),
  ])
  const years = (usual: number) => (endTogether ? ROOT_YEARS : usual)
  const issuer = async (commonName: string, { pem, publicKey }: NewKey) => {
    const key = await loadSigningKey(library, pem, readPublicKey(library, publicKey))
    return selfIssuer(library, { commonName, publicKey }, key)
  }
  const byRoot = await issuer(rootName, root)
  const bySigning = await issuer(signingName, signing)
  const [rootCertificate, signingCertificate, serverCertificate] = await Promise.all([
    issueRoot(library, { commonName: rootName, publicKey: root.publicKey, now, trustDomain }, byRoot),
    issueSigning(
      library,
      { commonName: signingName, publicKey: signing.publicKey, now, years: years(SIGNING_YEARS) },
      byRoot,
    ),
    issueServer(
      library,
      {
        commonName: hosts[0] ?? 'controller',
        publicKey: server.publicKey,
        now,
        years: years(SERVER_YEARS),
        isRsa,
        hosts,
        uris: [`spiffe://${trustDomain}/controller/${controllerPath}`],
      },
      bySigning,
    ),
  ])
  const signingCertPem = writePem('CERTIFICATE', signingCertificate)
  return {
    caKeyPem: root.pem,
    caPem: writePem('CERTIFICATE', rootCertificate),
    signingCertPem,
    signingKeyPem: signing.pem,
    serverCertPem: writePem('CERTIFICATE', serverCertificate) + signingCertPem,
    serverKeyPem: server.pem,
  }
}

/** The TLS server certificate with its key. */
export type ServerCertificateSource = Pick<PkiMaterial, 'serverCertPem'> &
  (Pick<PkiMaterial, 'serverKeyPem'> | { readonly serverKey: HeldKey })

/** Certificates that are opened or made for a controller; `await` opens them as they are. */
export interface PkiOpening extends PromiseLike<PkiSource> {
  /**
   * Opens the certificates for a controller at a DNS name or IP address. A new server certificate names this host too; an existing
   * certificate stays as it is.
   */
  openFor(host: string): Promise<PkiSource>
}

/**
 * Certificates of one network, PEM, and its two private keys, as PEM text or held elsewhere. It may include the key of the root: among
 * several roots in `caPem`, the root that signed the signing authority.
 */
export type PkiSource = Pick<PkiMaterial, 'caKeyPem' | 'caPem' | 'signingCertPem'> & { readonly caKey?: HeldKey } & (
    | Pick<PkiMaterial, 'signingKeyPem'>
    | { readonly signingKey: HeldKey }
  ) &
  ServerCertificateSource

const PURPOSE = 'portcullis secrets at rest'

/**
 * The 32 bytes that seal MFA secrets in the storage, derived from the signing key (HKDF, RFC 5869). They are the same after a restart and
 * in every process with the same certificates, without a further secret. Undefined when the signing key is held elsewhere and
 * cannot be read.
 */
export async function deriveSecretsKey(pki: PkiSource): Promise<Uint8Array | undefined> {
  const pem = 'signingKeyPem' in pki ? pki.signingKeyPem : pki.signingKey
  if (typeof pem !== 'string') return undefined
  const text = new TextEncoder()
  const material = await crypto.subtle.importKey('raw', text.encode(pem.trim()), 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: text.encode(PURPOSE) }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, 256))
}
