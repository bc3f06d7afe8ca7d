import type { Certificate as CertificateStructure } from '@peculiar/asn1-x509'
import type * as x509 from '@peculiar/x509'
import { toHex } from '../hex.ts'
import { isDistinguishedEncoding } from './distinguished-encoding.ts'
import { type Extensions, readExtensions } from './extensions.ts'
import type { Library } from './library.ts'
import type { DistinguishedName } from './name.ts'
import { maxPemSize, readPemBlocks, writePem } from './pem.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { verifiesSignature } from './signature.ts'

/** A certificate of RFC 5280, read once. Nothing about it is trusted yet. */
export interface Certificate {
  readonly der: Uint8Array<ArrayBuffer>
  readonly pem: string
  readonly parsed: x509.X509Certificate
  /** Hexadecimal content octets of the serial number. */
  readonly serial: string
  /** Encoded names in hexadecimal, by which a certificate finds its issuer. */
  readonly encodedIssuer: string
  readonly encodedSubject: string
  readonly subject: DistinguishedName
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
  readonly publicKey: PublicKey
  readonly extensions: Extensions
  /** Whether the certificate carries a signature of the private key that belongs to `key`; checked once for each. */
  isSignedWith(key: PublicKey): Promise<boolean>
}

/** Certificates that were read before, by their PEM text. */
export type KnownCertificates = ReadonlyMap<string, Certificate>

/** Reads a DER certificate of at most 64 KiB. Throws when it is malformed or its key is too weak for the network. */
export const readCertificate = (
  library: Library,
  der: Uint8Array<ArrayBuffer>,
  known?: KnownCertificates,
): Certificate => {
  if (der.length > maxPemSize) throw new Error('certificate is larger than 64 KiB')
  const pem = writePem('CERTIFICATE', der)
  return known?.get(pem) ?? readUnknown(library, der, pem)
}

const readUnknown = (library: Library, der: Uint8Array<ArrayBuffer>, pem: string): Certificate => {
  const structure = parseCertificate(library, der)
  const { tbsCertificate: body, signatureAlgorithm, signatureValue } = structure
  if (!isDistinguishedEncoding(library, der, signatureValue)) throw new Error('certificate is not DER')
  if (!signatureAlgorithm.isEqual(body.signature)) throw new Error('certificate names two signature algorithms')
  if (body.extensions && body.version !== library.asn1.Version.v3) {
    throw new Error('certificate with extensions is not of version 3')
  }
  const encoded = (value: unknown): string => toHex(new Uint8Array(library.schema.AsnConvert.serialize(value)))
  const parsed = new library.x509.X509Certificate(structure)
  const verdicts = new Map<string, Promise<boolean>>()
  return {
    der,
    pem,
    parsed,
    serial: toHex(new Uint8Array(body.serialNumber)),
    encodedIssuer: encoded(body.issuer),
    encodedSubject: encoded(body.subject),
    subject: body.subject,
    notBefore: instantOf(parsed.notBefore),
    notAfter: instantOf(parsed.notAfter),
    publicKey: readPublicKey(library, parsed),
    extensions: readExtensions(library, body.extensions ?? []),
    isSignedWith: (key) => {
      const verdict = verdicts.get(key.encoded) ?? verifiesSignature(library, parsed, key)
      verdicts.set(key.encoded, verdict)
      return verdict
    },
  }
}

const parseCertificate = ({ asn1, schema }: Library, der: Uint8Array<ArrayBuffer>): CertificateStructure => {
  try {
    return schema.AsnConvert.parse(der, asn1.Certificate)
  } catch (problem) {
    throw new Error('certificate is malformed or truncated', { cause: problem })
  }
}

/** No comparison with `NaN` holds, so that a time that is none would never come to its end. */
const instantOf = (date: Date): number => {
  if (Number.isNaN(date.getTime())) throw new Error('certificate has a malformed time')
  return date.getTime()
}

/** Reads every certificate of a PEM text, in order. Throws when there is none or one cannot be read. */
export const readCertificates = (
  library: Library,
  pem: string,
  known?: KnownCertificates,
): [Certificate, ...Certificate[]] => {
  const [first, ...rest] = readPemBlocks(pem)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ der }) => readCertificate(library, der, known))
  if (first === undefined) throw new Error('no certificate found')
  return [first, ...rest]
}

/** Whether the certificate names itself as its issuer: key rollover and roots. */
export const isSelfIssued = ({ encodedIssuer, encodedSubject }: Certificate): boolean =>
  encodedIssuer === encodedSubject

/** Whether the certificate is a root: an authority that signed itself. */
export const isRoot = async (certificate: Certificate): Promise<boolean> =>
  certificate.extensions.isAuthority &&
  isSelfIssued(certificate) &&
  (await certificate.isSignedWith(certificate.publicKey))
