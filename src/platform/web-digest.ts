import type { Digest } from '../ports/digest.ts'
import { toHex } from './hex.ts'

/** Digests of the runtime's WebCrypto. */
export const webDigest: Digest = {
  sha256: async (text) => toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))),
}
