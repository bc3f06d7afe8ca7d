import { SYSTEM_CALL } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'
import { world } from '../support/world.ts'

/** Alice and Bob may dial web from the domain, and the vault within an hour of a second factor. */
async function scene() {
  const there = await world()
  const api = ownApi(there.controller, await adminToken(there.controller))
  const alice = await there.person('alice', ['users'])
  const bob = await there.person('bob', ['users'])
  const web = await there.service('web', ['web'])
  const vault = await there.service('vault', ['vault'])
  await there.domainCheck('corp', ['corp'], 'corp.example')
  await there.mfaCheck('fresh', ['fresh'], { timeoutSeconds: 3600 })
  await there.policy('web', { identityRoles: ['#users'], serviceRoles: ['#web'], postureCheckRoles: ['#corp'] })
  await there.policy('vault', { identityRoles: ['#users'], serviceRoles: ['#vault'], postureCheckRoles: ['#fresh'] })
  return { ...there, api, alice, bob, web, vault }
}

const CORP = [{ id: 'any', typeId: 'DOMAIN' as const, domain: 'corp.example' }]

describe('POST /simulate under circumstances', () => {
  it('tells what an answer of the endpoint would give an identity', async () => {
    const { api } = await scene()
    const body = { changes: [], identities: ['alice'], posture: CORP }
    const { data } = await api.call('POST /simulate', { body })
    expect(data.pairs).toMatchObject([
      { identity: { name: 'alice' }, service: { name: 'web' }, type: 'Dial', change: 'gained' },
    ])
    expect(data.counts).toEqual({ dial: { gained: 1, lost: 0 }, bind: { gained: 0, lost: 0 } })
    expect(data.nextCursor).toBeNull()
  })

  it('tells what time takes away, from everybody', async () => {
    const { api, alice, passMfa, controller } = await scene()
    await passMfa(alice)
    const inAnHour = new Date(controller.clock.now() + 3_601_000).toISOString()
    const { data } = await api.call('POST /simulate', { body: { changes: [], at: inAnHour } })
    expect(data.pairs).toMatchObject([
      { identity: { id: alice.id }, service: { name: 'vault' }, type: 'Dial', change: 'lost' },
    ])
    const soon = new Date(controller.clock.now() + 60_000).toISOString()
    expect((await api.call('POST /simulate', { body: { changes: [], at: soon } })).data.pairs).toEqual([])
  })

  it('takes changes together with what endpoints report, and agrees with what then happens', async () => {
    const { api, alice, controller, web } = await scene()
    const change = {
      kind: 'identities' as const,
      action: 'update' as const,
      id: alice.id,
      body: { roleAttributes: [] },
    }
    const both = { changes: [change], posture: CORP, mfa: true }
    const { data } = await api.call('POST /simulate', { body: both })
    const told = data.pairs.map(({ identity, service, change: what }) => `${identity.name} ${what} ${service.name}`)
    expect(told.sort()).toEqual(['bob gained vault', 'bob gained web'])
    await controller.engine.identities.patch(SYSTEM_CALL, alice.id, { roleAttributes: [] })
    const explained = await api.call('POST /explain', { body: { identity: 'alice', service: web, posture: CORP } })
    expect(explained.data.allowed).toBe(false)
  })

  it('comes in pages that together are the whole', async () => {
    const { api } = await scene()
    const pairs: string[] = []
    let cursor: string | undefined
    for (let page = 0; page < 10; page += 1) {
      const body = { changes: [], posture: CORP, mfa: true, limit: 1, ...(cursor && { cursor }) }
      const { data } = await api.call('POST /simulate', { body })
      expect(data.counts === null).toBe(cursor !== undefined)
      pairs.push(...data.pairs.map(({ identity, service }) => `${identity.name} ${service.name}`))
      if (data.nextCursor === null) break
      cursor = data.nextCursor
    }
    expect(pairs.sort()).toEqual(['alice vault', 'alice web', 'bob vault', 'bob web'])
  })

  it('is for who may read identities, and names whom it does not know', async () => {
    const { api, controller } = await scene()
    const mallory = await delegate(controller, 'mallory', ['service-policy.read'])
    await expect(mallory.api.call('POST /simulate', { body: { changes: [], mfa: true } })).rejects.toMatchObject({
      status: 401,
    })
    const unknown = api.call('POST /simulate', { body: { changes: [], identities: ['nobody'] } })
    await expect(unknown).rejects.toMatchObject({ status: 404 })
    const strange = api.call('POST /simulate', { body: { changes: [], mfa: true, cursor: '[1]' } })
    await expect(strange).rejects.toMatchObject({ status: 400 })
  })
})

describe('POST /explain after changes', () => {
  it('explains as if they were made, and writes nothing', async () => {
    const { api, web, policy, controller } = await scene()
    const guests = await delegate(controller, 'carol', [])
    const ask = async (changes: readonly object[], more: object = {}) => {
      const body = { identity: 'carol', service: web, changes, ...more }
      return (await api.call('POST /explain', { body: body as never })).data
    }
    expect((await ask([])).reason).toBe('no-policy-for-pair')
    const join = { kind: 'identities', action: 'update', id: guests.id, body: { roleAttributes: ['users'] } }
    const joined = await ask([join])
    expect(joined.reason).toBe('posture-failing')
    expect(joined.policies[0]).toMatchObject({ name: 'web', applies: true, grants: false })
    expect((await ask([join], { posture: CORP })).policies[0]).toMatchObject({ name: 'web', grants: true })
    const create = {
      kind: 'service-policies',
      action: 'create',
      body: {
        name: 'for carol',
        type: 'Dial',
        semantic: 'AnyOf',
        identityRoles: [`@${guests.id}`],
        serviceRoles: ['#web'],
      },
    }
    const granted = await ask([create])
    expect(granted.policies[0]).toMatchObject({ name: 'for carol', grants: true })
    expect(granted.edgeRouters.common).toHaveLength(1)
    const id = await policy('of carol', { identityRoles: [`@${guests.id}`], serviceRoles: ['#web'] })
    expect((await ask([{ kind: 'service-policies', action: 'delete', id }])).reason).toBe('no-policy-for-pair')
    expect((await ask([])).policies.some(({ grants }) => grants)).toBe(true)
    await expect(ask([{ kind: 'services', action: 'delete', id: 'nothing' }])).rejects.toMatchObject({ status: 404 })
  })
})
