import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SYSTEM_CALL } from '../../src/context/call.ts'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'

const ANY = { semantic: 'AnyOf' } as const
const MODEL = {
  identities: [
    { name: 'alice', type: 'User', isAdmin: false, roleAttributes: ['staff', 'berlin'] },
    { name: 'bob', type: 'User', isAdmin: false, roleAttributes: ['berlin', 'staff'] },
    { name: 'carol', type: 'User', isAdmin: false, roleAttributes: ['guests'] },
    { name: 'Dave', type: 'User', isAdmin: false, roleAttributes: ['staff', 'berlin'] },
  ],
  services: [
    { name: 'wiki', encryptionRequired: true, roleAttributes: ['web'] },
    { name: 'shop', encryptionRequired: true, roleAttributes: ['web'] },
    { name: 'vault', encryptionRequired: true },
  ],
  edgeRouters: [{ name: 'gate', roleAttributes: ['public'] }],
  postureChecks: [{ name: 'corp', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['corp'] }],
  servicePolicies: [
    {
      name: 'staff dial web',
      type: 'Dial',
      ...ANY,
      identityRoles: ['#staff'],
      serviceRoles: ['#web'],
      postureCheckRoles: ['#corp'],
    },
    { name: 'alice hosts vault', type: 'Bind', ...ANY, identityRoles: ['@alice'], serviceRoles: ['@vault'] },
  ],
  edgeRouterPolicies: [{ name: 'all', ...ANY, identityRoles: ['#all'], edgeRouterRoles: ['#public'] }],
  serviceEdgeRouterPolicies: [{ name: 'web', ...ANY, serviceRoles: ['#web'], edgeRouterRoles: ['#all'] }],
} as const

async function scene() {
  const controller = await createTestController()
  onTestFinished(() => controller.close())
  await controller.seed(MODEL)
  return { controller, api: ownApi(controller, await adminToken(controller)) }
}

describe('GET /graph', () => {
  it('draws groups of the same role attributes, and how many of their members may reach each other', async () => {
    const { api } = await scene()
    const { data } = await api.call('GET /graph')
    const label = (place: number) => {
      const { kind, roleAttributes } = data.groups[place] ?? expect.fail()
      return `${kind} ${roleAttributes.join('+') || '-'}`
    }
    expect(data.groups.map(({ count }, place) => `${label(place)} ${count}`).sort()).toEqual([
      'edge-routers public 1',
      'identities - 1',
      'identities berlin+staff 3',
      'identities guests 1',
      'services - 1',
      'services web 2',
    ])
    const links = data.links.map(({ from, to, type, pairs, policies, isGuarded }) => {
      const names = policies.map((place) => data.policies[place]?.name).join()
      return `${label(from)} > ${label(to)} ${type} ${pairs} by ${names}${isGuarded ? ' guarded' : ''}`
    })
    expect(links.sort()).toEqual([
      'identities - > edge-routers public edge-router 1 by all',
      'identities berlin+staff > edge-routers public edge-router 3 by all',
      'identities berlin+staff > services - Bind 1 by alice hosts vault',
      'identities berlin+staff > services web Dial 6 by staff dial web guarded',
      'identities guests > edge-routers public edge-router 1 by all',
      'services web > edge-routers public service-edge-router 2 by web',
    ])
    expect(data.linkCount).toBe(6)
  })

  it('draws those that the same policies select as one where that is asked for', async () => {
    const { api } = await scene()
    const { data } = await api.call('GET /graph', { query: { groupBy: 'policy' } })
    const identities = data.groups.filter(({ kind }) => kind === 'identities')
    // Carol and the admin differ in what no policy looks at.
    expect(identities.map(({ count, roleAttributes }) => [count, roleAttributes])).toEqual([
      [2, ['berlin', 'staff']],
      [2, []],
      [1, ['berlin', 'staff']],
    ])
  })

  it('puts everybody who is in none of the largest groups together', async () => {
    const { api } = await scene()
    const { data } = await api.call('GET /graph', { query: { groups: '2' } })
    const identities = data.groups.filter(({ kind }) => kind === 'identities')
    expect(identities.map(({ count, isRest }) => [count, isRest])).toEqual([
      [3, false],
      [2, true],
    ])
    const members = await api.call('GET /graph/members', { query: { group: identities[1]?.key ?? '' } })
    expect(members.data.members.map(({ name }) => name)).toEqual(['carol', 'Default Admin'])
  })

  it('is as of the last change', async () => {
    const { api, controller } = await scene()
    const before = (await api.call('GET /graph')).data
    await controller.engine.identities.create(SYSTEM_CALL, {
      name: 'erin',
      type: 'User',
      isAdmin: false,
      roleAttributes: ['guests'],
    })
    const after = (await api.call('GET /graph')).data
    const guests = (graph: typeof before) =>
      graph.groups.find(({ roleAttributes }) => roleAttributes.includes('guests'))
    expect([guests(before)?.count, guests(after)?.count]).toEqual([1, 2])
    expect(guests(after)?.key).toBe(guests(before)?.key)
  })

  it('shows a delegate the kinds that it may read, and nothing of others', async () => {
    const { controller } = await scene()
    const { api } = await delegate(controller, 'mallory', ['identity.read', 'edge-router-policy.read'])
    const { data } = await api.call('GET /graph')
    expect(data.kinds).toEqual(['identities', 'edge-router-policies'])
    expect(new Set(data.groups.map(({ kind }) => kind))).toEqual(new Set(['identities']))
    expect(data).toMatchObject({ links: [], policies: [], linkCount: 0 })
    const both = await delegate(controller, 'trudy', ['identity.read', 'service.read'])
    const seen = (await both.api.call('GET /graph')).data
    expect(new Set(seen.groups.map(({ kind }) => kind))).toEqual(new Set(['identities', 'services']))
    expect(seen).toMatchObject({ links: [], policies: [] })
    // Whom the same policies select is not told either.
    const alike = (await both.api.call('GET /graph', { query: { groupBy: 'policy' } })).data
    expect(alike.groups.filter(({ kind }) => kind === 'identities')).toHaveLength(1)
  })

  it('is not for those who may read nothing', async () => {
    const { controller } = await scene()
    const { api } = await delegate(controller, 'plain', [])
    await expect(api.call('GET /graph')).rejects.toMatchObject({ status: 401 })
    await expect(api.call('GET /search', { query: { q: 'a' } })).rejects.toMatchObject({ status: 401 })
  })
})

