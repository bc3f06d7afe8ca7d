import { isDistinguished, readSequence } from '../encoding/read-der.ts'
import { DER_TAGS, writeDer } from '../encoding/write-der.ts'

/** The two numbers of an ECDSA signature side by side, as WebCrypto has them, in the form of certificates. */
export function ecdsaToDer(sideBySide: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const size = sideBySide.length / 2
  return writeDer(
    DER_TAGS.sequence,
    writeDer(DER_TAGS.integer, unsignedInteger(sideBySide.subarray(0, size))),
    writeDer(DER_TAGS.integer, unsignedInteger(sideBySide.subarray(size))),
  )
}

/**
 * The other way round, for numbers of at most `size` octets. Undefined for what is no signature in the distinguished encoding: in
 * another one the same certificate would have another fingerprint.
 */
export function ecdsaFromDer(signature: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> | undefined {
  if (!isDistinguished(signature) || signature[0] !== DER_TAGS.sequence) return undefined
  const numbers = readSequence(signature)
  if (numbers.length !== 2) return undefined
  const sideBySide = new Uint8Array(2 * size)
  for (const [index, { tag, content }] of numbers.entries()) {
    const octets = content[0] === 0 ? content.subarray(1) : content
    const isNegative = (content[0] ?? 0) >= 0x80
    if (tag !== DER_TAGS.integer || isNegative || octets.length > size) return undefined
    sideBySide.set(octets, (index + 1) * size - octets.length)
  }
  return sideBySide
}

/** As the content of an INTEGER: without leading zeros, but for one before a high bit. */
function unsignedInteger(octets: Uint8Array): Uint8Array {
  const begin = octets.findIndex((octet) => octet !== 0)
  if (begin === -1) return Uint8Array.of(0)
  const digits = octets.subarray(begin)
  return (digits[0] ?? 0) < 0x80 ? digits : Uint8Array.of(0, ...digits)
}
