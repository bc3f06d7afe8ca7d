import { derTag } from './der.ts'

export type Octets = Uint8Array<ArrayBuffer>

/** The octets of `parts`, one after the other. */
export const concatOctets = (parts: readonly Uint8Array[]): Octets => {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

const lengthOctets = (length: number): number[] => {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256)
  return [0x80 | octets.length, ...octets]
}

/** One element: the tag, the length of the parts, the parts. */
export const der = (tag: number, ...parts: readonly Uint8Array[]): Octets => {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return concatOctets([Uint8Array.of(tag, ...lengthOctets(length)), ...parts])
}

export const sequence = (...parts: readonly Uint8Array[]): Octets => der(derTag.sequence, ...parts)

/** SET of at most one element, where the order that DER asks for is no question. */
export const set = (part: Uint8Array = new Uint8Array()): Octets => der(derTag.set, part)

/** EXPLICIT context tag `[number]` around `part`. */
export const explicit = (number: number, ...parts: readonly Uint8Array[]): Octets => der(0xa0 | number, ...parts)

/** OBJECT IDENTIFIER from its dotted text. */
export const oid = (dotted: string): Octets => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const octets = [40 * first + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift(0x80 | (left & 0x7f))
    return groups
  })
  return der(derTag.oid, Uint8Array.from(octets))
}

/** INTEGER of a big-endian magnitude; leading zeros are dropped, a sign octet is added where the top bit is set. */
export const unsigned = (magnitude: Uint8Array): Octets => {
  const start = magnitude.findIndex((octet) => octet !== 0)
  const digits = start < 0 ? Uint8Array.of(0) : magnitude.subarray(start)
  return der(derTag.integer, ...((digits[0] ?? 0) >= 0x80 ? [Uint8Array.of(0)] : []), digits)
}

export const integer = (value: number): Octets => unsigned(Uint8Array.of((value >> 8) & 0xff, value & 0xff))

export const octetString = (...parts: readonly Uint8Array[]): Octets => der(derTag.octetString, ...parts)

export const bitString = (octets: Uint8Array): Octets => der(derTag.bitString, Uint8Array.of(0), octets)

/** BIT STRING with the given bits set, the trailing zero bits removed. */
export const namedBits = (bits: readonly number[]): Octets => {
  const length = Math.max(-1, ...bits) + 1
  const octets = new Uint8Array(Math.ceil(length / 8))
  for (const bit of bits) octets[bit >> 3] = (octets[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return der(derTag.bitString, Uint8Array.of(8 * octets.length - length), octets)
}

export const booleanTrue: Octets = der(derTag.boolean, Uint8Array.of(0xff))

export const nullValue: Octets = der(derTag.null)

export const utf8String = (text: string): Octets => der(derTag.utf8String, new TextEncoder().encode(text))

/** IA5String, or a context-tagged one. Throws on a character above 127. */
export const ascii = (text: string, tag: number = derTag.ia5String): Octets =>
  der(
    tag,
    Uint8Array.from(text, (char) => {
      const code = char.charCodeAt(0)
      if (code > 0x7f) throw new Error(`'${text}' has a character outside ASCII`)
      return code
    }),
  )

/** Time of a certificate: UTCTime through 2049, GeneralizedTime from 2050 on. `at` in ms, written to the second. */
export const time = (at: number): Octets => {
  const digits = new Date(at).toISOString().replace(/\.\d+|[-:T]/g, '')
  return digits < '2050' && digits >= '1950'
    ? ascii(digits.slice(2), derTag.utcTime)
    : ascii(digits, derTag.generalizedTime)
}
