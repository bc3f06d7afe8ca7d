import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import { network } from '../support/network.ts'
import { authPolicy, login, person } from '../support/people.ts'

const MINUTE_MS = 60_000

/** A network that makes people whose passwords have a greatest number of attempts. */
async function attempting() {
  const { mounted, controller } = await network()
  let made = 0
  const alice = async (maxAttempts: number, lockoutDurationMinutes: number) => {
    made += 1
    // Locks last longer than the session of an admin.
    const admin = await adminOf(mounted)
    const policy = authPolicy(`locking ${made}`, { maxAttempts, lockoutDurationMinutes })
    const who = await person(mounted, admin, `alice ${made}`, {
      authPolicyId: await create(admin, '/auth-policies', policy),
    })
    const status = async (password: string) => (await login(mounted, { ...who, password })).status
    const fail = async (times: number) => {
      for (let failure = 0; failure < times; failure += 1) expect(await status('wrong-password')).toBe(401)
    }
    return { fail, isLocked: async () => (await status(who.password)) === 401 }
  }
  return { alice, clock: controller.clock }
}

describe('a password', () => {
  it.each([
    { maxAttempts: 0, failures: 1000, minutes: 5, locked: false },
    { maxAttempts: 3, failures: 2, minutes: 5, locked: false },
    { maxAttempts: 3, failures: 3, minutes: 5, locked: true },
    { maxAttempts: 3, failures: 9, minutes: 5, locked: true },
    { maxAttempts: 1, failures: 1, minutes: 0, locked: true },
  ])('of at most $maxAttempts attempts is locked after $failures failures: $locked', async (row) => {
    const { alice } = await attempting()
    const { fail, isLocked } = await alice(row.maxAttempts, row.minutes)
    await fail(row.failures)
    expect(await isLocked()).toBe(row.locked)
  })

  it.each([
    { minutes: 5, after: 5 * MINUTE_MS - 1, locked: true },
    { minutes: 5, after: 5 * MINUTE_MS, locked: false },
    { minutes: 0, after: 1000 * MINUTE_MS, locked: true },
  ])('locked for $minutes minutes is locked $after ms later: $locked', async ({ minutes, after, locked }) => {
    const { alice, clock } = await attempting()
    const { fail, isLocked } = await alice(1, minutes)
    await fail(1)
    clock.advance(after)
    expect(await isLocked()).toBe(locked)
  })

  it('has all of its attempts again when a lock has run out', async () => {
    const { alice, clock } = await attempting()
    const { fail, isLocked } = await alice(2, 1)
    await fail(2)
    expect(await isLocked()).toBe(true)
    clock.advance(MINUTE_MS)
    await fail(1)
    expect(await isLocked()).toBe(false)
    await fail(2)
    expect(await isLocked()).toBe(true)
  })

  it('stays locked to the same instant, however often it is tried meanwhile', async () => {
    const { alice, clock } = await attempting()
    const attempts = fc.integer({ min: 1, max: 9 })
    await fc.assert(
      fc.asyncProperty(attempts, fc.integer({ min: 1, max: 60 }), fc.nat(59_998), async (most, minutes, at) => {
        const { fail, isLocked } = await alice(most, minutes)
        await fail(most)
        clock.advance(at)
        await fail(most)
        clock.advance(minutes * MINUTE_MS - at - 1)
        expect(await isLocked()).toBe(true)
        clock.advance(1)
        expect(await isLocked()).toBe(false)
      }),
    )
  })
})
