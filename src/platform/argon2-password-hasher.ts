import { fromBase64, toBase64 } from '../base/bytes.ts'
import { TooManyAttempts } from '../base/errors.ts'
import { FairGate } from '../concurrency/gate.ts'
import { runtime } from '../concurrency/process-runtime.ts'
import type { PasswordHasher } from '../ports/credentials.ts'

/** A stored password: the hash with the salt and the cost that made it. */
interface Verifier {
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

/** Reads a PHC string. Undefined for another scheme, a malformed string, and a cost above 64 MiB or 10 passes. */
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

/** Inputs of Argon2id version 1.3 (RFC 9106). */
interface Argon2idInput {
  readonly password: Uint8Array<ArrayBuffer>
  readonly salt: Uint8Array<ArrayBuffer>
  readonly cost: Argon2Cost
  /** Length of the answer in octets. */
  readonly length: number
}

export interface Argon2Cost {
  /** Memory in KiB. */
  readonly memory: number
  readonly passes: number
  readonly lanes: number
}

/** Derives the hash of a password. */
export type Argon2id = (input: Argon2idInput) => Promise<Uint8Array>

/** Argon2id in WebAssembly: slower and on the calling thread, but in every runtime. */
export async function wasmArgon2id({ password, salt, cost, length }: Argon2idInput): Promise<Uint8Array> {
  const { argon2id } = await import('hash-wasm')
  return argon2id({
    password,
    salt,
    memorySize: cost.memory,
    iterations: cost.passes,
    parallelism: cost.lanes,
    hashLength: length,
    outputType: 'binary',
  })
}

/** Argon2id of the runtime, off the calling thread: Node 24.7 and later. Undefined in other runtimes. */
export async function findNativeArgon2id(): Promise<Argon2id | undefined> {
  const native = await import('node:crypto').catch(() => undefined)
  // Older runtimes have the module without this function, contrary to its types.
  if (native === undefined || !('argon2' in native)) return undefined
  return ({ password, salt, cost, length }) =>
    new Promise((resolve, reject) => {
      const { memory, passes, lanes: parallelism } = cost
      const input = { message: password, nonce: salt, memory, passes, parallelism, tagLength: length }
      native.argon2('argon2id', input, (problem, hash) => (problem ? reject(problem) : resolve(hash)))
    })
}

export interface PasswordHasherOptions {
  /** Hashes that run at once; further hashes wait, and callers take turns. Default: the number of cores, at most 4. */
  readonly parallel?: number
  /** Default: the runtime's own Argon2id (Node 24.7 and later), else WebAssembly. */
  readonly argon2id?: Argon2id
}

/** OWASP's Argon2id parameters: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, lanes: 1 }
const SALT_LENGTH = 16
const HASH_LENGTH = 32

/** More hashes than cores slow each other down, and Node hashes in four threads. Node 20 does not report its cores: 2. */
function usualParallel(): number {
  return Math.min(globalThis.navigator?.hardwareConcurrency ?? 2, 4)
}

/** Passwords of one network that wait to be judged; and when a caller of it may try again after one too many, in ms. */
const MAX_WAITING = 1000
const RETRY_AFTER_MS = 1000

/** Stands in for the verifier of an unknown user: it takes as long as a real verifier, and no password matches. */
const DUMMY: Verifier = { cost: COST, salt: new Uint8Array(SALT_LENGTH), hash: new Uint8Array(HASH_LENGTH) }

/**
 * Hashes passwords with Argon2id and verifies them against any Argon2id PHC string up to 64 MiB and 10 passes. The empty password cannot be
 * hashed (throws) and never verifies, because not every Argon2 implementation takes it. Networks take turns, so that a flood of logins from
 * one delays a login from another by one hash. Error for one password too many that would wait: `SERVER_TOO_MANY_REQUESTS`.
 */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const gate = new FairGate(options.parallel ?? usualParallel())
  let chosen: Promise<Argon2id> | undefined
  const derive = async (input: Argon2idInput, by: string): Promise<Uint8Array> => {
    chosen ??= options.argon2id ? Promise.resolve(options.argon2id) : chooseArgon2id()
    const argon2id = await chosen
    if (by !== '' && gate.waitingOf(by) >= MAX_WAITING) {
      throw new TooManyAttempts(RETRY_AFTER_MS, 'SERVER_TOO_MANY_REQUESTS')
    }
    return gate.run(by, 1, () => argon2id(input))
  }

  return {
    hash: async (password) => {
      if (password === '') throw new Error('the empty password cannot be hashed')
      const salt = runtime.bytes(SALT_LENGTH)
      const hash = await derive({ password: utf8(password), salt, cost: COST, length: HASH_LENGTH }, '')
      return writeVerifier({ cost: COST, salt, hash })
    },
    verify: async (password, verifier, by = '') => {
      const found = verifier === undefined ? undefined : readVerifier(verifier)
      const { hash, ...parameters } = found ?? DUMMY
      const derived = await derive({ password: utf8(password || ' '), ...parameters, length: hash.length }, by)
      return equalSecrets(derived, hash) && found !== undefined && password !== ''
    },
    needsRehash: (verifier) => {
      const found = readVerifier(verifier)
      if (found === undefined) return true
      const { memory, passes, lanes } = found.cost
      const isCurrentCost = memory === COST.memory && passes === COST.passes && lanes === COST.lanes
      return !isCurrentCost || found.salt.length < SALT_LENGTH || found.hash.length < HASH_LENGTH
    },
  }
}

async function chooseArgon2id(): Promise<Argon2id> {
  return (await findNativeArgon2id()) ?? wasmArgon2id
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/** Reports whether two secrets are equal, in a time that depends only on their length. */
function equalSecrets(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [at, octet] of a.entries()) difference |= octet ^ (b[at] ?? 0)
  return difference === 0
}
