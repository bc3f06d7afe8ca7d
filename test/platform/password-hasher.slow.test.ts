import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import {
  type Argon2id,
  createPasswordHasher,
  findNativeArgon2id,
  readVerifier,
  wasmArgon2id,
  writeVerifier,
} from '../../src/platform/argon2-password-hasher.ts'

const native = await findNativeArgon2id()
if (native === undefined) throw new Error('these tests compare with crypto.argon2, which needs Node 24.7 or later')

const counting = (argon2id: Argon2id) => {
  const costs: unknown[] = []
  const counted: Argon2id = (input) => {
    costs.push({ ...input.cost, length: input.length, salt: input.salt.length })
    return argon2id(input)
  }
  return { costs, argon2id: counted }
}

const implementations: [string, Argon2id][] = [
  ['crypto.argon2', native],
  ['hash-wasm', wasmArgon2id],
]

describe.each(implementations)('password hasher with %s', (_, argon2id) => {
  const hasher = createPasswordHasher({ argon2id })

  it('makes PHC strings at the OWASP parameters with a salt of their own', async () => {
    const [first, second] = await Promise.all([hasher.hash('secret'), hasher.hash('secret')])
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(second).not.toBe(first)
  })

  it.each(['secret', 'pässwörd ', '🔑'.repeat(25)])('verifies %j and nothing else', async (password) => {
    const verifier = await hasher.hash(password)
    expect(await hasher.verify(password, verifier)).toBe(true)
    expect(await hasher.verify(`${password} `, verifier)).toBe(false)
    expect(await hasher.verify('', verifier)).toBe(false)
  })

  it.each(implementations)('verifies what %s made', async (_name, other) => {
    const verifier = await createPasswordHasher({ argon2id: other }).hash('secret')
    expect(await hasher.verify('secret', verifier)).toBe(true)
    expect(await hasher.verify('Secret', verifier)).toBe(false)
  })

  it.each([
    { memory: 8, passes: 1, lanes: 1 },
    { memory: 4096, passes: 3, lanes: 4 },
    { memory: 65_536, passes: 1, lanes: 2 },
  ])('verifies other parameters: $memory KiB, $passes passes, $lanes lanes', async (cost) => {
    const salt = new TextEncoder().encode('a salt of 16 oct')
    const hash = await native({ password: new TextEncoder().encode('secret'), salt, cost, length: 24 })
    expect(await hasher.verify('secret', writeVerifier({ cost, salt, hash }))).toBe(true)
    expect(await hasher.verify('wrong', writeVerifier({ cost, salt, hash }))).toBe(false)
  })
})

describe('password hasher', () => {
  const salted = 'c29tZXNhbHRzb21lc2FsdA'
  const hashed = 'A'.repeat(43)

  it.each([
    ['no verifier', undefined],
    ['an empty verifier', ''],
    ['another scheme', '$2b$10$abcdefghijklmnopqrstuv'],
    ['argon2i', `$argon2i$v=19$m=19456,t=2,p=1$${salted}$${hashed}`],
    ['version 16', `$argon2id$v=16$m=19456,t=2,p=1$${salted}$${hashed}`],
    ['more than 64 MiB', `$argon2id$v=19$m=65537,t=2,p=1$${salted}$${hashed}`],
    ['more than 10 passes', `$argon2id$v=19$m=19456,t=11,p=1$${salted}$${hashed}`],
    ['no pass', `$argon2id$v=19$m=19456,t=0,p=1$${salted}$${hashed}`],
    ['too little memory for its lanes', `$argon2id$v=19$m=15,t=2,p=2$${salted}$${hashed}`],
    ['a hash that is not base64', `$argon2id$v=19$m=19456,t=2,p=1$${salted}$${'A'.repeat(45)}`],
  ])('spends the cost of a real verifier and refuses with %s', async (_, verifier) => {
    const real = counting(native)
    await createPasswordHasher(real).verify('secret', await createPasswordHasher().hash('secret'))
    const absent = counting(native)
    expect(await createPasswordHasher(absent).verify('secret', verifier)).toBe(false)
    expect(absent.costs).toEqual(real.costs)
  })

  it('neither hashes nor verifies the empty password, not even against the hash of a space', async () => {
    const hasher = createPasswordHasher()
    await expect(hasher.hash('')).rejects.toThrow('the empty password cannot be hashed')
    expect(await hasher.verify('', await hasher.hash(' '))).toBe(false)
  })

  it('does not accept a password whose hash is the dummy hash', async () => {
    const zeros: Argon2id = async ({ length }) => new Uint8Array(length)
    expect(await createPasswordHasher({ argon2id: zeros }).verify('secret', undefined)).toBe(false)
  })

  it('runs at most `parallel` hashes at once, by default as many as there are cores, but four', async () => {
    for (const [options, most] of [
      [{}, Math.min(globalThis.navigator?.hardwareConcurrency ?? 2, 4)],
      [{ parallel: 3 }, 3],
    ] as const) {
      let running = 0
      let peak = 0
      const argon2id: Argon2id = async ({ length }) => {
        running += 1
        peak = Math.max(peak, running)
        await new Promise((resolve) => setTimeout(resolve, 2))
        running -= 1
        return new Uint8Array(length)
      }
      const hasher = createPasswordHasher({ ...options, argon2id })
      await Promise.all(Array.from({ length: 12 }, () => hasher.hash('secret')))
      expect(peak).toBe(most)
    }
  })
})

describe('verifier text', () => {
  it('survives a round trip', () => {
    const verifier = {
      cost: { memory: 19_456, passes: 2, lanes: 1 },
      salt: new Uint8Array(16).fill(7),
      hash: new Uint8Array(32).fill(9),
    }
    expect(readVerifier(writeVerifier(verifier))).toEqual(verifier)
  })
})
