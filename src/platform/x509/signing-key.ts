import type { webcrypto } from 'node:crypto'
import type { KeySigner, SignatureAlgorithm } from '../../ports/credentials.ts'
import type { Library } from './asn1-structures.ts'
import { DER_TAGS, readSequence, type Signed, writeDer } from './der.ts'
import type { KeyAlgorithm } from './native-crypto.ts'
import { readPemBlocks } from './pem.ts'
import { ecdsaToDer, type PublicKey } from './public-key.ts'

/** A private key ready to sign, wherever it is held. */
export interface SigningKey {
  /** The algorithm, curve and hash of the signatures, by their WebCrypto names. */
  readonly algorithm: KeyAlgorithm & { readonly hash: string }
  readonly jwa: SignatureAlgorithm
  /** Signs in the form of WebCrypto and of tokens: `r` and `s` of ECDSA concatenated. */
  sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>
}

const ECDSA = {
  'P-256': { hash: 'SHA-256', jwa: 'ES256' },
  'P-384': { hash: 'SHA-384', jwa: 'ES384' },
  'P-521': { hash: 'SHA-512', jwa: 'ES512' },
} as const

/** The hash and the algorithm name of signatures by a kind of key. */
export function signatureSchemeOf(algorithm: KeyAlgorithm): {
  readonly hash: string
  readonly jwa: SignatureAlgorithm
} {
  switch (algorithm.name) {
    case 'ECDSA':
      return ECDSA[algorithm.namedCurve]
    case 'RSASSA-PKCS1-v1_5':
      return { hash: 'SHA-256', jwa: 'RS256' }
    case 'Ed25519':
      return { hash: 'SHA-512', jwa: 'EdDSA' }
  }
}

/**
 * Makes a private key ready to sign: PEM text, a WebCrypto key, or a signer elsewhere. Throws unless it proves by a signature that it is
 * the private half of `publicKey`.
 */
export async function loadSigningKey(
  library: Library,
  held: string | HeldKey,
  publicKey: PublicKey,
): Promise<SigningKey> {
  // A JavaScript caller may have left it out.
  if (held === undefined) throw new Error('is missing')
  const { hash, jwa } = signatureSchemeOf(publicKey.algorithm)
  const algorithm = { ...publicKey.algorithm, hash }
  const sign =
    typeof held === 'string'
      ? await pemSigner(library, held, publicKey, algorithm)
      : signerOf(library, held, algorithm, jwa)
  const probe = library.crypto.getRandomValues(new Uint8Array(32))
  const signed = await sign(probe)
  const signature = algorithm.name === 'ECDSA' ? ecdsaToDer(signed) : signed
  if (!(await publicKey.verifies(hash, probe, signature))) throw new Error('does not match its certificate')
  return { algorithm, jwa, sign }
}

function signerOf(
  library: Library,
  key: HeldKey,
  algorithm: SigningKey['algorithm'],
  jwa: SignatureAlgorithm,
): SigningKey['sign'] {
  return 'sign' in key
    ? async (data) => webSignature(library, algorithm, await key.sign(data, jwa))
    : async (data) => new Uint8Array(await library.crypto.subtle.sign(algorithm, key, data))
}

async function pemSigner(
  library: Library,
  pem: string,
  publicKey: PublicKey,
  algorithm: SigningKey['algorithm'],
): Promise<SigningKey['sign']> {
  const pkcs8 = readPkcs8(pem, publicKey)
  // WebCrypto refuses a key of another kind, which the runtime's own crypto would accept.
  const key = await library.crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']).catch(() => undefined)
  if (key === undefined) throw new Error('does not match its certificate, or cannot be parsed')
  const native = library.native?.signer(pkcs8, algorithm)
  if (native !== undefined) return async (data) => native(data)
  return async (data) => new Uint8Array(await library.crypto.subtle.sign(algorithm, key, data))
}

/** Octets of `r` and `s` together. */
const SIDE_BY_SIDE = { ES256: 64, ES384: 96, ES512: 132 } as const

function webSignature(
  { x509 }: Library,
  algorithm: SigningKey['algorithm'],
  signature: Awaited<ReturnType<KeySigner['sign']>>,
): Uint8Array<ArrayBuffer> {
  const octets = new Uint8Array(signature)
  if (algorithm.name !== 'ECDSA' || octets.length === SIDE_BY_SIDE[ECDSA[algorithm.namedCurve].jwa]) return octets
  const fixed = new x509.AsnEcSignatureFormatter().toWebSignature(algorithm, octets)
  if (fixed === null) throw new Error('the signer answered a signature that is not ECDSA')
  return new Uint8Array(fixed)
}

/** A private key that cannot be read: a WebCrypto key, which may be non-extractable, or a signer elsewhere. */
export type HeldKey = webcrypto.CryptoKey | KeySigner

/** Signature algorithms, by the content of their object identifiers (RFC 5758, RFC 4055, RFC 8410) in hexadecimal. */
const ALGORITHMS: Readonly<Record<string, { readonly name: KeyAlgorithm['name']; readonly hash: string }>> = {
  '2a8648ce3d040302': { name: 'ECDSA', hash: 'SHA-256' },
  '2a8648ce3d040303': { name: 'ECDSA', hash: 'SHA-384' },
  '2a8648ce3d040304': { name: 'ECDSA', hash: 'SHA-512' },
  '2a864886f70d01010b': { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  '2a864886f70d01010c': { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  '2a864886f70d01010d': { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
  '2b6570': { name: 'Ed25519', hash: 'SHA-512' },
}

/**
 * Reports whether the private key of `key` made the signature of `signed`. `false` for an algorithm that does not fit the key, is unknown,
 * or uses SHA-1 or MD5; for a key that is no point of its curve; and for an ECDSA signature outside of the distinguished encoding.
 */
export async function verifiesSignature(
  { body, algorithmId, signature }: Pick<Signed, 'body' | 'algorithmId' | 'signature'>,
  key: PublicKey,
): Promise<boolean> {
  const algorithm = ALGORITHMS[algorithmId]
  if (algorithm?.name !== key.algorithm.name) return false
  try {
    return await key.verifies(algorithm.hash, body, signature)
  } catch {
    // A malformed signature or an invalid point of the curve: neither verifies.
    return false
  }
}

const VERSION_0 = Uint8Array.of(0)

/** The PKCS#8 form of a PEM private key, also from the older forms `EC PRIVATE KEY` and `RSA PRIVATE KEY`. */
function readPkcs8(pem: string, publicKey: PublicKey): Uint8Array<ArrayBuffer> {
  const block = readPemBlocks(pem).find(({ label }) => label.endsWith('PRIVATE KEY'))
  if (block === undefined) throw new Error('no private key found')
  switch (block.label) {
    case 'PRIVATE KEY':
      return block.der
    case 'EC PRIVATE KEY':
    case 'RSA PRIVATE KEY':
      return wrapInPkcs8(block.der, publicKey)
    default:
      throw new Error(`${block.label} is not supported; use an unencrypted PKCS#8 key`)
  }
}

/** PKCS#8 wraps the older forms, and a key that matches its certificate has the certificate's algorithm. */
function wrapInPkcs8(der: Uint8Array, publicKey: PublicKey): Uint8Array<ArrayBuffer> {
  const { integer, octetString, sequence } = DER_TAGS
  const [algorithm] = readSequence(publicKey.der)
  if (algorithm === undefined) throw new Error('names no algorithm')
  return writeDer(sequence, writeDer(integer, VERSION_0), algorithm.whole, writeDer(octetString, der))
}
