import type { PkiSource } from './pki-source.ts'

const PURPOSE = 'portcullis secrets at rest'

/**
 * The 32 bytes that seal MFA secrets in the storage, derived from the signing key (HKDF, RFC 5869): a restart and every
 * process over the same storage and certificates have the same, and no further secret needs to be kept. Undefined where the
 * signing key is held elsewhere and cannot be read.
 */
export async function deriveSecretsKey(pki: PkiSource): Promise<Uint8Array | undefined> {
  const pem = 'signingKeyPem' in pki ? pki.signingKeyPem : pki.signingKey
  if (typeof pem !== 'string') return undefined
  const text = new TextEncoder()
  const material = await crypto.subtle.importKey('raw', text.encode(pem.trim()), 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: text.encode(PURPOSE) }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, 256))
}
