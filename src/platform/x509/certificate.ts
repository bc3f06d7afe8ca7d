import type { Certificate as CertificateStructure } from '@peculiar/asn1-x509'
import { bytesText, toHex } from '../../base/bytes.ts'
import { BoundedMap } from '../../base/collections.ts'
import { isStorable } from '../../base/text.ts'
import { MINUTE_MS } from '../../base/time.ts'
import type { CertificateFacts } from '../../ports/pki.ts'
import { type Library, parseDer } from './asn1-structures.ts'
import { DER_TAGS, type DerElement, readElements, readSequence, readSigned, type Signed } from './der.ts'
import { attributeTextsOf, commonNameOf, type DistinguishedName, hostTextOf } from './distinguished-names.ts'
import { type Extensions, readExtensions } from './extensions.ts'
import { MAX_PEM_SIZE, readPemBlocks, writePem } from './pem.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { verifiesSignature } from './signing-key.ts'

/** A certificate of RFC 5280, parsed once and not trusted yet. */
export interface Certificate extends Validity {
  readonly der: Uint8Array<ArrayBuffer>
  readonly pem: string
  /** Hexadecimal content octets of the serial number. */
  readonly serial: string
  /** The subject's name, DER. */
  readonly subjectDer: Uint8Array
  /** Encoded names in hexadecimal, by which a certificate finds its issuer. */
  readonly encodedIssuer: string
  readonly encodedSubject: string
  readonly subject: DistinguishedName
  readonly publicKey: PublicKey
  readonly extensions: Extensions
  /** Reports whether the private key of `key` signed the certificate. A positive result is remembered. */
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
      // Only verified keys are remembered: clients could send any number of other keys.
      if (isSigned) signers.add(key.encoded)
      return isSigned
    },
  }
}

/** The parts of a certificate, parsed and as encoded. */
interface Parts {
  readonly structure: CertificateStructure
  readonly signed: Signed
  readonly parts: Readonly<Record<'serial' | 'algorithm' | 'issuer' | 'validity' | 'subject' | 'key', DerElement>>
}

function takeApart(library: Library, der: Uint8Array<ArrayBuffer>): Parts {
  try {
    const signed = readSigned(der)
    const elements = readSequence(signed.body)
    // Version 1 certificates have no version element.
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

/** Certificates of PEM texts that are remembered: enough for several networks with their roots. */
const MAX_REMEMBERED = 200

/** By their octets. A controller reads its few certificates some ten times at its start, and every fork reads the same certificates. */
const REMEMBERED = new WeakMap<Library, BoundedMap<string, Certificate>>()

/**
 * Reads every certificate of a PEM text of the host or the store, in order. Throws for a text without certificates, and for an unreadable
 * certificate.
 */
export function readCertificates(library: Library, pem: string): [Certificate, ...Certificate[]] {
  const [first, ...rest] = readPemBlocks(pem)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ der }) => readRemembered(library, der))
  if (first === undefined) throw new Error('no certificate found')
  return [first, ...rest]
}

/** Reads a certificate of the host or the store, which is likely to be read again. Throws as {@link readCertificate} does. */
export function readRemembered(library: Library, der: Uint8Array<ArrayBuffer>): Certificate {
  const remembered = REMEMBERED.get(library) ?? new BoundedMap(MAX_REMEMBERED)
  REMEMBERED.set(library, remembered)
  const certificate = readCertificate(library, der, remembered)
  remembered.set(bytesText(der), certificate)
  return certificate
}

/** The texts of a certificate that name its holder. */
function textsOf(subject: DistinguishedName, { altNames }: Extensions): readonly string[] {
  return [
    ...attributeTextsOf(subject),
    ...altNames.flatMap((name) =>
      name.kind === 'dns' || name.kind === 'email' || name.kind === 'uri' ? name.value : [],
    ),
  ]
}

/** Reports whether the certificate names itself as its issuer: key rollover and roots. */
export function isSelfIssued({ encodedIssuer, encodedSubject }: Certificate): boolean {
  return encodedIssuer === encodedSubject
}

/** Reports whether the certificate is a root: a self-signed authority. */
export async function isRoot(certificate: Certificate): Promise<boolean> {
  return (
    certificate.extensions.isAuthority &&
    isSelfIssued(certificate) &&
    (await certificate.isSignedWith(certificate.publicKey))
  )
}

/** Lower-case hexadecimal SHA-1 of the DER form: the fingerprint by which OpenZiti knows a certificate. */
export async function fingerprintOf({ crypto, native }: Library, { der }: Pick<Certificate, 'der'>): Promise<string> {
  return toHex(native?.sha1(der) ?? new Uint8Array(await crypto.subtle.digest('SHA-1', der)))
}

const KNOWN_FACTS = new WeakMap<Certificate, CertificateFacts>()

/** PEM text of certificates, one block after the other. */
export function pemOf(...certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('')
}

/** The facts of a certificate, computed once for each parsed certificate. */
export async function certificateFacts(library: Library, certificate: Certificate): Promise<CertificateFacts> {
  const known = KNOWN_FACTS.get(certificate)
  if (known !== undefined) return known
  const facts = {
    fingerprint: await fingerprintOf(library, certificate),
    pem: certificate.pem,
    der: certificate.der,
    commonName: commonNameOf(certificate.subject),
    subject: new library.x509.Name(certificate.subject).toString(),
    uris: altNamesOf(certificate, 'uri'),
    emails: altNamesOf(certificate, 'email'),
    hosts: certificate.extensions.altNames.flatMap(hostTextOf),
    publicKey: certificate.publicKey.encoded,
    isAuthority: certificate.extensions.isAuthority,
    authorityKeyId: certificate.extensions.authority.keyId ?? null,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
  }
  KNOWN_FACTS.set(certificate, facts)
  return facts
}

function altNamesOf({ extensions }: Certificate, kind: 'uri' | 'email'): string[] {
  return extensions.altNames.flatMap((name) => (name.kind === kind ? name.value : []))
}

/** The span in which a certificate is valid, in milliseconds since the Unix epoch. */
export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

/**
 * The span in which a new certificate is valid, in ms: from one minute before `now`, for clients whose clock is a little
 * behind, until the same instant `years` calendar years later.
 */
export function validityOf(now: number, years: number): Validity {
  const end = new Date(now)
  end.setUTCFullYear(end.getUTCFullYear() + years)
  return { notBefore: now - MINUTE_MS, notAfter: end.getTime() }
}

/** The span that a certificate names. Throws unless it has both times, to the second in UTC, on existing dates. */
function readValidity(validity: DerElement): Validity {
  const [notBefore, notAfter, ...others] = readElements(validity.content)
  if (notBefore === undefined || notAfter === undefined || others.length > 0) throw malformed()
  return { notBefore: readTime(notBefore), notAfter: readTime(notAfter) }
}

function readTime({ tag, content }: DerElement): number {
  if (tag !== DER_TAGS.utcTime && tag !== DER_TAGS.generalizedTime) throw malformed()
  const text = String.fromCharCode(...content)
  // A two-digit year means 1950 to 2049 (RFC 5280 section 4.1.2.5.1).
  const century = text < '5' ? '20' : '19'
  const full = tag === DER_TAGS.utcTime ? century + text : text
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z')
  const instant = Date.parse(iso)
  // JavaScript reads an impossible date as a later date, or as invalid.
  if (Number.isNaN(instant) || new Date(instant).toISOString() !== iso) throw malformed()
  return instant
}

function malformed(): Error {
  return new Error('certificate has a malformed time')
}
