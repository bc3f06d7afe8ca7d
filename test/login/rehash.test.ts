import { argon2Sync } from 'node:crypto'
import type { PasswordHasher } from 'portcullis'
import { plainPasswordHasher, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
// Internals: the real password hasher, with an Argon2 that counts or is slow.
import { createPasswordHasher } from '../../src/platform/argon2-password-hasher.ts'
import { adminOf } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { mount } from '../support/mount.ts'
import { login, type Person, person } from '../support/people.ts'
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

/** Verifiers that begin with `old:` are outdated. */
const ageing: PasswordHasher = {
  ...plainPasswordHasher,
  verify: async (password, verifier) => [`plain:${password}`, `old:${password}`].includes(verifier ?? ''),
}

async function scene(verifier: (password: string) => string, options: TestControllerOptions = {}) {
  const mounted = await mount({ passwordHasher: ageing, ...options })
  const alice = await person(mounted, await adminOf(mounted), 'alice')
  await setVerifier(mounted, alice, verifier(alice.password))
  return { mounted, alice }
}

async function authenticatorOf(mounted: MountedController, { username }: Person) {
  const { items } = await mounted.controller.storage.read((tx) => tx.collection(authenticators).find())
  const found = items.find((one) => one.username === username)
  if (found === undefined) throw new Error(`no authenticator of ${username}`)
  return found
}

async function setVerifier(mounted: MountedController, who: Person, passwordHash: string): Promise<void> {
  const found = await authenticatorOf(mounted, who)
  const { storage } = mounted.controller
  await storage.write((tx) => tx.collection(authenticators).update({ ...found, passwordHash }))
}

describe('a login with an outdated verifier', () => {
  it('stores a fresh one', async () => {
    const { mounted, alice } = await scene((password) => `old:${password}`)
    expect((await login(mounted, alice)).status).toBe(200)
    expect((await authenticatorOf(mounted, alice)).passwordHash).toBe(`plain:${alice.password}`)
    expect((await login(mounted, alice)).status).toBe(200)
  })

  it('that fails stores none', async () => {
    const { mounted, alice } = await scene((password) => `old:${password}`)
    expect((await login(mounted, { ...alice, password: 'wrong-password' })).status).toBe(401)
    expect((await authenticatorOf(mounted, alice)).passwordHash).toBe(`old:${alice.password}`)
  })

  it('succeeds for each of many at once', async () => {
    const { mounted, alice } = await scene((password) => `old:${password}`)
    const answers = await Promise.all(Array.from({ length: 30 }, () => login(mounted, alice)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await authenticatorOf(mounted, alice)).passwordHash).toBe(`plain:${alice.password}`)
  })

  it('does not bring an old password back that is changed while it is hashed', async () => {
    let meanwhile = async () => {}
    const passwordHasher: PasswordHasher = {
      ...ageing,
      hash: async (password) => {
        await meanwhile()
        return plainPasswordHasher.hash(password)
      },
    }
    const { mounted, alice } = await scene((password) => `old:${password}`, { passwordHasher })
    meanwhile = () => setVerifier(mounted, alice, 'plain:another-password')
    expect((await login(mounted, alice)).status).toBe(401)
    expect((await authenticatorOf(mounted, alice)).passwordHash).toBe('plain:another-password')
  })

  it('leaves one that is up to date', async () => {
    const { mounted, alice } = await scene((password) => `plain:${password}`)
    const before = await authenticatorOf(mounted, alice)
    expect((await login(mounted, alice)).status).toBe(200)
    expect(await authenticatorOf(mounted, alice)).toEqual(before)
  })

  it('takes what deployed controllers keep, and replaces it', async () => {
    const { mounted, alice } = await scene((password) => phc(deployed(password)), {
      passwordHasher: createPasswordHasher(),
    })
    expect((await login(mounted, { ...alice, password: `${alice.password}!` })).status).toBe(401)
    expect((await login(mounted, alice)).status).toBe(200)
    expect((await authenticatorOf(mounted, alice)).passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
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
