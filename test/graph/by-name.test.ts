import { SYSTEM_CALL } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { delegate } from '../support/delegate.ts'
import { network } from '../support/network.ts'

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

describe('GET /access-map/members', () => {
  it('lists members by name in pages, and those whose name holds a text', async () => {
    const { api } = await network({ model: MODEL })
    const staff = { kind: 'identities', scope: JSON.stringify([{ any: ['staff'] }]) } as const
    const first = (await api.call('GET /access-map/members', { query: { ...staff, limit: '2' } })).data
    expect(first).toMatchObject({ count: 3, members: [{ name: 'alice', status: 'offline' }, { name: 'bob' }] })
    const cursor = first.nextCursor ?? ''
    const second = (await api.call('GET /access-map/members', { query: { ...staff, limit: '2', cursor } })).data
    expect(second).toMatchObject({ members: [{ name: 'Dave' }], nextCursor: null })
    const found = (await api.call('GET /access-map/members', { query: { ...staff, text: 'DA' } })).data
    expect(found.members.map(({ name }) => name)).toEqual(['Dave'])
  })

  it('knows no kind that may not be read, and no other cursor', async () => {
    const { api, controller } = await network({ model: MODEL })
    const blind = await delegate(controller, 'mallory', ['identity.read'])
    const hidden = blind.api.call('GET /access-map/members', { query: { kind: 'services' } })
    await expect(hidden).rejects.toMatchObject({ status: 404 })
    const asked = api.call('GET /access-map/members', { query: { kind: 'services', cursor: '{}' } })
    await expect(asked).rejects.toMatchObject({ status: 400 })
  })
})

describe('GET /search', () => {
  it('finds what is called exactly so before what begins so, whatever its kind', async () => {
    const identities = [{ name: 'wiki-host', type: 'Service' as const, isAdmin: false }]
    const { api } = await network({ model: { identities, services: [{ name: 'Wiki' }] } })
    const { data } = await api.call('GET /search', { query: { q: 'wiki' } })
    expect(data.entities.map(({ name }) => name)).toEqual(['Wiki', 'wiki-host'])
  })

  it('finds names in any case, those that begin so first', async () => {
    const { api } = await network({ model: MODEL })
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
    expect(data.entities[0]?.roleAttributes).toEqual(['berlin', 'staff'])
    expect(data.roleAttributes).toContainEqual({ kind: 'identities', roleAttribute: 'staff', count: 3 })
  })

  it('finds role attributes alone after #, and at most so many of each kind', async () => {
    const { api } = await network({ model: MODEL })
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
    const names = Array.from({ length: 30 }, (_, number) => `person-${String(number).padStart(2, '0')}`)
    const identities = names.map((name) => ({ name, type: 'Device' as const, isAdmin: false }))
    const { api } = await network({ limits: { namesSearched: 10 }, model: { identities } })
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
    const { api, controller } = await network({ model: MODEL })
    const search = async (q: string) => (await api.call('GET /search', { query: { q } })).data.entities
    const [wiki] = await search('wiki')
    await controller.engine.services.patch(SYSTEM_CALL, wiki?.id ?? '', { name: 'Handbook' })
    expect(await search('wiki')).toEqual([])
    expect(await search('handb')).toMatchObject([{ id: wiki?.id, name: 'Handbook' }])
    await controller.engine.services.delete(SYSTEM_CALL, wiki?.id ?? '')
    expect(await search('handb')).toEqual([])
  })

  it('finds nothing that the caller may not read', async () => {
    const { controller } = await network({ model: MODEL })
    const { api } = await delegate(controller, 'mallory', ['service.read'])
    const { data } = await api.call('GET /search', { query: { q: '' } })
    expect(new Set(data.entities.map(({ kind }) => kind))).toEqual(new Set(['services']))
    expect(new Set(data.roleAttributes.map(({ kind }) => kind))).toEqual(new Set(['services']))
  })
})
