import { argon2Sync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// Internals: the real password hasher, with an Argon2 that counts or is slow.
import {
  type Argon2id,
  createPasswordHasher,
  findNativeArgon2id,
  wasmArgon2id,
} from '../../src/platform/argon2-password-hasher.ts'
import { REFUSED, refusedPeople, WRONG } from '../attacks/refused-people.ts'
import { adminOf, CLIENT, foreignClient } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { login, person } from '../support/people.ts'
import { authenticators } from '../support/stored-records.ts'

/** A password as a deployed controller keeps it: base64 of the hash and of a salt of ten octets. */
function deployed(password: string) {
  const nonce = Buffer.from('0123456789')
  const parameters = { memory: 3 * 1024, passes: 1, parallelism: 4, tagLength: 32 }
  const hash = argon2Sync('argon2id', { message: password, nonce, ...parameters })
  return { password: hash.toString('base64'), salt: nonce.toString('base64') }
}

/** The PHC string of what a deployed controller keeps. */
function phc({ password, salt }: ReturnType<typeof deployed>): string {
  return `$argon2id$v=19$m=3072,t=1,p=4$${salt.replaceAll('=', '')}$${password.replaceAll('=', '')}`
}

describe('A3: a refused login', () => {
  const costs: object[] = []
  let people: Awaited<ReturnType<typeof refusedPeople>>
  beforeAll(async () => {
    const argon2id = (await findNativeArgon2id()) ?? wasmArgon2id
    const passwordHasher = createPasswordHasher({
      argon2id: (input) => {
        costs.push({ ...input.cost, length: input.length, salt: input.salt.length })
        return argon2id(input)
      },
    })
    people = await refusedPeople({ passwordHasher })
  })
  afterAll(() => people.dispose())

  it.each(REFUSED)('(%s) costs one hash at the parameters of a real one', async (username) => {
    costs.length = 0
    expect((await login(people, { username, password: WRONG })).status).toBe(401)
    expect(costs).toEqual([{ memory: 19_456, passes: 2, lanes: 1, length: 32, salt: 16 }])
  })
})

/** Hashes that end when they are told to, and how many ran at once. */
function heldHashes() {
  const state = { running: 0, most: 0, total: 0 }
  const argon2id: Argon2id = async ({ length }) => {
    state.running += 1
    state.total += 1
    state.most = Math.max(state.most, state.running)
    // Long enough for everything else that is ready to run before it.
    await new Promise((resolve) => setImmediate(resolve))
    state.running -= 1
    return new Uint8Array(length)
  }
  return { state, passwordHasher: createPasswordHasher({ argon2id, parallel: 2 }) }
}

describe('A5: 500 logins at once', () => {
  it('hash two at a time, while others are served, and none fails but by its password', async () => {
    const { state, passwordHasher } = heldHashes()
    const mounted = await mount({ passwordHasher })
    const flood = Array.from({ length: 500 }, (_, n) =>
      login(mounted, { username: `user-${n}`, password: 'wrong-one' }),
    )
    const served = await foreignClient(mounted, CLIENT).get('/version')
    expect([served.status, state.total < 500]).toEqual([200, true])
    expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([401]))
    expect(state.most).toBe(2)
  })

  it('of one username are answered 429 beyond the limit, without hashing', async () => {
    const { state, passwordHasher } = heldHashes()
    const rateLimits = { passwordsByUsername: { limit: 20, windowMs: 60_000 } }
    const mounted = await mount({ passwordHasher, rateLimits })
    const before = state.total
    const wrong = { username: 'somebody', password: 'wrong-one' }
    const answers = await Promise.all(Array.from({ length: 500 }, () => login(mounted, wrong)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(480)
    for (const { headers } of refused) expect(headers.get('retry-after')).toBe('60')
    expect(state.total - before).toBe(20)
  })
})

/** Hashes that run one at a time, and from `hold` to `release` not at all. */
function steppedHashes() {
  const held: PromiseWithResolvers<void>[] = []
  const argon2id: Argon2id = async ({ length }) => {
    await held.at(-1)?.promise
    return new Uint8Array(length)
  }
  const hold = () => void held.push(Promise.withResolvers())
  const release = () => held.at(-1)?.resolve()
  const hasher = createPasswordHasher({ argon2id, parallel: 1 })
  let asked = 0
  const all = Promise.withResolvers<void>()
  const verify: typeof hasher.verify = (...judged) => {
    asked += 1
    if (asked === LOGINS) all.resolve()
    return hasher.verify(...judged)
  }
  return { hold, release, everyoneAsked: all.promise, passwordHasher: { ...hasher, verify } }
}

/** A thousand that wait, one that is judged, one too many, and one from another network. */
const LOGINS = 1003

describe('a flood of logins from one network', () => {
  const logins = (mounted: Awaited<ReturnType<typeof mount>>) => (remoteAddress: string, username: string) => {
    const path = `https://controller.test:1280${CLIENT}/authenticate?method=password`
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ username, password: 'wrong-one' })
    return mounted.controller.fetch(new Request(path, { method: 'POST', headers, body }), { remoteAddress })
  }

  it('delays a login from another network by one hash, and ends at a thousand that wait', async () => {
    const { hold, release, everyoneAsked, passwordHasher } = steppedHashes()
    const mounted = await mount({ passwordHasher })
    hold()
    const from = logins(mounted)
    const order: string[] = []
    const told = async (address: string, username: string) => {
      const { status, headers } = await from(address, username)
      order.push(address)
      return [status, headers.get('retry-after')]
    }
    const flood = Array.from({ length: LOGINS - 1 }, (_, n) => told('192.0.2.1', `user-${n}`))
    const refused = await Promise.race(flood)
    expect(refused).toEqual([429, '1'])
    const other = told('198.51.100.7', 'somebody')
    await everyoneAsked
    release()
    expect(await other).toEqual([401, null])
    expect(order.length).toBeLessThan(20)
    expect((await Promise.all(flood)).filter(([status]) => status === 429)).toHaveLength(1)
  })
})

describe('a verifier of a deployed controller', () => {
  it('lets in, and is replaced', async () => {
    const mounted = await mount({ passwordHasher: createPasswordHasher() })
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const stored = async () => {
      const { items } = await mounted.controller.storage.read((tx) => tx.collection(authenticators).find())
      return items.find(({ username }) => username === alice.username) ?? expect.fail()
    }
    const before = await stored()
    const passwordHash = phc(deployed(alice.password))
    await mounted.controller.storage.write((tx) => tx.collection(authenticators).update({ ...before, passwordHash }))
    expect((await login(mounted, { ...alice, password: `${alice.password}!` })).status).toBe(401)
    expect((await login(mounted, alice)).status).toBe(200)
    expect((await stored()).passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect((await login(mounted, alice)).status).toBe(200)
  })
})

describe('a verifier', () => {
  const { needsRehash } = createPasswordHasher()
  it.each([
    ['of a deployed controller', phc(deployed('secret')), true],
    ['of less memory', `$argon2id$v=19$m=9728,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, true],
    ['with a short salt', `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(14)}$${'A'.repeat(43)}`, true],
    ['with a short hash', `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(22)}`, true],
    ['of another scheme', '$2b$10$abcdefghijklmnopqrstuv', true],
    ['as they are made now', `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`, false],
  ])('%s is outdated: %s', (_what, verifier, expected) => expect(needsRehash(verifier)).toBe(expected))
})
