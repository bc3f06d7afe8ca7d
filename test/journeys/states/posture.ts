import { expect } from 'vitest'
import { expectDone } from '../../contract/http/errors.ts'
import { create, read } from '../../contract/http/foreign-client.ts'
import { network } from '../../contract/http/scenario.ts'
import { totp } from '../../support/totp.ts'
import { elapse, HOUR_MS, MINUTE_MS, type Row, type Stage } from './stage.ts'

/** The small network with an MFA posture check that alice passes, and how she sees it. */
async function mfaCheck({ mounted }: Stage, change: object) {
  const world = await network(mounted)
  const { api } = world.alice
  await create(world.admin, '/posture-checks', { name: 'mfa', typeId: 'MFA', roleAttributes: ['required'], ...change })
  expect((await api.post('/current-identity/mfa')).status).toBe(201)
  const { provisioningUrl } = await read(api, '/current-identity/mfa')
  const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  const code = () => ({ code: totp(secret, mounted.clock.now()) })
  expectDone(await api.post('/current-identity/mfa/verify', code()))
  const passes = async () => {
    const dial = await api.post('/sessions', { serviceId: world.serviceId, type: 'Dial' })
    const [{ isPassing }] = (await read(api, `/services/${world.serviceId}`)).postureQueries
    expect(dial.status).toBe(isPassing ? 201 : 409)
    return isPassing
  }
  /** Time goes by in steps in which the session stays in use. */
  const wait = async (ms: number) => {
    for (let left = ms; left > 0; left -= 20 * MINUTE_MS) {
      await elapse(mounted, Math.min(left, 20 * MINUTE_MS))
      expect((await api.get('/current-api-session')).status).toBe(200)
    }
  }
  return { ...world, api, passes, wait, code }
}

async function grace(stage: Stage, prompt: object, event: object) {
  const { api, passes, wait, code } = await mfaCheck(stage, { timeoutSeconds: -1, ...prompt })
  expect(await passes()).toBe(true)
  const state = { id: '0', typeId: 'ENDPOINT_STATE', unlocked: false, woken: false, ...event }
  expect((await api.post('/posture-response', state)).status).toBe(201)
  expect(await passes()).toBe(true)
  await wait(5 * MINUTE_MS - 1000)
  expect(await passes()).toBe(true)
  await wait(2000)
  expect(await passes()).toBe(false)
  expectDone(await api.post('/authenticate/mfa', code()))
  expect(await passes()).toBe(true)
}

/** Posture checks, the policies that contain them, and data integrity runs. */
export const POSTURE: readonly Row[] = [
  [
    'Data integrity run',
    'idle',
    'start check or fix',
    'in progress, one at a time',
    async ({ admin }) => {
      const start = (what: string) => admin.send('POST', `/database/${what}-data-integrity`)
      const statuses = await Promise.all(['check', 'fix', 'check'].map(async (what) => (await start(what)).status))
      expect(statuses).toEqual([202, 429, 429])
    },
  ],
  [
    'MFA posture check',
    'passing',
    'unlock, if promptOnUnlock',
    'five minutes of grace, then failing until a code',
    (stage) => grace(stage, { promptOnUnlock: true }, { unlocked: true }),
  ],
  [
    'MFA posture check',
    'passing',
    'wake, if promptOnWake',
    'five minutes of grace, then failing until a code',
    (stage) => grace(stage, { promptOnWake: true }, { woken: true }),
  ],
  [
    'MFA posture check',
    'passing',
    'timeoutSeconds elapses',
    'failing',
    async (stage) => {
      const { passes, wait } = await mfaCheck(stage, { timeoutSeconds: 3600 })
      await wait(HOUR_MS - 1000)
      expect(await passes()).toBe(true)
      await wait(2000)
      expect(await passes()).toBe(false)
    },
  ],
  ...[0, -1].map(
    (timeoutSeconds): Row => [
      'MFA posture check',
      'passing',
      `timeoutSeconds ${timeoutSeconds}`,
      'passing for ever',
      async (stage) => {
        const { passes, wait } = await mfaCheck(stage, { timeoutSeconds })
        await wait(24 * HOUR_MS)
        expect(await passes()).toBe(true)
      },
    ],
  ),
  [
    'Service policy',
    'passing',
    'a contained posture check fails',
    'failing; another passing policy still grants',
    async ({ mounted }) => {
      const { admin, alice, serviceId } = await network(mounted)
      await create(admin, '/posture-checks', {
        name: 'domain',
        typeId: 'DOMAIN',
        domains: ['corp'],
        roleAttributes: ['required'],
      })
      const dial = async () => (await alice.api.post('/sessions', { serviceId, type: 'Dial' })).status
      const report = (domain: string) => alice.api.post('/posture-response', { id: '0', typeId: 'DOMAIN', domain })
      await report('corp')
      expect(await dial()).toBe(201)
      await report('elsewhere')
      expect(await dial()).toBe(409)
      expect((await alice.api.get('/sessions')).body.data).toEqual([])
      const roles = { identityRoles: ['#people'], serviceRoles: ['#apps'] }
      await create(admin, '/service-policies', { name: 'second', type: 'Dial', semantic: 'AnyOf', ...roles })
      expect(await dial()).toBe(201)
    },
  ],
]
