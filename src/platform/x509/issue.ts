import type { SignatureAlgorithm } from '../../../ports/credentials/key-signer.ts'
import type { Library } from '../encoding/library.ts'
import { DER_TAGS, writeDer } from '../encoding/write-der.ts'
import { ecdsaToDer } from '../keys/ecdsa-form.ts'
import type { SigningKey } from '../keys/signing-key.ts'

/** Everything that a certificate will say. The issuer adds a serial number and its signature. */
export interface CertificateTemplate {
  /** Names, DER. */
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  /** Milliseconds since the Unix epoch, written to the second. */
  readonly notBefore: number
  readonly notAfter: number
  /** DER, each. */
  readonly extensions: readonly Uint8Array[]
}

/** Version 3, as a certificate names it. */
const VERSION = writeDer(DER_TAGS.context0, writeDer(DER_TAGS.integer, Uint8Array.of(2)))

/** How certificates name the algorithms of their signatures (RFC 3279, RFC 4055, RFC 5758, RFC 8410). */
const SIGNATURE_ALGORITHMS: Readonly<Record<SignatureAlgorithm, Uint8Array>> = {
  ES256: algorithmOf([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]),
  ES384: algorithmOf([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03]),
  ES512: algorithmOf([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04]),
  RS256: algorithmOf([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b], writeDer(DER_TAGS.null)),
  EdDSA: algorithmOf([0x2b, 0x65, 0x70]),
}

/**
 * Signs a version 3 certificate (RFC 5280) with a serial number of 20 octets, 158 bits of it random; answers DER. Its parts are
 * encoded already, and are put together as they are.
 */
export async function issueCertificate(
  { crypto }: Pick<Library, 'crypto'>,
  template: CertificateTemplate,
  key: Pick<SigningKey, 'algorithm' | 'jwa' | 'sign'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const serial = crypto.getRandomValues(new Uint8Array(20))
  // Positive, and without a leading zero that an encoder would drop.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const algorithm = SIGNATURE_ALGORITHMS[key.jwa]
  const { sequence, integer, bitString, context3 } = DER_TAGS
  const body = writeDer(
    sequence,
    VERSION,
    writeDer(integer, serial),
    algorithm,
    template.issuer,
    writeDer(sequence, timeOf(template.notBefore), timeOf(template.notAfter)),
    template.subject,
    template.publicKey,
    writeDer(context3, writeDer(sequence, ...template.extensions)),
  )
  const signed = await key.sign(body)
  const signature = key.algorithm.name === 'ECDSA' ? ecdsaToDer(signed) : signed
  // A bit string says first how many bits of its last octet are unused.
  return writeDer(sequence, body, algorithm, writeDer(bitString, Uint8Array.of(0), signature))
}

function algorithmOf(identifier: readonly number[], ...parameters: readonly Uint8Array[]): Uint8Array {
  return writeDer(DER_TAGS.sequence, writeDer(DER_TAGS.objectIdentifier, Uint8Array.from(identifier)), ...parameters)
}

/** An instant, in ms since the Unix epoch, to the second: with two digits of its year until 2049 (RFC 5280 section 4.1.2.5). */
function timeOf(instant: number): Uint8Array {
  const digits = new Date(instant)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '')
  const isShort = new Date(instant).getUTCFullYear() < 2050
  const tag = isShort ? DER_TAGS.utcTime : DER_TAGS.generalizedTime
  return writeDer(tag, new TextEncoder().encode(isShort ? digits.slice(2) : digits))
}
