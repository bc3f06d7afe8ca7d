import type { PasswordHasher } from 'portcullis'
import { plainPasswordHasher, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { mount } from '../support/mount.ts'
import { login, type Person, person } from '../support/people.ts'
import { authenticators } from '../support/stored-records.ts'

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
})
