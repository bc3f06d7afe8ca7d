import type { webcrypto } from 'node:crypto'
import type { Library } from './library.ts'
import { readPemBlocks } from './pem.ts'
import type { KeyAlgorithm, PublicKey } from './public-key.ts'

/** A private key ready to sign, with the names that WebCrypto and tokens give to its algorithm. */
export interface SigningKey {
  readonly key: webcrypto.CryptoKey
  readonly algorithm: { readonly name: string; readonly hash: string }
  /** JSON Web Algorithm: ES256, ES384, ES512, RS256 or EdDSA. */
  readonly jwa: string
}

const ecdsa = {
  'P-256': { hash: 'SHA-256', jwa: 'ES256' },
  'P-384': { hash: 'SHA-384', jwa: 'ES384' },
  'P-521': { hash: 'SHA-512', jwa: 'ES512' },
} as const

const schemeOf = (algorithm: KeyAlgorithm): { hash: string; jwa: string } => {
  switch (algorithm.name) {
    case 'ECDSA':
      return ecdsa[algorithm.namedCurve]
    case 'RSASSA-PKCS1-v1_5':
      return { hash: 'SHA-256', jwa: 'RS256' }
    case 'Ed25519':
      return { hash: 'SHA-512', jwa: 'EdDSA' }
  }
}

/**
 * Loads a private key from PEM: PKCS#8, or the older `EC PRIVATE KEY` and `RSA PRIVATE KEY` forms. Throws unless it is
 * the private half of `publicKey`, which it proves by signing.
 */
export const loadSigningKey = async (library: Library, pem: string, publicKey: PublicKey): Promise<SigningKey> => {
  const { subtle } = library.crypto
  const { hash, jwa } = schemeOf(publicKey.algorithm)
  const algorithm = { name: publicKey.algorithm.name, hash }
  const key = await subtle
    .importKey('pkcs8', readPkcs8(library, pem, publicKey), { ...publicKey.algorithm, hash }, false, ['sign'])
    .catch(() => undefined)
  if (key === undefined) throw new Error('does not match its certificate, or cannot be parsed')
  const probe = library.crypto.getRandomValues(new Uint8Array(32))
  const signature = await subtle.sign(algorithm, key, probe)
  if (!(await subtle.verify(algorithm, await publicKey.importFor(hash), signature, probe))) {
    throw new Error('does not match its certificate')
  }
  return { key, algorithm, jwa }
}

const readPkcs8 = (library: Library, pem: string, publicKey: PublicKey): Uint8Array<ArrayBuffer> => {
  const block = readPemBlocks(pem).find(({ label }) => label.endsWith('PRIVATE KEY'))
  if (block === undefined) throw new Error('no private key found')
  switch (block.label) {
    case 'PRIVATE KEY':
      return block.der
    case 'EC PRIVATE KEY':
    case 'RSA PRIVATE KEY':
      return wrapInPkcs8(library, block.der, publicKey)
    default:
      throw new Error(`${block.label} is not supported; use an unencrypted PKCS#8 key`)
  }
}

/** The older forms are what PKCS#8 wraps, and a key that matches its certificate has the algorithm named there. */
const wrapInPkcs8 = (
  { pkcs8, schema }: Library,
  der: Uint8Array<ArrayBuffer>,
  { identifier }: PublicKey,
): Uint8Array<ArrayBuffer> => {
  const info = new pkcs8.PrivateKeyInfo({ privateKeyAlgorithm: identifier, privateKey: new pkcs8.PrivateKey(der) })
  return new Uint8Array(schema.AsnConvert.serialize(info))
}
