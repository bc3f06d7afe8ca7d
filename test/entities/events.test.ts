import type { ControllerEvents, EventName } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import { enroll } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'
import { type Person, type World, world } from '../support/world.ts'

const MINUTE = 60_000
const params = (id: string) => ({ params: { id } })

interface Staged extends World {
  readonly alice: Person
  readonly web: string
}

async function stage(): Promise<Staged> {
  const here = await world()
  const web = await here.service('web', ['apps'])
  await here.policy('people dial apps', { identityRoles: ['#people'], serviceRoles: ['#apps'] })
  return { ...here, web, alice: await here.person('alice', ['people']) }
}

const NAMES: readonly EventName[] = [
  'api-session.started',
  'api-session.refreshed',
  'api-session.ended',
  'session.created',
  'session.ended',
  'posture.changed',
  'access.changed',
  'service.refused',
]

/** The names and chosen members of what is told while `work` is done, in order. */
async function told(here: Staged, work: () => Promise<unknown>): Promise<readonly string[]> {
  const heard: string[] = []
  for (const name of NAMES) {
    here.controller.events.on(name, (event) => {
      const { reason, change, type } = { reason: '', change: '', type: '', ...event }
      heard.push([name, reason, change, type].filter((part) => part !== '').join(' '))
    })
  }
  await work()
  return heard
}

describe('listeners are told, after the commit and in order', () => {
  it.each<readonly [string, (here: Staged) => Promise<unknown>, readonly string[]]>([
    ['a login', ({ login, alice }) => login('alice', alice.id), ['api-session.started']],
    [
      'a logout with the sessions that end by it',
      async ({ alice, web, open }) => {
        await open(alice, web)
        await alice.api.call('DELETE /current-api-session')
      },
      ['session.created Dial', 'api-session.ended logout', 'session.ended api-session-ended Dial'],
    ],
    [
      'use that keeps an API session alive, once a minute',
      async ({ alice, controller }) => {
        for (let half = 0; half < 4; half += 1) {
          await controller.elapse(MINUTE / 2)
          await alice.api.call('GET /current-api-session')
        }
      },
      ['api-session.refreshed', 'api-session.refreshed'],
    ],
    [
      'the deletion of an identity',
      async ({ alice, web, open, admin }) => {
        await open(alice, web)
        await admin.call('DELETE /identities/{id}', params(alice.id))
      },
      ['session.created Dial', 'api-session.ended identity-deleted', 'session.ended api-session-ended Dial'],
    ],
    [
      'a session that its holder gives up',
      async ({ alice, web, open }) => {
        const id = await open(alice, web)
        await alice.api.call('DELETE /sessions/{id}', params(id))
      },
      ['session.created Dial', 'session.ended removed Dial'],
    ],
    [
      'what role attributes take and give back',
      async ({ alice, web, open, admin }) => {
        await open(alice, web)
        for (const roleAttributes of [[], ['people'], ['people', 'idle']]) {
          await admin.call('PATCH /identities/{id}', { ...params(alice.id), body: { roleAttributes } })
        }
      },
      [
        'session.created Dial',
        'access.changed lost Dial',
        'session.ended access-lost Dial',
        'access.changed gained Dial',
      ],
    ],
    [
      'that a service lost its role attribute, to whoever used it',
      async ({ alice, web, open, admin }) => {
        await open(alice, web)
        await admin.call('PATCH /services/{id}', { ...params(web), body: { roleAttributes: [] } })
      },
      ['session.created Dial', 'session.ended access-lost Dial', 'access.changed lost Dial'],
    ],
    [
      'a report, and a request that posture refuses',
      async ({ alice, open, service, policy, domainCheck }) => {
        const check = await domainCheck('domain', ['strict'], 'corp')
        const vault = await service('vault')
        const roles = { identityRoles: ['#all'], serviceRoles: [`@${vault}`], postureCheckRoles: ['#strict'] }
        await policy('vault', roles)
        await alice.api.call('POST /posture-response', { body: { id: check, typeId: 'DOMAIN', domain: 'home' } })
        await expect(open(alice, vault)).rejects.toThrow('INVALID_POSTURE')
      },
      ['posture.changed', 'service.refused Dial'],
    ],
  ])('%s', async (_, work, expected) => {
    const here = await stage()
    expect(await told(here, () => work(here))).toEqual(expected)
  })

  it('an enrollment that was completed, and none that was withdrawn', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const heard: ControllerEvents['enrollment.completed'][] = []
    mounted.controller.events.on('enrollment.completed', (event) => heard.push(event))
    const withdrawn = await create(admin, '/identities', {
      name: 'withdrawn',
      type: 'User',
      isAdmin: false,
      enrollment: { ott: true },
    })
    await admin.delete(`/identities/${withdrawn}`)
    const { id } = await enroll(mounted, admin, { name: 'laptop' })
    expect(heard).toMatchObject([{ method: 'ott', identityId: id, edgeRouterId: undefined }])
  })

  it('however a listener fails', async () => {
    const here = await stage()
    here.controller.events.on('session.created', () => {
      throw new Error('a listener that fails')
    })
    const heard = here.heard('session.created')
    const sessionId = await here.open(here.alice, here.web)
    const { apiSessionId, id: identityId } = here.alice
    const at = here.controller.clock.now()
    expect(heard).toEqual([{ sessionId, apiSessionId, identityId, serviceId: here.web, type: 'Dial', at }])
  })

  it('and nothing of a change that is refused', async () => {
    const here = await stage()
    const heard = here.heard('entity.changed')
    const body = { name: 'web' }
    await expect(here.admin.call('POST /services', { body })).rejects.toThrow('COULD_NOT_VALIDATE')
    expect(heard).toEqual([])
  })
})
