import {
  bitString,
  booleanTrue,
  concatOctets,
  der,
  explicit,
  integer,
  namedBits,
  type Octets,
  octetString,
  oid,
  sequence,
  time,
  unsigned,
} from './der-writer.ts'
import { oids } from './oids.ts'
import type { SigningKey } from './signing-key.ts'

/** Everything that a certificate will say. The issuer adds a serial number and its signature. */
export interface CertificateTemplate {
  readonly encodedIssuer: Uint8Array
  readonly encodedSubject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array
  /** Milliseconds since the Unix epoch, written to the second. */
  readonly notBefore: number
  readonly notAfter: number
  readonly extensions: readonly Uint8Array[]
}

/** Signs a version 3 certificate (RFC 5280) with a random serial number of 159 bits; answers DER. */
export const issueCertificate = async (template: CertificateTemplate, signer: SigningKey): Promise<Octets> => {
  const serial = crypto.getRandomValues(new Uint8Array(20))
  serial[0] = (serial[0] ?? 0) & 0x7f
  const body = sequence(
    explicit(0, integer(2)),
    unsigned(serial),
    signer.algorithm,
    template.encodedIssuer,
    sequence(time(template.notBefore), time(template.notAfter)),
    template.encodedSubject,
    template.spki,
    explicit(3, sequence(...template.extensions)),
  )
  return sequence(body, signer.algorithm, bitString(await signer.sign(body)))
}

const extension = (id: string, critical: boolean, value: Uint8Array): Octets =>
  sequence(concatOctets([oid(id), ...(critical ? [booleanTrue] : []), octetString(value)]))

/** Basic constraints of an authority; without `pathLength` any number of authorities may follow. */
export const authorityConstraints = (pathLength?: number): Octets =>
  extension(
    oids.basicConstraints,
    true,
    sequence(booleanTrue, ...(pathLength === undefined ? [] : [integer(pathLength)])),
  )

export const keyUsage = (bits: readonly number[]): Octets => extension(oids.keyUsage, true, namedBits(bits))

export const extendedKeyUsage = (purpose: string): Octets =>
  extension(oids.extendedKeyUsage, false, sequence(oid(purpose)))

/** Subject alternative names; critical where the subject is empty, as RFC 5280 section 4.2.1.6 asks. */
export const subjectAltNames = (names: readonly Uint8Array[], critical = false): Octets =>
  extension(oids.subjectAltName, critical, sequence(...names))

export const subjectKeyIdentifier = (keyId: Uint8Array): Octets =>
  extension(oids.subjectKeyIdentifier, false, octetString(keyId))

export const authorityKeyIdentifier = (keyId: Uint8Array): Octets =>
  extension(oids.authorityKeyIdentifier, false, sequence(der(0x80, keyId)))
