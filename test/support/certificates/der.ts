import { AsnConvert } from '@peculiar/asn1-schema'
import { AlgorithmIdentifier } from '@peculiar/asn1-x509'

/** DER by hand, for structures that no library writes because they are malformed or mean harm. */

const lengthOctets = (length: number): number[] => {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

export const concatOctets = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(parts.flatMap((part) => [...part]))

/** One element: the tag, the length of the parts (at most 64 KiB), the parts. */
export const element = (tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const content = concatOctets(parts)
  if (content.length > 0xffff) throw new Error('longer than these tests need')
  return concatOctets([Uint8Array.of(tag, ...lengthOctets(content.length)), content])
}

export const sequence = (...parts: readonly Uint8Array[]) => element(0x30, ...parts)
export const octetString = (...parts: readonly Uint8Array[]) => element(0x04, ...parts)
export const bitString = (octets: Uint8Array) => element(0x03, Uint8Array.of(0), octets)

/** INTEGER of a big-endian magnitude without leading zeros. */
export const unsigned = (magnitude: Uint8Array) =>
  element(0x02, ...((magnitude[0] ?? 0) < 0x80 ? [] : [Uint8Array.of(0)]), magnitude)

/** AlgorithmIdentifier; `null` stands for the NULL that RSA algorithms have as their parameters. */
export const algorithmIdentifier = (algorithm: string, parameters?: Uint8Array<ArrayBuffer> | null) =>
  new Uint8Array(
    AsnConvert.serialize(
      new AlgorithmIdentifier({
        algorithm,
        ...(parameters !== undefined && { parameters: parameters?.buffer ?? null }),
      }),
    ),
  )

/** The elements inside a well-formed element, each with its tag and length. */
export const elementsOf = (outer: Uint8Array): Uint8Array[] => {
  const elements: Uint8Array[] = []
  for (let at = contentStart(outer, 0); at < outer.length; ) {
    const end = contentStart(outer, at) + contentLength(outer, at)
    elements.push(outer.subarray(at, end))
    at = end
  }
  return elements
}

const contentStart = (octets: Uint8Array, at: number): number => {
  const first = octets[at + 1] ?? 0
  return at + 2 + (first < 0x80 ? 0 : first & 0x7f)
}

const contentLength = (octets: Uint8Array, at: number): number => {
  const first = octets[at + 1] ?? 0
  if (first < 0x80) return first
  return octets.subarray(at + 2, contentStart(octets, at)).reduce((length, octet) => length * 256 + octet, 0)
}
