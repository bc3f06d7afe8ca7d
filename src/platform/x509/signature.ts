import { type DerElement, derTag, fieldsOf, readDer } from './der.ts'
import { readOid, readUnsigned } from './der-values.ts'
import { type Octets, sequence, unsigned } from './der-writer.ts'
import { oids } from './oids.ts'
import type { PublicKey } from './public-key.ts'

/** Signature algorithms by object identifier. SHA-1 and MD5 are absent: what is not here does not verify. */
const algorithms = new Map<string, { kind: PublicKey['kind']; hash?: string }>([
  [oids.ecdsaSha256, { kind: 'EC', hash: 'SHA-256' }],
  [oids.ecdsaSha384, { kind: 'EC', hash: 'SHA-384' }],
  [oids.ecdsaSha512, { kind: 'EC', hash: 'SHA-512' }],
  [oids.rsaSha256, { kind: 'RSA', hash: 'SHA-256' }],
  [oids.rsaSha384, { kind: 'RSA', hash: 'SHA-384' }],
  [oids.rsaSha512, { kind: 'RSA', hash: 'SHA-512' }],
  [oids.ed25519, { kind: 'Ed25519' }],
])

/** Parameters with which WebCrypto imports a key of this kind for signatures over this hash. */
export const importParameters = (key: PublicKey, hash: string) => {
  switch (key.kind) {
    case 'EC':
      return { name: 'ECDSA', namedCurve: key.curve }
    case 'RSA':
      return { name: 'RSASSA-PKCS1-v1_5', hash }
    case 'Ed25519':
      return { name: 'Ed25519' }
  }
}

/** Something signed: a certificate or a signing request. */
export interface Signed {
  readonly body: Uint8Array<ArrayBuffer>
  readonly algorithm: DerElement
  readonly signature: Uint8Array<ArrayBuffer>
}

/**
 * Whether `signed` carries a signature of the private key that belongs to `key`. Answers `false` for an algorithm that
 * does not fit the key, is unknown or uses SHA-1 or MD5, and for a key that is no point of its curve.
 */
export const verifiesSignature = async (signed: Signed, key: PublicKey, spki: DerElement): Promise<boolean> => {
  try {
    const found = algorithms.get(readOid(fieldsOf(signed.algorithm).take(derTag.oid)))
    if (found === undefined || found.kind !== key.kind) return false
    const hash = found.hash ?? 'SHA-512'
    const imported = await crypto.subtle.importKey('spki', spki.encoded, importParameters(key, hash), false, ['verify'])
    const signature = key.kind === 'EC' ? readEcdsaSignature(signed.signature, key.fieldSize) : signed.signature
    return await crypto.subtle.verify({ name: imported.algorithm.name, hash }, imported, signature, signed.body)
  } catch {
    // A malformed signature or an invalid point of the curve: neither verifies.
    return false
  }
}

/** DER form (r, s) to the fixed-length form of WebCrypto. */
const readEcdsaSignature = (encoded: Uint8Array<ArrayBuffer>, fieldSize: number): Octets => {
  const fields = fieldsOf(readDer(encoded))
  const fixed = new Uint8Array(2 * fieldSize)
  for (const end of [fieldSize, 2 * fieldSize]) {
    const magnitude = readUnsigned(fields.take(derTag.integer))
    if (magnitude.length > fieldSize) throw new Error('ECDSA signature is malformed')
    fixed.set(magnitude, end - magnitude.length)
  }
  fields.end()
  return fixed
}

/** Fixed-length form of WebCrypto to the DER form (r, s). */
export const writeEcdsaSignature = (fixed: Uint8Array): Octets =>
  sequence(unsigned(fixed.subarray(0, fixed.length / 2)), unsigned(fixed.subarray(fixed.length / 2)))
