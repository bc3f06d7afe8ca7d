import type { KeySigner, SignatureAlgorithm } from '../../../ports/credentials/key-signer.ts'
import type { KeyAlgorithm } from '../crypto/key-algorithm.ts'
import type { Library } from '../encoding/library.ts'
import type { HeldKey } from './held-key.ts'
import { readPkcs8 } from './pkcs8.ts'
import type { PublicKey } from './public-key.ts'

/** A private key ready to sign, wherever it is held. */
export interface SigningKey {
  /** What WebCrypto calls the algorithm, curve and hash of the signatures. */
  readonly algorithm: KeyAlgorithm & { readonly hash: string }
  readonly jwa: SignatureAlgorithm
  /** The signature in the form of WebCrypto and of tokens: `r` and `s` of ECDSA side by side. */
  sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>
}

const ECDSA = {
  'P-256': { hash: 'SHA-256', jwa: 'ES256' },
  'P-384': { hash: 'SHA-384', jwa: 'ES384' },
  'P-521': { hash: 'SHA-512', jwa: 'ES512' },
} as const

/** The hash and the name of the signatures that keys of a kind make. */
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
 * Makes a private key ready to sign: PEM text, a WebCrypto key, or a signer elsewhere. Throws unless it is the private
 * half of `publicKey`, which it proves by signing.
 */
export async function loadSigningKey(
  library: Library,
  held: string | HeldKey,
  publicKey: PublicKey,
): Promise<SigningKey> {
  // A program without types may have left it out.
  if (held === undefined) throw new Error('is missing')
  const { hash, jwa } = signatureSchemeOf(publicKey.algorithm)
  const algorithm = { ...publicKey.algorithm, hash }
  const sign =
    typeof held === 'string'
      ? await pemSigner(library, held, publicKey, algorithm)
      : signerOf(library, held, algorithm, jwa)
  const probe = library.crypto.getRandomValues(new Uint8Array(32))
  const signature = await sign(probe)
  if (!(await library.crypto.subtle.verify(algorithm, await publicKey.importFor(hash), signature, probe))) {
    throw new Error('does not match its certificate')
  }
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
  // It refuses a key of another kind, which the runtime's own crypto would take.
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
  if (fixed === null) throw new Error('answers a signature that is none of ECDSA')
  return new Uint8Array(fixed)
}
