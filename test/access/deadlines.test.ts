import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { type MfaRule, type Person, type World, world } from '../support/world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

interface Staged extends World {
  readonly alice: Person
  readonly vault: string
  readonly checkId: string
}

/** alice may dial the vault while her second factor holds, and proved it now. */
async function stage(rule: MfaRule, options?: TestControllerOptions): Promise<Staged> {
  const here = await world(options)
  const checkId = await here.mfaCheck('mfa', ['mfa'], rule)
  const vault = await here.service('vault')
  const roles = { identityRoles: ['#all'], serviceRoles: [`@${vault}`], postureCheckRoles: ['#mfa'] }
  await here.policy('vault', roles)
  const alice = await here.person('alice')
  await here.passMfa(alice)
  return { ...here, alice, vault, checkId }
}

const endpoint =
  (event: { unlocked?: boolean; woken?: boolean }) =>
  async ({ alice }: Staged) => {
    await alice.api.call('POST /posture-response', { body: { id: '0', typeId: 'ENDPOINT_STATE', ...event } })
  }
const unlock = endpoint({ unlocked: true })
const wake = endpoint({ woken: true })
const code = ({ passMfa, alice }: Staged) => passMfa(alice)
const nothing = async () => undefined

async function isPassing({ alice, vault }: Staged): Promise<boolean> {
  const { data } = await alice.api.call('GET /services/{id}', { params: { id: vault } })
  return data.postureQueries.some((policy) => policy.isPassing)
}

type Event = (here: Staged) => Promise<unknown>

describe('MFA posture check: passing', () => {
  it.each<readonly [string, MfaRule, Event, Event, number]>([
    ['unlock, if promptOnUnlock: five minutes', { promptOnUnlock: true }, unlock, nothing, 300],
    ['unlock, without promptOnUnlock: goes on', { promptOnWake: true }, unlock, nothing, Infinity],
    ['wake, if promptOnWake: five minutes', { promptOnWake: true }, wake, nothing, 300],
    ['wake, without promptOnWake: goes on', { promptOnUnlock: true }, wake, nothing, Infinity],
    ['timeout of timeoutSeconds', { timeoutSeconds: 60 }, nothing, nothing, 60],
    ['timeoutSeconds 0: no timeout', { timeoutSeconds: 0 }, nothing, nothing, Infinity],
    ['timeoutSeconds -1: no timeout', { timeoutSeconds: -1 }, nothing, nothing, Infinity],
    ['timeout before the grace ends', { timeoutSeconds: 60, promptOnWake: true }, wake, nothing, 60],
    ['grace before the timeout', { timeoutSeconds: 900, promptOnWake: true }, wake, nothing, 300],
    ['a valid code ends the grace', { promptOnUnlock: true }, unlock, code, Infinity],
    ['a valid code begins the timeout anew', { timeoutSeconds: 60 }, nothing, code, 90],
    ['a second wake does not lengthen the grace', { promptOnWake: true }, wake, wake, 300],
  ])('%s', async (_, rule, event, after30Seconds, failsAfter) => {
    const here = await stage(rule)
    const session = await here.open(here.alice, here.vault)
    const ended = here.heard('session.ended')
    await event(here)
    await here.controller.elapse(30 * SECOND)
    await after30Seconds(here)
    if (failsAfter === Infinity) {
      await here.controller.elapse(20 * MINUTE)
      expect([await isPassing(here), await here.sessions()]).toEqual([true, [session]])
      return
    }
    await here.controller.elapse((failsAfter - 30) * SECOND - 1)
    expect([await isPassing(here), await here.sessions()]).toEqual([true, [session]])
    await here.controller.elapse(1)
    expect(await here.sessions()).toEqual([])
    expect(ended).toMatchObject([{ sessionId: session, reason: 'posture-failed', at: here.controller.clock.now() }])
    expect(await isPassing(here)).toBe(false)
    await expect(here.open(here.alice, here.vault)).rejects.toThrow('INVALID_POSTURE')
    await code(here)
    expect(await isPassing(here)).toBe(true)
    expect(await here.open(here.alice, here.vault)).not.toBe(session)
  })

  it('a timeout fails its own MFA check alone', async () => {
    const here = await stage({ timeoutSeconds: 60 })
    await here.mfaCheck('patient', ['patient'], { timeoutSeconds: 600 })
    const archive = await here.service('archive')
    const roles = { identityRoles: ['#all'], serviceRoles: [`@${archive}`], postureCheckRoles: ['#patient'] }
    await here.policy('archive', roles)
    await here.open(here.alice, here.vault)
    const patient = await here.open(here.alice, archive)
    await here.controller.elapse(MINUTE)
    expect(await here.sessions()).toEqual([patient])
    await expect(here.open(here.alice, here.vault)).rejects.toThrow('INVALID_POSTURE')
    expect(await here.open(here.alice, archive)).toBe(patient)
    await here.controller.elapse(9 * MINUTE)
    expect(await here.sessions()).toEqual([])
    await expect(here.open(here.alice, archive)).rejects.toThrow('INVALID_POSTURE')
  })

  it('a session goes on by another policy, and ends by its own when that is gone', async () => {
    const here = await stage({ timeoutSeconds: 60 })
    const open = await here.policy('open', { identityRoles: ['#all'], serviceRoles: [`@${here.vault}`] })
    const session = await here.open(here.alice, here.vault)
    await here.controller.elapse(2 * MINUTE)
    expect(await here.sessions()).toEqual([session])
    await here.admin.call('DELETE /service-policies/{id}', { params: { id: open } })
    expect(await here.sessions()).toEqual([])
  })

  it('a deadline that lies beyond a restart is kept', async () => {
    const storage = memoryStorage()
    const here = await stage({ timeoutSeconds: 60 }, { storage })
    await here.open(here.alice, here.vault)
    const next = await createTestController({ storage, now: here.controller.clock.now() })
    expect(await here.sessions()).toHaveLength(1)
    await next.elapse(MINUTE)
    expect(await here.sessions()).toEqual([])
  })
})

describe('an API session', () => {
  it('that nobody uses ends at the idle timeout, with its sessions', async () => {
    const here = await stage({})
    await here.open(here.alice, here.vault)
    const ended = here.heard('api-session.ended')
    await here.controller.elapse(20 * MINUTE)
    await here.alice.api.call('GET /current-api-session')
    await here.controller.elapse(30 * MINUTE - 1)
    expect(await here.sessions()).toHaveLength(1)
    await here.controller.elapse(1)
    expect(await here.sessions()).toEqual([])
    expect(ended.map(({ apiSessionId, reason }) => [apiSessionId, reason])).toContainEqual([
      here.alice.apiSessionId,
      'timeout',
    ])
    const { data } = await (await here.controller.asAdmin()).call('GET /identities/{id}/posture-data', {
      params: { id: here.alice.id },
    })
    expect(data.apiSessionPostureData).toEqual({})
  })
})