describe('GET /graph/members', () => {
  it('lists members by name in pages, and those whose name holds a text', async () => {
    const { api } = await scene()
    const { groups } = (await api.call('GET /graph')).data
    const staff = groups.find(({ count }) => count === 3)?.key ?? ''
    const first = (await api.call('GET /graph/members', { query: { group: staff, limit: '2' } })).data
    expect(first).toMatchObject({ count: 3, members: [{ name: 'alice', status: 'offline' }, { name: 'bob' }] })
    const cursor = first.nextCursor ?? ''
    const second = (await api.call('GET /graph/members', { query: { group: staff, limit: '2', cursor } })).data
    expect(second).toMatchObject({ members: [{ name: 'Dave' }], nextCursor: null })
    const found = (await api.call('GET /graph/members', { query: { group: staff, text: 'DA' } })).data
    expect(found.members.map(({ name }) => name)).toEqual(['Dave'])
  })

  it('knows no group of a kind that may not be read, none that is not there, and no other cursor', async () => {
    const { api, controller } = await scene()
    const group = (await api.call('GET /graph')).data.groups.find(({ kind }) => kind === 'services')?.key ?? ''
    const blind = await delegate(controller, 'mallory', ['identity.read'])
    for (const query of [{ group }, { group: 'services.role-attribute.0123456789abcdef' }, { group: 'all' }]) {
      await expect(blind.api.call('GET /graph/members', { query })).rejects.toMatchObject({ status: 404 })
    }
    const asked = api.call('GET /graph/members', { query: { group, cursor: '{}' } })
    await expect(asked).rejects.toMatchObject({ status: 400 })
  })
})

