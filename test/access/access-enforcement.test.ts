import type { Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'
import { servicePolicies } from '../support/stored-records.ts'
import { type Person, type World, world } from '../support/world.ts'

interface Staged extends World {
  readonly alice: Person
  readonly bob: Person
  readonly web: string
  readonly policyId: string
  readonly session: string
}

/** alice and bob may dial web by one policy, and both do. */
async function stage(options?: TestControllerOptions): Promise<Staged> {
  const here = await world(options)
  const web = await here.service('web', ['apps'])
  const policyId = await here.policy('people dial apps', {
    identityRoles: ['#people', '#staff'],
    serviceRoles: ['#apps'],
  })
  const alice = await here.person('alice', ['people', 'staff'])
  const bob = await here.person('bob', ['people'])
  const session = await here.open(alice, web)
  await here.open(bob, web)
  return { ...here, alice, bob, web, policyId, session }
}

const params = (id: string) => ({ params: { id } })

describe('a session ends, before the change is answered, when', () => {
  it.each<readonly [string, (here: Staged) => Promise<unknown>, 'alice' | 'bob' | 'both', string]>([
    [
      'its identity loses the role attribute',
      ({ admin, alice }) => admin.call('PATCH /identities/{id}', { ...params(alice.id), body: { roleAttributes: [] } }),
      'alice',
      'access-lost',
    ],
    [
      'its service loses the role attribute',
      ({ admin, web }) => admin.call('PATCH /services/{id}', { ...params(web), body: { roleAttributes: [] } }),
      'both',
      'access-lost',
    ],
    [
      'its service policy is deleted',
      ({ admin, policyId }) => admin.call('DELETE /service-policies/{id}', params(policyId)),
      'both',
      'access-lost',
    ],
    [
      'its service policy selects others',
      ({ admin, policyId, bob }) =>
        admin.call('PATCH /service-policies/{id}', { ...params(policyId), body: { identityRoles: [`@${bob.id}`] } }),
      'alice',
      'access-lost',
    ],
    [
      'only the semantic of its service policy changes',
      ({ admin, policyId }) =>
        admin.call('PATCH /service-policies/{id}', { ...params(policyId), body: { semantic: 'AllOf' } }),
      'bob',
      'access-lost',
    ],
    [
      'only the type of its service policy changes',
      ({ admin, policyId }) =>
        admin.call('PATCH /service-policies/{id}', { ...params(policyId), body: { type: 'Bind' } }),
      'both',
      'access-lost',
    ],
    [
      'its service policy asks for a posture check that fails',
      async ({ admin, policyId, domainCheck }) => {
        await domainCheck('domain', ['strict'], 'corp')
        const body = { postureCheckRoles: ['#strict'] }
        await admin.call('PATCH /service-policies/{id}', { ...params(policyId), body })
      },
      'both',
      'posture-failed',
    ],
    [
      'its service is deleted',
      ({ admin, web }) => admin.call('DELETE /services/{id}', params(web)),
      'both',
      'service-deleted',
    ],
    [
      'its identity is deleted',
      ({ admin, alice }) => admin.call('DELETE /identities/{id}', params(alice.id)),
      'alice',
      'api-session-ended',
    ],
    [
      'its API session ends',
      ({ alice }) => alice.api.call('DELETE /current-api-session'),
      'alice',
      'api-session-ended',
    ],
  ])('%s', async (_, change, whose, reason) => {
    const here = await stage()
    const ended = here.heard('session.ended')
    const before = await here.sessions()
    await change(here)
    const left = await here.sessions()
    const kept = { alice: before.filter((id) => id !== here.session), bob: [here.session], both: [] }
    expect(left).toEqual(kept[whose])
    expect(ended.map(({ sessionId }) => sessionId).sort()).toEqual(before.filter((id) => !left.includes(id)))
    expect(new Set(ended.map((event) => event.reason))).toEqual(new Set([reason]))
  })

  it('a posture check that it relies on becomes stricter', async () => {
    const here = await stage()
    const check = await here.domainCheck('domain', ['strict'], 'corp')
    const report = (domain: string) =>
      here.alice.api.call('POST /posture-response', { body: { id: check, typeId: 'DOMAIN', domain } })
    await report('corp')
    const vault = await here.service('vault')
    await here.policy('vault', { identityRoles: ['#all'], serviceRoles: [`@${vault}`], postureCheckRoles: ['#strict'] })
    const session = await here.open(here.alice, vault)
    await here.admin.call('PATCH /posture-checks/{id}', {
      ...params(check),
      body: { typeId: 'DOMAIN', name: 'renamed' },
    })
    expect(await here.sessions()).toContain(session)
    await here.admin.call('PATCH /posture-checks/{id}', {
      ...params(check),
      body: { typeId: 'DOMAIN', domains: ['other'] },
    })
    expect(await here.sessions()).not.toContain(session)
    await report('other')
    const again = await here.open(here.alice, vault)
    await report('elsewhere')
    expect(await here.sessions()).not.toContain(again)
    expect(await here.sessions()).toContain(here.session)
  })
})

describe('a session goes on when', () => {
  it('another service policy still carries it, and says which', async () => {
    const here = await stage()
    const second = await here.policy('second', { identityRoles: ['#staff'], serviceRoles: ['#apps'] })
    await here.admin.call('DELETE /service-policies/{id}', params(here.policyId))
    expect(await here.sessions()).toEqual([here.session])
    const { data } = await here.alice.api.call('GET /sessions/{id}', params(here.session))
    expect(data.servicePolicies.map(({ id }) => id)).toEqual([second])
  })

  it('what changed concerns others', async () => {
    const here = await stage()
    const before = await here.sessions()
    const other = await here.service('other')
    const policyId = await here.policy('other', { identityRoles: [`@${here.bob.id}`], serviceRoles: [`@${other}`] })
    await here.admin.call('DELETE /service-policies/{id}', params(policyId))
    await here.admin.call('PATCH /identities/{id}', { ...params(here.alice.id), body: { roleAttributes: ['people'] } })
    expect(await here.sessions()).toEqual(before)
  })
})

it('a change that cannot be enforced at once is enforced a minute later', async () => {
  const memory = memoryStorage()
  let isAway = false
  let goesAway = false
  const storage: Storage = {
    ...memory,
    async write(work) {
      if (isAway) throw new Error('the storage is away')
      const answer = await memory.write(work)
      isAway = goesAway
      return answer
    },
  }
  const here = await stage({ storage })
  await here.admin.call('GET /service-policies/{id}', params(here.policyId))
  // Right after the commit of the change.
  goesAway = true
  await expect(here.admin.call('DELETE /service-policies/{id}', params(here.policyId))).rejects.toThrow('UNHANDLED')
  expect(await here.sessions()).toHaveLength(2)
  await here.controller.elapse(60_000)
  expect(await here.sessions()).toHaveLength(2)
  isAway = false
  goesAway = false
  await here.controller.elapse(60_000)
  expect(await here.sessions()).toEqual([])
})

it('a restart judges the sessions of its store, so that one left by a crash does not outlive it', async () => {
  const storage = memoryStorage()
  const here = await stage({ storage })
  // The state that a crash right after the commit of a change leaves: the change without its consequence.
  await storage.write((tx) => tx.collection(servicePolicies).delete(here.policyId))
  expect(await here.sessions()).toHaveLength(2)
  const next = await createTestController(await withSharedPki({ storage, now: here.controller.clock.now() }))
  onTestFinished(() => next.close())
  expect(await here.sessions()).toEqual([])
})
