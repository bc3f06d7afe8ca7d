import type * as x509 from '@peculiar/x509'
import { toHex } from '../../base/bytes.ts'
import { type Library, loadLibrary } from './asn1-structures.ts'
import { type Certificate, validityOf } from './certificate.ts'
import { hostName, nameWithCommonName, uriName } from './distinguished-names.ts'
import { issueCertificate } from './issue.ts'
import { writePem } from './pem.ts'
import type { SigningKey } from './signing-key.ts'

/** Calendar years for which a network's own certificates are valid. */
export const ROOT_YEARS = 10
export const SIGNING_YEARS = 5
export const SERVER_YEARS = 1

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const RSA2048 = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: 'SHA-256',
} as const

/** The two halves of a new key: PKCS#8 as PEM text, and SubjectPublicKeyInfo, DER. */
export interface NewKey {
  readonly pem: string
  readonly publicKey: Uint8Array<ArrayBuffer>
}

/** Makes a key of P-256, or RSA of 2048 bits for SDKs that verify only RSA. */
export async function createKey(algorithm: 'ES256' | 'RS256', given?: Library): Promise<NewKey> {
  const { crypto } = given ?? (await loadLibrary())
  const pair = await crypto.subtle.generateKey(algorithm === 'ES256' ? P256 : RSA2048, true, ['sign', 'verify'])
  const [pkcs8, spki] = await Promise.all([
    crypto.subtle.exportKey('pkcs8', pair.privateKey),
    crypto.subtle.exportKey('spki', pair.publicKey),
  ])
  return { pem: writePem('PRIVATE KEY', new Uint8Array(pkcs8)), publicKey: new Uint8Array(spki) }
}

/** The authority that signs a certificate: its name, the identifier of its key, and the key. */
export interface CertificateIssuer {
  /** DER. */
  readonly subject: Uint8Array
  /** Hexadecimal. */
  readonly keyId: string | undefined
  readonly key: Pick<SigningKey, 'algorithm' | 'jwa' | 'sign'>
}

/** The issuer with an existing certificate. */
export function issuerOf(certificate: Certificate, key: CertificateIssuer['key']): CertificateIssuer {
  return { subject: certificate.subjectDer, keyId: certificate.extensions.subjectKeyId, key }
}

/** The subject of a new certificate. */
interface Holder {
  readonly commonName: string
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  /** Epoch milliseconds. */
  readonly now: number
  /** Calendar years. */
  readonly years: number
}

/** The issuer of a self-signed certificate. */
export async function selfIssuer(
  library: Library,
  { commonName, publicKey }: Pick<Holder, 'commonName' | 'publicKey'>,
  key: CertificateIssuer['key'],
): Promise<CertificateIssuer> {
  return {
    subject: nameWithCommonName(library, commonName).der,
    keyId: await keyIdOf(library, publicKey),
    key,
  }
}

/** The identifier of a key (RFC 5280 section 4.2.1.2, method 1), hexadecimal. */
export async function keyIdOf({ x509, crypto }: Library, publicKey: Uint8Array): Promise<string> {
  const key = await new x509.PublicKey(new Uint8Array(publicKey)).getKeyIdentifier(crypto)
  return toHex(new Uint8Array(key))
}

/**
 * Issues a self-signed root, or a certificate by which the root `by` vouches for another root: a peer that trusts `by` then trusts that
 * root. DER.
 */
export function issueRoot(
  library: Library,
  {
    trustDomain,
    notAfter,
    ...holder
  }: Omit<Holder, 'years'> & { readonly notAfter?: number; readonly trustDomain: string },
  by: CertificateIssuer,
): Promise<Uint8Array<ArrayBuffer>> {
  const uses = [new library.x509.BasicConstraintsExtension(true, undefined, true), authorityUsage(library)]
  const names = [uriName(`spiffe://${trustDomain}`)]
  return issueTo(library, { ...holder, years: ROOT_YEARS }, by, { uses, names, notAfter })
}

/** Issues an authority for clients and servers without further authorities below it. DER. */
export function issueSigning(
  library: Library,
  holder: Holder,
  by: CertificateIssuer,
): Promise<Uint8Array<ArrayBuffer>> {
  const uses = [new library.x509.BasicConstraintsExtension(true, 0, true), authorityUsage(library)]
  return issueTo(library, holder, by, { uses, names: [] })
}

/** Issues the certificate of a TLS server for DNS names and IP addresses. DER. */
export function issueServer(
  library: Library,
  holder: Holder & { readonly isRsa: boolean; readonly hosts: readonly string[]; readonly uris: readonly string[] },
  by: CertificateIssuer,
): Promise<Uint8Array<ArrayBuffer>> {
  const { x509 } = library
  const { isRsa, hosts, uris } = holder
  const { digitalSignature, keyEncipherment } = x509.KeyUsageFlags
  const uses = [
    new x509.KeyUsagesExtension(isRsa ? digitalSignature | keyEncipherment : digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
  ]
  return issueTo(library, holder, by, { uses, names: [...hosts.map(hostName), ...uris.map(uriName)] })
}

/** The particulars of a certificate. */
interface Particulars {
  readonly uses: readonly x509.Extension[]
  readonly names: x509.JsonGeneralNames
  /** Epoch ms, for a certificate that ends before the years of its holder. */
  readonly notAfter?: number | undefined
}

async function issueTo(
  library: Library,
  { commonName, publicKey, now, years }: Holder,
  by: CertificateIssuer,
  { uses, names, notAfter }: Particulars,
): Promise<Uint8Array<ArrayBuffer>> {
  const { x509 } = library
  const keyId = await keyIdOf(library, publicKey)
  const validity = validityOf(now, years)
  const template = {
    issuer: by.subject,
    subject: nameWithCommonName(library, commonName).der,
    publicKey,
    ...validity,
    notAfter: Math.min(validity.notAfter, notAfter ?? validity.notAfter),
    extensions: encoded([
      ...uses,
      new x509.SubjectKeyIdentifierExtension(keyId),
      // A self-signed certificate needs no name of its issuer's key.
      ...(by.keyId === undefined || by.keyId === keyId ? [] : [new x509.AuthorityKeyIdentifierExtension(by.keyId)]),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ]),
  }
  return issueCertificate(library, template, by.key)
}

function authorityUsage({ x509 }: Library): x509.Extension {
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags
  return new x509.KeyUsagesExtension(keyCertSign | cRLSign, true)
}

function encoded(extensions: readonly x509.Extension[]): Uint8Array[] {
  return extensions.map(({ rawData }) => new Uint8Array(rawData))
}
