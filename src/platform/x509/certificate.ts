import type { Certificate as CertificateStructure } from '@peculiar/asn1-x509'
import { bytesText } from '../../../domain/encoding/base64.ts'
import { isStorable } from '../../../domain/storable-text.ts'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from '../encoding/library.ts'
import { parseDer } from '../encoding/parse-der.ts'
import { MAX_PEM_SIZE, readPemBlocks, writePem } from '../encoding/pem.ts'
import { type DerElement, readSequence } from '../encoding/read-der.ts'
import { readSigned, type Signed } from '../encoding/signed.ts'
import { DER_TAGS } from '../encoding/write-der.ts'
import { type PublicKey, readPublicKey } from '../keys/public-key.ts'
import { verifiesSignature } from '../keys/signature.ts'
import { attributeTextsOf, type DistinguishedName } from '../names/name.ts'
import { type Extensions, readExtensions } from './extensions.ts'
import { readValidity, type Validity } from './validity.ts'

/** A certificate of RFC 5280, read once. Nothing about it is trusted yet. */
export interface Certificate extends Validity {
  readonly der: Uint8Array<ArrayBuffer>
  readonly pem: string
  /** Hexadecimal content octets of the serial number. */
  readonly serial: string
  /** The name of whom it is for, DER. */
  readonly subjectDer: Uint8Array
  /** Encoded names in hexadecimal, by which a certificate finds its issuer. */
  readonly encodedIssuer: string
  readonly encodedSubject: string
  readonly subject: DistinguishedName
  readonly publicKey: PublicKey
  readonly extensions: Extensions
  /** Whether the certificate carries a signature of the private key that belongs to `key`; once it did, it is not checked again. */
  isSignedWith(key: PublicKey): Promise<boolean>
}

/** Certificates that were read before, by their octets as {@link bytesText}. */
export type KnownCertificates = Pick<ReadonlyMap<string, Certificate>, 'get'>

/** Reads a DER certificate of at most 64 KiB. Throws when it is malformed or its key is too weak for the network. */
export function readCertificate(
  library: Library,
  der: Uint8Array<ArrayBuffer>,
  known?: KnownCertificates,
): Certificate {
  if (der.length > MAX_PEM_SIZE) throw new Error('certificate is larger than 64 KiB')
  return known?.get(bytesText(der)) ?? readUnknown(library, der)
}

function readUnknown(library: Library, der: Uint8Array<ArrayBuffer>): Certificate {
  const { structure, signed, parts } = takeApart(library, der)
  const { tbsCertificate: body } = structure
  if (toHex(signed.algorithm) !== toHex(parts.algorithm.whole)) {
    throw new Error('certificate names two signature algorithms')
  }
  if (body.extensions && body.version !== library.asn1.Version.v3) {
    throw new Error('certificate with extensions is not of version 3')
  }
  const extensions = readExtensions(library, body.extensions ?? [])
  if (!textsOf(body.subject, extensions).every(isStorable))
    throw new Error('certificate names hold U+0000 or half a pair')
  const signers = new Set<string>()
  return {
    der,
    pem: writePem('CERTIFICATE', der),
    serial: toHex(parts.serial.content),
    subjectDer: parts.subject.whole,
    encodedIssuer: toHex(parts.issuer.whole),
    encodedSubject: toHex(parts.subject.whole),
    subject: body.subject,
    ...readValidity(parts.validity),
    publicKey: readPublicKey(library, parts.key.whole),
    extensions,
    isSignedWith: async (key) => {
      const isSigned = signers.has(key.encoded) || (await verifiesSignature(signed, key))
      // Only what verified is kept: clients could send any number of keys that did not sign an authority of the network.
      if (isSigned) signers.add(key.encoded)
      return isSigned
    },
  }
}

/** What a certificate consists of, read, and as it stands there. */
interface Parts {
  readonly structure: CertificateStructure
  readonly signed: Signed
  readonly parts: Readonly<Record<'serial' | 'algorithm' | 'issuer' | 'validity' | 'subject' | 'key', DerElement>>
}

function takeApart(library: Library, der: Uint8Array<ArrayBuffer>): Parts {
  try {
    const signed = readSigned(der)
    const elements = readSequence(signed.body)
    // The version is not there in the first one.
    if (elements[0]?.tag === DER_TAGS.context0) elements.shift()
    const [serial, algorithm, issuer, validity, subject, key] = elements
    if (serial && algorithm && issuer && validity && subject && key) {
      const structure = parseDer(library, der, library.asn1.Certificate)
      return { structure, signed, parts: { serial, algorithm, issuer, validity, subject, key } }
    }
  } catch (problem) {
    throw new Error('certificate is malformed or truncated', { cause: problem })
  }
  throw new Error('certificate is malformed')
}

/** Reads every certificate of a PEM text, in order. Throws when there is none or one cannot be read. */
export function readCertificates(
  library: Library,
  pem: string,
  known?: KnownCertificates,
): [Certificate, ...Certificate[]] {
  const [first, ...rest] = readPemBlocks(pem)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ der }) => readCertificate(library, der, known))
  if (first === undefined) throw new Error('no certificate found')
  return [first, ...rest]
}

/** What a certificate says in text of whom it is for. */
function textsOf(subject: DistinguishedName, { altNames }: Extensions): readonly string[] {
  return [
    ...attributeTextsOf(subject),
    ...altNames.flatMap((name) =>
      name.kind === 'dns' || name.kind === 'email' || name.kind === 'uri' ? name.value : [],
    ),
  ]
}

/** Whether the certificate names itself as its issuer: key rollover and roots. */
export function isSelfIssued({ encodedIssuer, encodedSubject }: Certificate): boolean {
  return encodedIssuer === encodedSubject
}

/** Whether the certificate is a root: an authority that signed itself. */
export async function isRoot(certificate: Certificate): Promise<boolean> {
  return (
    certificate.extensions.isAuthority &&
    isSelfIssued(certificate) &&
    (await certificate.isSignedWith(certificate.publicKey))
  )
}
