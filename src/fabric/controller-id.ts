import type { Digest } from '../ports/credentials.ts'

const DIGITS = 16

/**
 * The id by which routers know a controller: it follows from where they reach it, so that it is the same after a restart and
 * another one for each process.
 */
export function controllerIdOf(digest: Digest, addresses: readonly string[]): string {
  return `controller-${digest.sha256(addresses[0] ?? '').slice(0, DIGITS)}`
}
