import type { CryptoKey, JWK } from 'jose'
import { fromBase64 } from '../../domain/encoding/base64.ts'
import { loadJose } from '../jose-library.ts'
import { readCertificates } from '../x509/certificates/certificate.ts'
import { loadLibrary } from '../x509/encoding/library.ts'
import { writePem } from '../x509/encoding/pem.ts'

/** A key that a token may not be verified with: there is none, or it is of another kind, too weak or expired. */
export class UnfitKey extends Error {}

/** A public key for one algorithm, and until when it is good, in epoch ms. */
export interface VerificationKey {
  readonly key: CryptoKey
  readonly notAfter: number
}

export interface VerificationKeyOptions {
  /** Takes keys of a key set that say what they are by their certificate alone, without `kty`. */
  readonly allowsUntypedKeys: boolean
}

const LEAST_RSA_EXPONENT = 65_537n

/**
 * The key of the only certificate of a PEM text, good until that expires. Throws for a certificate that is malformed, or whose
 * key is too weak or does not fit the algorithm.
 */
export async function certificateKey(pem: string, alg: string): Promise<VerificationKey> {
  const { importX509 } = await loadJose()
  const [{ notAfter }] = readCertificates(await loadLibrary(), pem)
  return { key: strong(await importX509(pem, alg)), notAfter }
}

/** The key of a member of a key set. Only its public parts are read, whatever else there is. Throws as above. */
export async function jwkKey(jwk: JWK, alg: string, options: VerificationKeyOptions): Promise<VerificationKey> {
  const { importJWK } = await loadJose()
  const kty = alg.startsWith('ES') ? 'EC' : 'RSA'
  const [certificate] = jwk.x5c ?? []
  const isTyped = jwk.kty === kty || (jwk.kty === undefined && certificate !== undefined && options.allowsUntypedKeys)
  if (!isTyped || (jwk.alg !== undefined && jwk.alg !== alg)) throw new UnfitKey('key is of another kind')
  if (certificate !== undefined && jwk.n === undefined && jwk.x === undefined) {
    return certificateKey(writePem('CERTIFICATE', fromBase64(certificate)), alg)
  }
  const { n = '', e = '', crv = '', x = '', y = '' } = jwk
  const key = await importJWK(kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y }, alg)
  if (key instanceof Uint8Array) throw new UnfitKey('key is not a public key')
  return { key: strong(key), notAfter: Infinity }
}

/** The length of an RSA key is judged with every signature; its exponent is not. */
function strong(key: CryptoKey): CryptoKey {
  const exponent: unknown = Reflect.get(key.algorithm, 'publicExponent')
  if (!(exponent instanceof Uint8Array)) return key
  const value = exponent.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
  if (value < LEAST_RSA_EXPONENT || value % 2n === 0n) throw new UnfitKey('RSA exponent is too weak')
  return key
}
