import type * as x509 from '@peculiar/x509'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from '../encoding/library.ts'
import type { PublicKey } from './public-key.ts'

/** SHA-1 and MD5 are absent: what is not here does not verify. */
const STRONG_HASHES: readonly (string | undefined)[] = ['SHA-256', 'SHA-384', 'SHA-512']

/**
 * Whether `signed` carries a signature of the private key that belongs to `key`. Answers `false` for an algorithm that
 * does not fit the key, is unknown or uses SHA-1 or MD5, for a key that is no point of its curve, and for an ECDSA
 * signature that is not DER.
 */
export async function verifiesSignature(
  library: Library,
  signed: x509.X509Certificate | x509.Pkcs10CertificateRequest,
  key: PublicKey,
): Promise<boolean> {
  const { x509, crypto } = library
  try {
    // The library declares this by a type of browsers, which is unknown here, and a hash that not every algorithm has.
    const { name, hash } = signed.signatureAlgorithm as { name: string; hash?: { name: string } }
    if (name !== key.algorithm.name || (name !== 'Ed25519' && !STRONG_HASHES.includes(hash?.name))) return false
    if (name === 'ECDSA' && !isDistinguishedEcdsa(library, signed.signature, key)) return false
    if (!(signed instanceof x509.X509Certificate)) return await signed.verify(crypto)
    const publicKey = await key.importFor(hash?.name ?? 'SHA-512')
    return await signed.verify({ publicKey, signatureOnly: true }, crypto)
  } catch {
    // A malformed signature or an invalid point of the curve: neither verifies.
    return false
  }
}

function isDistinguishedEcdsa({ x509 }: Library, signature: ArrayBuffer, { algorithm }: PublicKey): boolean {
  const formatter = new x509.AsnEcSignatureFormatter()
  const fixed = formatter.toWebSignature(algorithm, signature)
  const written = fixed && formatter.toAsnSignature(algorithm, fixed)
  return written !== null && toHex(new Uint8Array(written)) === toHex(new Uint8Array(signature))
}
