import type { Digest } from '../ports/credentials/digest.ts'

/**
 * Digests computed on the spot by the runtime's `node:crypto` (Node, Bun, Deno, Workers): WebCrypto's go through a thread,
 * which costs a request more than all its other work.
 */
export async function createDigest(): Promise<Digest> {
  const { createHash } = await import('node:crypto')
  return { sha256: (text) => createHash('sha256').update(text).digest('hex') }
}
