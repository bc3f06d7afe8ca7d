import type { webcrypto } from 'node:crypto'
import type { AlgorithmIdentifier, SubjectPublicKeyInfo } from '@peculiar/asn1-x509'
import type * as x509 from '@peculiar/x509'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from '../encoding/library.ts'
import { parseDer } from '../encoding/parse-der.ts'

/** Kinds of keys that the network accepts, by the parameters that WebCrypto imports them with. */
export type KeyAlgorithm =
  | { readonly name: 'ECDSA'; readonly namedCurve: 'P-256' | 'P-384' | 'P-521' }
  | { readonly name: 'RSASSA-PKCS1-v1_5' }
  | { readonly name: 'Ed25519' }

/** A public key of a kind and strength that the network accepts. */
export interface PublicKey {
  readonly algorithm: KeyAlgorithm
  /** The algorithm as certificates and PKCS#8 keys name it. */
  readonly identifier: AlgorithmIdentifier
  /** SubjectPublicKeyInfo in hexadecimal. */
  readonly encoded: string
  /** The key for signatures over `hash`, imported once. Rejects when an EC point does not lie on its curve. */
  importFor(hash: string): Promise<webcrypto.CryptoKey>
}

/** A key that is readable but too weak, or of a kind that no client of the network uses. */
export class WeakKey extends Error {}

/** Octets of a coordinate. */
const FIELD_SIZES = { 'P-256': 32, 'P-384': 48, 'P-521': 66 } as const

/** rsaEncryption. */
const RSA_ENCRYPTION = '1.2.840.113549.1.1.1'
/** The upper limit bounds the time that one signature check may take. */
const RSA_BITS = { min: 2048, max: 8192 }
const RSA_EXPONENT = { min: 65537n, max: 2n ** 31n - 1n }

/**
 * Reads the key of a certificate or signing request. Throws `WeakKey` for anything but RSA of 2048 to 8192 bits with a
 * public exponent of at least 65537, ECDSA on P-256, P-384 or P-521, and Ed25519; throws `Error` when it is malformed.
 */
export function readPublicKey(library: Library, holder: { readonly publicKey: x509.PublicKey }): PublicKey {
  const key = understoodKey(holder)
  const info = library.schema.AsnConvert.parse(key.rawData, library.asn1.SubjectPublicKeyInfo)
  const algorithm = acceptedAlgorithm(library, key.algorithm, info)
  const imported = new Map<string, Promise<webcrypto.CryptoKey>>()
  return {
    algorithm,
    identifier: info.algorithm,
    encoded: toHex(new Uint8Array(key.rawData)),
    importFor: (hash) => {
      const known = imported.get(hash) ?? key.export({ ...algorithm, hash }, ['verify'], library.crypto)
      imported.set(hash, known)
      return known
    },
  }
}

/** The library reads a key when it is asked for it, and throws on curves that have no name. */
function understoodKey(holder: { readonly publicKey: x509.PublicKey }): x509.PublicKey {
  try {
    return holder.publicKey
  } catch (problem) {
    throw new WeakKey('key is of no kind that is known', { cause: problem })
  }
}

function acceptedAlgorithm(
  library: Library,
  named: Partial<KeyAlgorithm>,
  { algorithm, subjectPublicKey }: SubjectPublicKeyInfo,
): KeyAlgorithm {
  const bits = new Uint8Array(subjectPublicKey)
  switch (named.name) {
    case 'ECDSA': {
      const { namedCurve } = named
      const size = namedCurve && FIELD_SIZES[namedCurve]
      if (namedCurve === undefined || size === undefined)
        throw new WeakKey('elliptic curve is none of P-256, P-384, P-521')
      if (bits[0] !== 4 || bits.length !== 1 + 2 * size) throw new Error('EC point is malformed')
      return { name: 'ECDSA', namedCurve }
    }
    case 'RSASSA-PKCS1-v1_5':
      if (algorithm.algorithm !== RSA_ENCRYPTION) throw new WeakKey('RSA key is named as a signature')
      refuseWeakRsa(library, bits)
      return { name: 'RSASSA-PKCS1-v1_5' }
    case 'Ed25519':
      if (bits.length !== 32) throw new Error('Ed25519 key is malformed')
      return { name: 'Ed25519' }
    default:
      throw new WeakKey('key is neither RSA nor ECDSA nor Ed25519')
  }
}

function refuseWeakRsa(library: Library, bits: Uint8Array): void {
  const key = parseDer(library, bits, library.structures.RsaPublicKey)
  const [modulus, exponent] = [unsigned(key.modulus), unsigned(key.publicExponent)]
  const size = modulus.toString(2).length
  if (size < RSA_BITS.min || size > RSA_BITS.max || modulus % 2n === 0n) throw new WeakKey('RSA modulus is too weak')
  if (exponent < RSA_EXPONENT.min || exponent > RSA_EXPONENT.max || exponent % 2n === 0n) {
    throw new WeakKey('RSA exponent is too weak')
  }
}

/** Value of INTEGER content; zero stands for a negative number, which is too weak for anything. */
function unsigned(content: ArrayBuffer): bigint {
  const octets = new Uint8Array(content)
  return (octets[0] ?? 0x80) < 0x80 ? BigInt(`0x${toHex(octets)}`) : 0n
}
