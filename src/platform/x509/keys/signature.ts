import type { KeyAlgorithm } from '../crypto/key-algorithm.ts'
import type { Signed } from '../encoding/signed.ts'
import type { PublicKey } from './public-key.ts'

/** How a signature is made, by the content of its object identifier (RFC 5758, RFC 4055, RFC 8410) in hexadecimal. */
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
 * Whether `signed` carries a signature of the private key that belongs to `key`. Answers `false` for an algorithm that
 * does not fit the key, is unknown or uses SHA-1 or MD5, for a key that is no point of its curve, and for an ECDSA
 * signature that is not in the distinguished encoding.
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
