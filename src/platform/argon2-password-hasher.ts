import { Gate } from '../../concurrency/gate.ts'
import type { PasswordHasher } from '../../ports/credentials.ts'
import { type Argon2id, findNativeArgon2id, wasmArgon2id } from './argon2id.ts'
import { readVerifier, type Verifier, writeVerifier } from './verifier.ts'

export interface PasswordHasherOptions {
  /** How many hashes run at once; the others wait their turn. Default: as many as there are cores, at most 4. */
  readonly parallel?: number
  /** By default the runtime's own Argon2id where it has one (Node 24.7 and later), else WebAssembly. */
  readonly argon2id?: Argon2id
}

/** OWASP's Argon2id parameters: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, lanes: 1 }
const SALT_LENGTH = 16
const HASH_LENGTH = 32

/** More than the cores slow each other down, and Node hashes in four threads. Node 20 does not tell its cores: 2. */
function usualParallel(): number {
  return Math.min(globalThis.navigator?.hardwareConcurrency ?? 2, 4)
}

/** Stands in for the verifier of an unknown user: computing it costs what a real one costs, and no password matches. */
const DUMMY: Verifier = { cost: COST, salt: new Uint8Array(SALT_LENGTH), hash: new Uint8Array(HASH_LENGTH) }

/**
 * Hashes passwords with Argon2id and verifies them against any Argon2id PHC string up to 64 MiB and 10 passes. The empty
 * password cannot be hashed (throws) and never verifies, because not every Argon2 implementation takes it.
 */
export function createPasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  const gate = new Gate(options.parallel ?? usualParallel())
  let chosen: Promise<Argon2id> | undefined
  const derive: Argon2id = async (input) => {
    chosen ??= options.argon2id ? Promise.resolve(options.argon2id) : chooseArgon2id()
    const argon2id = await chosen
    return gate.run(() => argon2id(input))
  }

  return {
    hash: async (password) => {
      if (password === '') throw new Error('the empty password cannot be hashed')
      const salt = crypto.getRandomValues(new Uint8Array(SALT_LENGTH))
      const hash = await derive({ password: utf8(password), salt, cost: COST, length: HASH_LENGTH })
      return writeVerifier({ cost: COST, salt, hash })
    },
    verify: async (password, verifier) => {
      const found = verifier === undefined ? undefined : readVerifier(verifier)
      const { hash, ...parameters } = found ?? DUMMY
      const derived = await derive({ password: utf8(password || ' '), ...parameters, length: hash.length })
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

/** Whether two secrets are the same, in a time that depends on their length only. */
function equalSecrets(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [at, octet] of a.entries()) difference |= octet ^ (b[at] ?? 0)
  return difference === 0
}