describe('GET /matrix', () => {
  it('tells what each member of a group may do with each of another', async () => {
    const { api } = await scene()
    const { groups } = (await api.call('GET /graph')).data
    const key = (kind: string, count: number) =>
      groups.find((one) => one.kind === kind && one.count === count)?.key ?? ''
    const query = { identities: key('identities', 3), services: key('services', 2), limit: '2' }
    const { data } = await api.call('GET /matrix', { query })
    expect(data.identities.map(({ name }) => name)).toEqual(['alice', 'bob'])
    expect(data.services.map(({ name }) => name)).toEqual(['shop', 'wiki'])
    expect(data.nextIdentities).not.toBeNull()
    expect(data.nextServices).toBeNull()
    const cell = { type: 'Dial', policyCount: 1, isGuarded: true }
    expect(data.cells).toEqual([
      { identity: 0, service: 0, ...cell },
      { identity: 0, service: 1, ...cell },
      { identity: 1, service: 0, ...cell },
      { identity: 1, service: 1, ...cell },
    ])
  })

  it('is for who may read all that it tells', async () => {
    const { api, controller } = await scene()
    const { groups } = (await api.call('GET /graph')).data
    const query = {
      identities: groups[0]?.key ?? '',
      services: groups.find(({ kind }) => kind === 'services')?.key ?? '',
    }
    const lacking = await delegate(controller, 'mallory', ['service-policy.read', 'identity.read'])
    await expect(lacking.api.call('GET /matrix', { query })).rejects.toMatchObject({ status: 404 })
    const swapped = { identities: query.services, services: query.identities }
    await expect(api.call('GET /matrix', { query: swapped })).rejects.toMatchObject({ status: 404 })
  })
})

describe('GET /search', () => {
  it('finds names in any case, those that begin so first, and the group that each is in', async () => {
    const { api } = await scene()
    const { data } = await api.call('GET /search', { query: { q: 'A' } })
    expect(data.entities.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'identities alice',
      'identities carol',
      'identities Dave',
      'identities Default Admin',
      'services vault',
      'edge-routers gate',
      'service-policies alice hosts vault',
      'service-policies staff dial web',
      'edge-router-policies all',
    ])
    const { groups } = (await api.call('GET /graph')).data
    expect(groups.find(({ key }) => key === data.entities[0]?.group)?.roleAttributes).toEqual(['berlin', 'staff'])
    expect(data.roleAttributes).toContainEqual({ kind: 'identities', roleAttribute: 'staff', count: 3 })
  })

  it('finds role attributes alone after #, and at most so many of each kind', async () => {
    const { api } = await scene()
    const attributes = (await api.call('GET /search', { query: { q: '#sta' } })).data
    expect(attributes).toEqual({
      entities: [],
      isPartial: false,
      roleAttributes: [{ kind: 'identities', roleAttribute: 'staff', count: 3 }],
    })
    const one = (await api.call('GET /search', { query: { q: '', limit: '1' } })).data
    expect(one.entities.filter(({ kind }) => kind === 'identities')).toHaveLength(1)
  })

  it('looks at no more names than it may, finds all that begin with the text, and says which answer it is', async () => {
    const controller = await createTestController({ limits: { namesSearched: 10 } })
    onTestFinished(() => controller.close())
    const names = Array.from({ length: 30 }, (_, number) => `person-${String(number).padStart(2, '0')}`)
    await controller.seed({
      identities: names.map((name) => ({ name, type: 'Device' as const, isAdmin: false })),
    })
    const api = ownApi(controller, await adminToken(controller))
    const found = async (q: string) => {
      const { data } = await api.call('GET /search', { query: { q } })
      return { names: data.entities.map(({ name }) => name), isPartial: data.isPartial }
    }
    expect(await found('son-0')).toEqual({ names: names.slice(0, 9), isPartial: true })
    expect(await found('person-2')).toEqual({ names: names.slice(20), isPartial: true })
    expect((await found('nobody')).isPartial).toBe(true)
    expect(await found('PERSON')).toEqual({ names, isPartial: false })
  })

  it('finds what was renamed, and not what is gone', async () => {
    const { api, controller } = await scene()
    const search = async (q: string) => (await api.call('GET /search', { query: { q } })).data.entities
    const [wiki] = await search('wiki')
    await controller.engine.services.patch(SYSTEM_CALL, wiki?.id ?? '', { name: 'Handbook' })
    expect(await search('wiki')).toEqual([])
    expect(await search('handb')).toMatchObject([{ id: wiki?.id, name: 'Handbook' }])
    await controller.engine.services.delete(SYSTEM_CALL, wiki?.id ?? '')
    expect(await search('handb')).toEqual([])
  })

  it('finds nothing that the caller may not read', async () => {
    const { controller } = await scene()
    const { api } = await delegate(controller, 'mallory', ['service.read'])
    const { data } = await api.call('GET /search', { query: { q: '' } })
    expect(new Set(data.entities.map(({ kind }) => kind))).toEqual(new Set(['services']))
    expect(new Set(data.roleAttributes.map(({ kind }) => kind))).toEqual(new Set(['services']))
  })
})
