import { createPrivateKey, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { HeldKey, KeySigner } from 'portcullis'
import type { KeyKind } from './certificates.ts'

const HASHES = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512', RS256: 'sha256', EdDSA: null } as const

const signAsync = promisify<string | null, Uint8Array, Parameters<typeof sign>[2], Buffer>(sign)

/** A key held elsewhere, as a key management service (DER) or a hardware module (`r` and `s`) signs ECDSA. */
export const signerOf = (keyPem: string, dsaEncoding: 'der' | 'ieee-p1363' = 'der'): KeySigner => {
  const key = createPrivateKey(keyPem)
  return {
    sign: async (data, algorithm) => {
      const options = key.asymmetricKeyType === 'ec' ? { key, dsaEncoding } : { key }
      return new Uint8Array(await signAsync(HASHES[algorithm], data, options))
    },
  }
}

/** The same key in WebCrypto, from where it cannot be taken out. */
export const webCryptoKeyOf = (keyPem: string, kind: KeyKind): Promise<HeldKey> => {
  const pkcs8 = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' })
  const algorithm = kind.startsWith('P-')
    ? { name: 'ECDSA', namedCurve: kind }
    : kind === 'Ed25519'
      ? { name: 'Ed25519' }
      : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  return crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), algorithm, false, ['sign'])
}
