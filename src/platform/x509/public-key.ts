import type { webcrypto } from 'node:crypto'
import type { SubjectPublicKeyInfo } from '@peculiar/asn1-x509'
import { toHex } from '../../base/bytes.ts'
import { type Library, parseDer } from './asn1-structures.ts'
import { DER_TAGS, isDistinguished, readSequence, writeDer } from './der.ts'
import type { KeyAlgorithm, NativeKey } from './native-crypto.ts'

/** A public key of a kind and strength that the network accepts. */
export interface PublicKey {
  readonly algorithm: KeyAlgorithm
  /** SubjectPublicKeyInfo, DER. */
  readonly der: Uint8Array<ArrayBuffer>
  /** The same, hexadecimal. */
  readonly encoded: string
  /** The key for signatures over `hash`, imported once. Rejects when an EC point does not lie on its curve. */
  importFor(hash: string): Promise<webcrypto.CryptoKey>
  /** Reports whether the private key made a signature over `data` by `hash`, in the form of certificates. Rejects as above. */
  verifies(hash: string, data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean>
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

/** The fixed beginnings of keys: within a kind, all but the point or the key is the same. */
const FIXED_FORMS: readonly { readonly prefix: string; readonly octets: number; readonly algorithm: KeyAlgorithm }[] = [
  {
    prefix: '3059301306072a8648ce3d020106082a8648ce3d03010703420004',
    octets: 91,
    algorithm: { name: 'ECDSA', namedCurve: 'P-256' },
  },
  { prefix: '302a300506032b6570032100', octets: 44, algorithm: { name: 'Ed25519' } },
]

/**
 * Reads the key of a certificate or signing request, a SubjectPublicKeyInfo in the distinguished encoding. Throws `WeakKey` for other keys
 * than RSA of 2048 to 8192 bits with a public exponent of at least 65537, ECDSA on P-256, P-384 or P-521, and Ed25519; throws `Error` for a
 * malformed key.
 */
export function readPublicKey(library: Library, der: Uint8Array<ArrayBuffer>): PublicKey {
  const { crypto, native } = library
  const encoded = toHex(der)
  const fixed = FIXED_FORMS.find(({ prefix, octets }) => der.length === octets && encoded.startsWith(prefix))
  const algorithm = fixed?.algorithm ?? readAlgorithm(library, der)
  const imported = new Map<string, Promise<webcrypto.CryptoKey>>()
  let nativeKey: NativeKey | undefined
  const importFor: PublicKey['importFor'] = (hash) => {
    const known = imported.get(hash) ?? crypto.subtle.importKey('spki', der, { ...algorithm, hash }, true, ['verify'])
    imported.set(hash, known)
    return known
  }
  return {
    algorithm,
    der,
    encoded,
    importFor,
    async verifies(hash, data, signature) {
      const scheme = { ...algorithm, hash }
      const isEcdsa = algorithm.name === 'ECDSA'
      const form = isEcdsa ? ecdsaFromDer(signature, FIELD_SIZES[algorithm.namedCurve]) : signature
      if (form === undefined) return false
      nativeKey ??= native?.publicKey(algorithm, der)
      if (native !== undefined && nativeKey !== undefined) return native.verifies(nativeKey, scheme, data, signature)
      return crypto.subtle.verify(scheme, await importFor(hash), form, data)
    },
  }
}

function readAlgorithm(library: Library, der: Uint8Array<ArrayBuffer>): KeyAlgorithm {
  const info = parseDer(library, der, library.asn1.SubjectPublicKeyInfo)
  return acceptedAlgorithm(library, understoodAlgorithm(library, info), info)
}

/** The algorithm of a key; the library throws for unnamed curves. */
function understoodAlgorithm({ x509 }: Library, info: SubjectPublicKeyInfo): Partial<KeyAlgorithm> {
  try {
    return new x509.PublicKey(info).algorithm
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
        throw new WeakKey('the elliptic curve must be P-256, P-384 or P-521')
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

function refuseWeakRsa(library: Library, bits: Uint8Array<ArrayBuffer>): void {
  const key = parseDer(library, bits, library.structures.RsaPublicKey)
  const [modulus, exponent] = [unsigned(key.modulus), unsigned(key.publicExponent)]
  const size = modulus.toString(2).length
  if (size < RSA_BITS.min || size > RSA_BITS.max || modulus % 2n === 0n) throw new WeakKey('RSA modulus is too weak')
  if (exponent < RSA_EXPONENT.min || exponent > RSA_EXPONENT.max || exponent % 2n === 0n) {
    throw new WeakKey('RSA exponent is too weak')
  }
}

/** The value of an INTEGER's content; 0 for a negative number, which is always too weak. */
function unsigned(content: ArrayBuffer): bigint {
  const octets = new Uint8Array(content)
  return (octets[0] ?? 0x80) < 0x80 ? BigInt(`0x${toHex(octets)}`) : 0n
}

/** Converts an ECDSA signature from the WebCrypto form, two concatenated numbers, to the form of certificates. */
export function ecdsaToDer(sideBySide: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const size = sideBySide.length / 2
  return writeDer(
    DER_TAGS.sequence,
    writeDer(DER_TAGS.integer, unsignedInteger(sideBySide.subarray(0, size))),
    writeDer(DER_TAGS.integer, unsignedInteger(sideBySide.subarray(size))),
  )
}

/**
 * The reverse conversion, for numbers of at most `size` octets. Undefined for a signature outside of the distinguished encoding: another
 * encoding would give the same certificate another fingerprint.
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

/** The content of an INTEGER: without leading zeros, except a zero before a high bit. */
function unsignedInteger(octets: Uint8Array): Uint8Array {
  const begin = octets.findIndex((octet) => octet !== 0)
  if (begin === -1) return Uint8Array.of(0)
  const digits = octets.subarray(begin)
  return (digits[0] ?? 0) < 0x80 ? digits : Uint8Array.of(0, ...digits)
}
