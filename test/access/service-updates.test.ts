import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { lastChangeAt } from '../support/last-change-at.ts'
import { world } from '../support/world.ts'

const SECOND = 1000
const params = (id: string) => ({ params: { id } })

async function stage(options: TestControllerOptions = {}) {
  const here = await world(options)
  const web = await here.service('web', ['apps'])
  const policyId = await here.policy('people dial apps', { identityRoles: ['#people'], serviceRoles: ['#apps'] })
  const alice = await here.person('alice', ['people'])
  return { ...here, web, policyId, alice }
}

describe('GET /current-api-session/service-updates', () => {
  it('answers the start of the API session while nothing changes', async () => {
    const { alice, controller } = await stage()
    const { data } = await alice.api.call('GET /current-api-session')
    expect(await lastChangeAt(alice)).toBe(data.createdAt)
    await controller.elapse(60 * SECOND)
    expect(await lastChangeAt(alice)).toBe(data.createdAt)
  })

  it('answers the instant at which a change is noticed, and the same one from then on', async () => {
    const { admin, alice, controller, web } = await stage()
    await controller.elapse(SECOND)
    await admin.call('PATCH /services/{id}', { ...params(web), body: { name: 'renamed' } })
    await controller.elapse(SECOND)
    const noticed = await lastChangeAt(alice)
    expect(noticed).toBe(new Date(controller.clock.now()).toISOString())
    await controller.elapse(SECOND)
    expect(await lastChangeAt(alice)).toBe(noticed)
  })

  it('is different after two changes in one millisecond', async () => {
    const { admin, alice, web } = await stage()
    const instants = [await lastChangeAt(alice)]
    for (const name of ['first', 'second', 'third']) {
      await admin.call('PATCH /services/{id}', { ...params(web), body: { name } })
      instants.push(await lastChangeAt(alice))
    }
    expect(new Set(instants).size).toBe(4)
    expect([...instants].sort()).toEqual(instants)
  })

  it('moves with configs that the API session did not name: requests for the list may', async () => {
    const { admin, alice, web } = await stage()
    const kind = (await admin.call('POST /config-types', { body: { name: 'colour' } })).data.id
    const config = async (name: string) => {
      return (await admin.call('POST /configs', { body: { name, configTypeId: kind, data: {} } })).data.id
    }
    const [shared, own] = [await config('shared'), await config('own')]
    await admin.call('PATCH /services/{id}', { ...params(web), body: { configs: [shared] } })
    const override = { ...params(alice.id), body: [{ serviceId: web, configId: own }] }
    const instants = [await lastChangeAt(alice)]
    for (const change of [
      () => admin.call('PATCH /configs/{id}', { ...params(shared), body: { data: { is: 'red' } } }),
      () => admin.call('POST /identities/{id}/service-configs', override),
      () => admin.call('DELETE /identities/{id}/service-configs', override),
    ]) {
      await change()
      instants.push(await lastChangeAt(alice))
    }
    expect(new Set(instants).size).toBe(4)
  })

  type Stage = Awaited<ReturnType<typeof stage>>
  const PASSING: readonly [string, (here: Stage) => Promise<unknown>][] = [
    [
      'a policy that is made and deleted',
      async ({ admin, policy, service }) => {
        await service('db', ['databases'])
        const id = await policy('passing', { identityRoles: ['#people'], serviceRoles: ['#databases'] })
        await admin.call('DELETE /service-policies/{id}', params(id))
      },
    ],
    [
      'a policy that is narrowed and widened again',
      async ({ admin, policyId }) => {
        for (const identityRoles of [[], ['#people']])
          await admin.call('PATCH /service-policies/{id}', { ...params(policyId), body: { identityRoles } })
      },
    ],
    [
      'a policy that grants something else for a while',
      async ({ admin, policyId }) => {
        for (const type of ['Bind', 'Dial'] as const)
          await admin.call('PATCH /service-policies/{id}', { ...params(policyId), body: { type } })
      },
    ],
    [
      'role attributes of the identity that are taken and given back',
      async ({ admin, alice }) => {
        for (const roleAttributes of [[], ['people']])
          await admin.call('PATCH /identities/{id}', { ...params(alice.id), body: { roleAttributes } })
      },
    ],
    [
      'role attributes of the service that are taken and given back',
      async ({ admin, web }) => {
        for (const roleAttributes of [[], ['apps']])
          await admin.call('PATCH /services/{id}', { ...params(web), body: { roleAttributes } })
      },
    ],
    [
      'reports of the endpoint, by which nothing looks different',
      async ({ alice }) => {
        for (const domain of ['elsewhere', 'corp'])
          await alice.api.call('POST /posture-response', { body: { id: 'd', typeId: 'DOMAIN', domain } })
      },
    ],
    [
      'a service that is made and deleted',
      async ({ admin, service }) => {
        await admin.call('DELETE /services/{id}', params(await service('passing', ['apps'])))
      },
    ],
  ]

  it.each(PASSING)('%s: is told as deployed controllers do with compat alone', async (_what, change) => {
    for (const [options, isTold] of [
      [{}, false],
      [{ compat: 'openziti' }, true],
    ] as const) {
      const here = await stage(options)
      const other = await here.person('bob')
      const [before, ofOther] = [await lastChangeAt(here.alice), await lastChangeAt(other)]
      await change(here)
      const now = await lastChangeAt(here.alice)
      expect(now > before).toBe(isTold)
      expect(await lastChangeAt(here.alice)).toBe(now)
      expect(await lastChangeAt(other)).toBe(ofOther)
    }
  })

  it('a policy that another process made and deleted is told to everybody: nobody knows whom it concerned', async () => {
    const storage = memoryStorage()
    const here = await stage({ storage, compat: 'openziti' })
    const elsewhere = await createTestController({ storage, compat: 'openziti' })
    const admin = await elsewhere.asAdmin()
    const before = await lastChangeAt(here.alice)
    expect(await lastChangeAt(here.alice)).toBe(before)
    const roles = { identityRoles: ['#people'], serviceRoles: ['#all'] }
    const body = { name: 'passing', type: 'Dial' as const, semantic: 'AnyOf' as const, ...roles }
    const { id } = (await admin.call('POST /service-policies', { body })).data
    await admin.call('DELETE /service-policies/{id}', params(id))
    expect((await lastChangeAt(here.alice)) > before).toBe(true)
  })

  it('access that another policy gives meanwhile did not come and go', async () => {
    const here = await stage({ compat: 'openziti' })
    const before = await lastChangeAt(here.alice)
    const id = await here.policy('again', { identityRoles: ['#people'], serviceRoles: ['#apps'] })
    await here.admin.call('DELETE /service-policies/{id}', params(id))
    await here.admin.call('PATCH /service-policies/{id}', { ...params(here.policyId), body: { tags: { a: 'b' } } })
    expect(await lastChangeAt(here.alice)).toBe(before)
  })

  it('needs an API session', async () => {
    const { controller } = await stage()
    await expect(lastChangeAt({ id: '', apiSessionId: '', api: controller.client() })).rejects.toThrow('UNAUTHORIZED')
  })
})
