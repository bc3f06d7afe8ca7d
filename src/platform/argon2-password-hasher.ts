import type { PasswordHasher } from '../ports/password-hasher.ts'
import { type Argon2id, findNativeArgon2id, wasmArgon2id } from './argon2/argon2id.ts'
import { createTurnstile } from './argon2/turnstile.ts'
import { readVerifier, type Verifier, writeVerifier } from './argon2/verifier.ts'

export interface PasswordHasherOptions {
  /** How many hashes run at once; the others wait their turn. Default: as many as there are cores, at most 4. */
  readonly parallel?: number
  /** By default the runtime's own Argon2id where it has one (Node 24.7 and later), else WebAssembly. */
  readonly argon2id?: Argon2id
}

/** OWASP's Argon2id parameters: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, lanes: 1 }
const saltLength = 16
const hashLength = 32

/** More than the cores slow each other down, and Node hashes in four threads. Node 20 does not tell its cores: 2. */
const usualParallel = (): number => Math.min(globalThis.navigator?.hardwareConcurrency ?? 2, 4)

/** Stands in for the verifier of an unknown user: computing it costs what a real one costs, and no password matches. */
const dummy: Verifier = { cost, salt: new Uint8Array(saltLength), hash: new Uint8Array(hashLength) }

/**
 * Hashes passwords with Argon2id and verifies them against any Argon2id PHC string up to 64 MiB and 10 passes. The empty
 * password cannot be hashed (throws) and never verifies, because not every Argon2 implementation takes it.
 */
export const createPasswordHasher = (options: PasswordHasherOptions = {}): PasswordHasher => {
  const enter = createTurnstile(options.parallel ?? usualParallel())
  let chosen: Promise<Argon2id> | undefined
  const derive: Argon2id = async (input) => {
    chosen ??= options.argon2id ? Promise.resolve(options.argon2id) : chooseArgon2id()
    const argon2id = await chosen
    return enter(() => argon2id(input))
  }

  return {
    hash: async (password) => {
      if (password === '') throw new Error('the empty password cannot be hashed')
      const salt = crypto.getRandomValues(new Uint8Array(saltLength))
      const hash = await derive({ password: utf8(password), salt, cost, length: hashLength })
      return writeVerifier({ cost, salt, hash })
    },
    verify: async (password, verifier) => {
      const found = verifier === undefined ? undefined : readVerifier(verifier)
      const { hash, ...parameters } = found ?? dummy
      const derived = await derive({ password: utf8(password || ' '), ...parameters, length: hash.length })
      return equalSecrets(derived, hash) && found !== undefined && password !== ''
    },
    needsRehash: (verifier) => {
      const found = readVerifier(verifier)
      if (found === undefined) return true
      const { memory, passes, lanes } = found.cost
      const isCurrentCost = memory === cost.memory && passes === cost.passes && lanes === cost.lanes
      return !isCurrentCost || found.salt.length < saltLength || found.hash.length < hashLength
    },
  }
}

const chooseArgon2id = async (): Promise<Argon2id> => (await findNativeArgon2id()) ?? wasmArgon2id

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** Whether two secrets are the same, in a time that depends on their length only. */
const equalSecrets = (a: Uint8Array, b: Uint8Array): boolean => {
  let difference = a.length ^ b.length
  for (const [at, octet] of a.entries()) difference |= octet ^ (b[at] ?? 0)
  return difference === 0
}
