import type { Library } from './library.ts'

/**
 * Whether `der`, which a parser has accepted, is the one distinguished encoding of a signed structure: nothing follows
 * it, every length is definite and minimal, and it ends with `signature` in whole octets. The parser reads BER, in which
 * a certificate could be given any number of fingerprints without touching what is signed.
 */
export const isDistinguishedEncoding = (
  { schema }: Library,
  der: Uint8Array<ArrayBuffer>,
  signature: ArrayBuffer,
): boolean => {
  const { AsnAnyConverter, AsnConvert, BitString } = schema
  const tail = new Uint8Array(AsnConvert.serialize(new BitString(signature)))
  return (
    sameOctets(der.subarray(-tail.length), tail) &&
    sameOctets(new Uint8Array(AsnAnyConverter.toASN(der.slice().buffer).toBER()), der)
  )
}

const sameOctets = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((octet, at) => octet === b[at])
