import { type DerElement, derTag, fieldsOf, readDer } from './der.ts'
import { readOctetAlignedBits, readOid, readUnsigned } from './der-values.ts'
import { oids } from './oids.ts'

type Curve = 'P-256' | 'P-384' | 'P-521'

/** A public key of a kind and strength that the network accepts. */
export type PublicKey =
  | { readonly kind: 'EC'; readonly curve: Curve; readonly fieldSize: number }
  | { readonly kind: 'RSA'; readonly bits: number }
  | { readonly kind: 'Ed25519' }

/** A key that is readable but too weak, or of a kind that no client of the network uses. */
export class WeakKey extends Error {}

/** NIST curves by object identifier, with the size of a coordinate in octets. */
const curves = new Map<string, { curve: Curve; fieldSize: number }>([
  [oids.p256, { curve: 'P-256', fieldSize: 32 }],
  [oids.p384, { curve: 'P-384', fieldSize: 48 }],
  [oids.p521, { curve: 'P-521', fieldSize: 66 }],
])

/** The upper limit bounds the time that one signature check may take. */
const rsaBits = { min: 2048, max: 8192 }
const smallestExponent = 65537
const largestExponent = 2 ** 31 - 1

/**
 * Reads a SubjectPublicKeyInfo. Throws `WeakKey` for anything but RSA of 2048 to 8192 bits with a public exponent of at
 * least 65537, ECDSA on P-256, P-384 or P-521, and Ed25519; throws `Error` when it is malformed. That an EC point lies on
 * its curve shows when the key is imported.
 */
export const readPublicKey = (spki: DerElement): PublicKey => {
  const fields = fieldsOf(spki)
  const algorithm = fieldsOf(fields.take(derTag.sequence))
  const bits = readOctetAlignedBits(fields.take(derTag.bitString))
  fields.end()
  const kind = readOid(algorithm.take(derTag.oid))
  switch (kind) {
    case oids.ecPublicKey: {
      const named = algorithm.takeAny()
      const found = named.tag === derTag.oid ? curves.get(readOid(named)) : undefined
      if (found === undefined) throw new WeakKey('elliptic curve is none of P-256, P-384, P-521')
      if (bits[0] !== 4 || bits.length !== 1 + 2 * found.fieldSize) throw new Error('EC point is malformed')
      return { kind: 'EC', ...found }
    }
    case oids.rsaEncryption:
      return readRsaKey(bits)
    case oids.ed25519:
      if (bits.length !== 32) throw new Error('Ed25519 key is malformed')
      return { kind: 'Ed25519' }
    default:
      throw new WeakKey('key is neither RSA nor ECDSA nor Ed25519')
  }
}

const readRsaKey = (bits: Uint8Array<ArrayBuffer>): PublicKey => {
  const fields = fieldsOf(readDer(bits))
  const modulus = readUnsigned(fields.take(derTag.integer))
  const exponentOctets = readUnsigned(fields.take(derTag.integer))
  fields.end()
  const size = 8 * modulus.length - Math.clz32(modulus[0] ?? 0) + 24
  if (size < rsaBits.min || size > rsaBits.max || isEven(modulus)) throw new WeakKey('RSA modulus is too weak')
  const exponent =
    exponentOctets.length > 4 ? Infinity : exponentOctets.reduce((value, octet) => value * 256 + octet, 0)
  if (exponent < smallestExponent || exponent > largestExponent || isEven(exponentOctets)) {
    throw new WeakKey('RSA exponent is too weak')
  }
  return { kind: 'RSA', bits: size }
}

const isEven = (magnitude: Uint8Array): boolean => ((magnitude[magnitude.length - 1] ?? 0) & 1) === 0
