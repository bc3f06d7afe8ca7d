import type { Digest } from '../ports/credentials/digest.ts'

/**
 * Digests computed on the spot by the runtime's `node:crypto` (Node, Bun, Deno, Workers): WebCrypto's go through a thread,
 * which costs a request more than all its other work.
 */
export async function createDigest(): Promise<Digest> {
  const { createHash, hash } = await import('node:crypto')
  // Not every runtime has the function that needs no object for a digest.
  if (hash === undefined) return { sha256: (text) => createHash('sha256').update(text).digest('hex') }
  return { sha256: (text) => hash('sha256', text) }
}
