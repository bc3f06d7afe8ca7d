import 'reflect-metadata'
import type { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

/** Certificates for tests; whether they should be trusted is what openssl says, not the library that makes them. */

export type KeyPair = webcrypto.CryptoKeyPair
export type KeyKind = 'P-256' | 'P-384' | 'P-521' | 'Ed25519' | 'RSA-2048' | 'RSA-1024'

export const day = 24 * 60 * 60 * 1000
/** The instant of all tests here; every certificate is valid from the day before, unless it says otherwise. */
export const now = Date.UTC(2026, 0, 15, 12)

const parametersOf = (kind: KeyKind, hash: string) => {
  if (kind === 'Ed25519') return { name: 'Ed25519' }
  if (kind.startsWith('P-')) return { name: 'ECDSA', namedCurve: kind }
  const modulusLength = Number(kind.slice(4))
  return { name: 'RSASSA-PKCS1-v1_5', hash, modulusLength, publicExponent: Uint8Array.of(1, 0, 1) }
}

export const createKeys = async (kind: KeyKind = 'P-256', hash = 'SHA-256'): Promise<KeyPair> => {
  const keys = await crypto.subtle.generateKey(parametersOf(kind, hash), true, ['sign', 'verify'])
  if (!('privateKey' in keys)) throw new Error('not a key pair')
  return keys
}

export interface Issued {
  readonly certificate: x509.X509Certificate
  readonly keys: KeyPair
}

export interface CertificateRequest {
  readonly subject?: string | x509.Name
  /** Absent: self-signed. */
  readonly issuer?: Issued
  /** Signs instead of the issuer's key. */
  readonly signedWith?: KeyPair
  readonly keys?: KeyPair
  readonly kind?: KeyKind
  readonly hash?: string
  readonly notBefore?: number
  readonly notAfter?: number
  readonly extensions?: readonly x509.Extension[]
  /** Leaves out the subject and authority key identifiers. */
  readonly anonymousKeys?: boolean
}

export const issue = async (request: CertificateRequest = {}): Promise<Issued> => {
  const { subject = 'CN=leaf', issuer, extensions = [], hash = 'SHA-256', anonymousKeys = false } = request
  const keys = request.keys ?? (await createKeys(request.kind, hash))
  const signer = request.signedWith ?? issuer?.keys ?? keys
  const keyIds = anonymousKeys
    ? []
    : [
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(issuer?.keys.publicKey ?? keys.publicKey),
      ]
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer ? issuer.certificate.subjectName : subject,
    notBefore: new Date(request.notBefore ?? now - day),
    notAfter: new Date(request.notAfter ?? now + day),
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: { name: signer.privateKey.algorithm.name, hash },
    extensions: [...extensions, ...keyIds],
  })
  return { certificate, keys }
}

const flags = x509.KeyUsageFlags
export const authorityUsage = () => new x509.KeyUsagesExtension(flags.keyCertSign | flags.cRLSign, true)
export const clientUsage = () => new x509.KeyUsagesExtension(flags.digitalSignature, true)
export const clientPurpose = () => new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])
export const purpose = (...purposes: string[]) => new x509.ExtendedKeyUsageExtension(purposes)
export const authority = (pathLength?: number) => new x509.BasicConstraintsExtension(true, pathLength, true)

export const authorityExtensions = (pathLength?: number) => [authority(pathLength), authorityUsage()]
export const clientExtensions = () => [clientUsage(), clientPurpose()]

export const issueAuthority = (request: CertificateRequest & { pathLength?: number } = {}): Promise<Issued> =>
  issue({ subject: 'CN=authority', extensions: authorityExtensions(request.pathLength), ...request })

export const issueClient = (request: CertificateRequest = {}): Promise<Issued> =>
  issue({ extensions: clientExtensions(), ...request })

export const derOf = ({ certificate }: Issued): Uint8Array<ArrayBuffer> => new Uint8Array(certificate.rawData)

export const pemOf = (...issued: readonly Issued[]): string =>
  issued.map(({ certificate }) => `${certificate.toString('pem')}\n`).join('')

/** PEM of a private key, PKCS#8. */
export const keyPemOf = async ({ privateKey }: KeyPair): Promise<string> =>
  `${x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')}\n`

export interface CsrRequest {
  readonly subject?: string | x509.Name
  readonly keys?: KeyPair
  readonly extensions?: x509.Extension[]
  readonly attributes?: x509.Attribute[]
  readonly hash?: string
}

export const createCsr = async ({ subject = 'CN=device', keys, hash = 'SHA-256', ...rest }: CsrRequest = {}) =>
  x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys: keys ?? (await createKeys()),
    signingAlgorithm: { name: 'ECDSA', hash },
    ...rest,
  })

export const createCsrPem = async (request: CsrRequest = {}): Promise<string> =>
  (await createCsr(request)).toString('pem')
