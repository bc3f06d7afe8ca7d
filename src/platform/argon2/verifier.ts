import { fromBase64, toBase64 } from '../../base/bytes.ts'
import type { Argon2Cost } from './argon2id.ts'

/** A stored password: the hash with the salt and the cost that made it. */
export interface Verifier {
  readonly cost: Argon2Cost
  readonly salt: Uint8Array<ArrayBuffer>
  readonly hash: Uint8Array
}

/** Upper limits, so that a hostile verifier in imported data cannot stall or starve the host. */
const LIMITS = { memory: 64 * 1024, passes: 10, lanes: 16, salt: 64, hash: 64 }

const PATTERN =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

/** PHC string of a verifier: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
export function writeVerifier({ cost, salt, hash }: Verifier): string {
  const parameters = `m=${cost.memory},t=${cost.passes},p=${cost.lanes}`
  return `$argon2id$v=19$${parameters}$${unpadded(salt)}$${unpadded(hash)}`
}

/** Reads a PHC string. Answers undefined for another scheme, a malformed string and a cost beyond 64 MiB or 10 passes. */
export function readVerifier(text: string): Verifier | undefined {
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  const [memory = 0, passes = 0, lanes = 0] = match.slice(1, 4).map(Number)
  const [salt, hash] = match.slice(4).map(decode)
  if (salt === undefined || hash === undefined || salt.length > LIMITS.salt || hash.length > LIMITS.hash)
    return undefined
  const affordable = memory <= LIMITS.memory && passes <= LIMITS.passes && lanes <= LIMITS.lanes
  const meaningful = lanes >= 1 && passes >= 1 && memory >= 8 * lanes
  return affordable && meaningful ? { cost: { memory, passes, lanes }, salt, hash } : undefined
}

function unpadded(octets: Uint8Array): string {
  return toBase64(octets).replaceAll('=', '')
}

function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  // One character over a multiple of four encodes no octet.
  return text.length % 4 === 1 ? undefined : fromBase64(text)
}
