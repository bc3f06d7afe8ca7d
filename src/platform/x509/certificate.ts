import { type DerElement, derTag, fieldsOf, readDer } from './der.ts'
import { readOctetAlignedBits, readSmallInteger, readTime, sameOctets } from './der-values.ts'
import { type Extensions, readExtensions } from './extensions.ts'
import { type DistinguishedName, readName } from './name.ts'
import { maxPemSize, readPemBlocks } from './pem.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { type Signed, verifiesSignature } from './signature.ts'

/** A certificate of RFC 5280, read once. Nothing about it is trusted yet. */
export interface Certificate {
  readonly der: Uint8Array<ArrayBuffer>
  readonly signed: Signed
  /** Content octets of the serial number. */
  readonly serial: Uint8Array
  /** Encoded names, by which a certificate finds its issuer. */
  readonly encodedIssuer: Uint8Array
  readonly encodedSubject: Uint8Array
  readonly subject: DistinguishedName
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
  readonly spki: DerElement
  readonly publicKey: PublicKey
  readonly extensions: Extensions
}

/** Reads a DER certificate of at most 64 KiB. Throws when it is malformed or its key is too weak for the network. */
export const readCertificate = (der: Uint8Array<ArrayBuffer>): Certificate => {
  if (der.length > maxPemSize) throw new Error('certificate is larger than 64 KiB')
  const outer = fieldsOf(readDer(der))
  const tbs = outer.take(derTag.sequence)
  const algorithm = outer.take(derTag.sequence)
  const signature = readOctetAlignedBits(outer.take(derTag.bitString))
  outer.end()

  const fields = fieldsOf(tbs)
  const version = fields.takeIf(0xa0)
  const serial = fields.take(derTag.integer).content
  if (!sameOctets(fields.take(derTag.sequence).encoded, algorithm.encoded)) {
    throw new Error('certificate names two signature algorithms')
  }
  const issuer = fields.take(derTag.sequence)
  const validity = fieldsOf(fields.take(derTag.sequence))
  const [notBefore, notAfter] = [readTime(validity.takeAny()), readTime(validity.takeAny())]
  validity.end()
  const subject = fields.take(derTag.sequence)
  const spki = fields.take(derTag.sequence)
  fields.takeIf(0x81)
  fields.takeIf(0x82)
  const extensions = fields.takeIf(0xa3)
  fields.end()
  if (extensions && (version === undefined || readSmallInteger(readDer(version.content, derTag.integer)) !== 2)) {
    throw new Error('certificate with extensions is not of version 3')
  }

  return {
    der,
    signed: { body: tbs.encoded, algorithm, signature },
    serial,
    encodedIssuer: issuer.encoded,
    encodedSubject: subject.encoded,
    subject: readName(subject),
    notBefore,
    notAfter,
    spki,
    publicKey: readPublicKey(spki),
    extensions: readExtensions(extensions && readDer(extensions.content)),
  }
}

/** Reads every certificate of a PEM text, in order. Throws when there is none or one cannot be read. */
export const readCertificates = (pem: string): [Certificate, ...Certificate[]] => {
  const [first, ...rest] = readPemBlocks(pem)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ der }) => readCertificate(der))
  if (first === undefined) throw new Error('no certificate found')
  return [first, ...rest]
}

/** Whether the certificate names itself as its issuer: key rollover and roots. */
export const isSelfIssued = ({ encodedIssuer, encodedSubject }: Certificate): boolean =>
  sameOctets(encodedIssuer, encodedSubject)

/** Whether `certificate` carries the signature of `issuer`'s key. */
export const isSignedBy = (certificate: Certificate, issuer: Certificate): Promise<boolean> =>
  verifiesSignature(certificate.signed, issuer.publicKey, issuer.spki)

/** Whether the certificate is a root: an authority that signed itself. */
export const isRoot = async (certificate: Certificate): Promise<boolean> =>
  certificate.extensions.isAuthority && isSelfIssued(certificate) && (await isSignedBy(certificate, certificate))
