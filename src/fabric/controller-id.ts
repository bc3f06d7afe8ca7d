import type { Digest } from '../ports/credentials.ts'

const DIGITS = 16

/** The id by which routers know a controller: it follows from its address, so that it survives a restart and differs for each process. */
export function controllerIdOf(digest: Digest, addresses: readonly string[]): string {
  return `controller-${digest.sha256(addresses[0] ?? '').slice(0, DIGITS)}`
}
