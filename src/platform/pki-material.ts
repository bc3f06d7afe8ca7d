import type { webcrypto } from 'node:crypto'
import type * as x509 from '@peculiar/x509'
import { checkOptions, type OptionRules } from '../base/arguments.ts'
import { toHex } from '../base/bytes.ts'
import { type Library, loadLibrary } from './x509/asn1-structures.ts'
import { validityOf } from './x509/certificate.ts'
import { hostName, nameWithCommonName, uriName } from './x509/distinguished-names.ts'
import { issueCertificate } from './x509/issue.ts'
import { writePem } from './x509/pem.ts'
import type { HeldKey } from './x509/signing-key.ts'

/** The certificates and private keys of one network, all PEM. */
export interface PkiMaterial {
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
   * Whether the authorities and the server certificate last as long as the root, for a test whose clock stands still while that
   * of its clients goes on. Default: false.
   */
  readonly endTogether?: boolean
  /** WebCrypto implementation; by default the one of the runtime. */
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
 * Creates a network's own authorities, with P-256 keys, and server certificate: a root (10 years), below it a signing
 * authority that can have no authority below itself (5 years), below that the TLS server certificate (1 year). Throws on
 * a malformed host or trust domain.
 *
 * @example
 * const pki = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now: Date.now() })
 * const controller = await createController({ storage, address: 'localhost:1280', pki })
 */
export async function createPkiMaterial(request: PkiMaterialRequest): Promise<PkiMaterial> {
  checkOptions('createPkiMaterial', request, REQUEST, 'an object with hosts, trustDomain and now')
  const { hosts, trustDomain, now, endTogether = false } = request
  if (!/^[a-z0-9._-]{1,255}$/.test(trustDomain)) throw new Error(`'${trustDomain}' is not a SPIFFE trust domain`)
  const library = await loadLibrary(request.crypto)
  const { x509 } = library
  const { digitalSignature, keyEncipherment, keyCertSign, cRLSign } = x509.KeyUsageFlags
  const altNames = (...names: x509.JsonGeneralNames) => new x509.SubjectAlternativeNameExtension(names)
  const controllerPath = (hosts[0] ?? 'controller').replace(/[^A-Za-z0-9._-]/g, '-')
  const rootName = nameWithCommonName(library, `${trustDomain.slice(0, 48)} root CA`)
  const signingName = nameWithCommonName(library, `${trustDomain.slice(0, 48)} signing CA`)
  const authorityUsage = new x509.KeyUsagesExtension(keyCertSign | cRLSign, true)
  const isRsa = request.serverKey === 'RSA-2048'
  const [root, signing, server] = await Promise.all([
    createKey(library, P256),
    createKey(library, P256),
    createKey(library, isRsa ? RSA2048 : P256),
  ])

  const rootTemplate = {
    issuer: rootName.der,
    subject: rootName.der,
    publicKey: root.spki,
    ...validityOf(now, ROOT_YEARS),
    extensions: encoded([
      new x509.BasicConstraintsExtension(true, undefined, true),
      authorityUsage,
      root.subjectKeyId,
      altNames(uriName(`spiffe://${trustDomain}`)),
    ]),
  }
  const signingTemplate = {
    issuer: rootName.der,
    subject: signingName.der,
    publicKey: signing.spki,
    ...validityOf(now, endTogether ? ROOT_YEARS : SIGNING_YEARS),
    extensions: encoded([
      new x509.BasicConstraintsExtension(true, 0, true),
      authorityUsage,
      signing.subjectKeyId,
      root.authorityKeyId,
    ]),
  }
  const serverTemplate = {
    issuer: signingName.der,
    subject: nameWithCommonName(library, hosts[0] ?? 'controller').der,
    publicKey: server.spki,
    ...validityOf(now, endTogether ? ROOT_YEARS : SERVER_YEARS),
    extensions: encoded([
      new x509.KeyUsagesExtension(isRsa ? digitalSignature | keyEncipherment : digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      server.subjectKeyId,
      signing.authorityKeyId,
      altNames(...hosts.map(hostName), uriName(`spiffe://${trustDomain}/controller/${controllerPath}`)),
    ]),
  }
  const [rootCertificate, signingCertificate, serverCertificate] = await Promise.all([
    issueCertificate(library, rootTemplate, root),
    issueCertificate(library, signingTemplate, root),
    issueCertificate(library, serverTemplate, signing),
  ])
  const signingCertPem = writePem('CERTIFICATE', signingCertificate)
  return {
    caPem: writePem('CERTIFICATE', rootCertificate),
    signingCertPem,
    signingKeyPem: signing.pem,
    serverCertPem: writePem('CERTIFICATE', serverCertificate) + signingCertPem,
    serverKeyPem: server.pem,
  }
}

const ROOT_YEARS = 10
const SIGNING_YEARS = 5
const SERVER_YEARS = 1

function encoded(extensions: readonly x509.Extension[]): Uint8Array[] {
  return extensions.map(({ rawData }) => new Uint8Array(rawData))
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const RSA2048 = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: 'SHA-256',
} as const

async function createKey({ x509, crypto }: Library, algorithm: typeof P256 | typeof RSA2048) {
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const publicKey = await x509.PublicKey.create(pair.publicKey, crypto)
  const keyId = toHex(new Uint8Array(await publicKey.getKeyIdentifier(crypto)))
  return {
    algorithm,
    jwa: algorithm.name === 'ECDSA' ? ('ES256' as const) : ('RS256' as const),
    sign: async (data: Uint8Array<ArrayBuffer>) =>
      new Uint8Array(await crypto.subtle.sign(algorithm, pair.privateKey, data)),
    spki: new Uint8Array(publicKey.rawData),
    pem: writePem('PRIVATE KEY', new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey))),
    subjectKeyId: new x509.SubjectKeyIdentifierExtension(keyId),
    authorityKeyId: new x509.AuthorityKeyIdentifierExtension(keyId),
  }
}

/** The TLS server certificate with its key. */
export type ServerCertificateSource = Pick<PkiMaterial, 'serverCertPem'> &
  (Pick<PkiMaterial, 'serverKeyPem'> | { readonly serverKey: HeldKey })

/** Certificates that are opened, or made, for the controller that asks for them; `await` opens them as they are. */
export interface PkiOpening extends PromiseLike<PkiSource> {
  /**
   * Opens them for a controller that clients reach at a DNS name or IP address: a server certificate that is made now is for
   * it as well, one that is there stays as it is.
   */
  openFor(host: string): Promise<PkiSource>
}

/** Certificates of one network, PEM, and its two private keys, each PEM text or held elsewhere. */
export type PkiSource = Pick<PkiMaterial, 'caPem' | 'signingCertPem'> &
  (Pick<PkiMaterial, 'signingKeyPem'> | { readonly signingKey: HeldKey }) &
  ServerCertificateSource

const PURPOSE = 'portcullis secrets at rest'

/**
 * The 32 bytes that seal MFA secrets in the storage, derived from the signing key (HKDF, RFC 5869): a restart and every
 * process over the same storage and certificates have the same, and no further secret needs to be kept. Undefined where the
 * signing key is held elsewhere and cannot be read.
 */
export async function deriveSecretsKey(pki: PkiSource): Promise<Uint8Array | undefined> {
  const pem = 'signingKeyPem' in pki ? pki.signingKeyPem : pki.signingKey
  if (typeof pem !== 'string') return undefined
  const text = new TextEncoder()
  const material = await crypto.subtle.importKey('raw', text.encode(pem.trim()), 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: text.encode(PURPOSE) }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, 256))
}
