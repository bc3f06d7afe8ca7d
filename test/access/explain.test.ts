import { apiDocuments, createController, SYSTEM_CALL } from 'portcullis'
import { ApiError, createPortcullisClient } from 'portcullis/client'
import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import { delegate } from '../support/delegate.ts'
import { network } from '../support/network.ts'
import { world } from '../support/world.ts'

/** Alice may dial web once her endpoint is in the domain; the token is the admin's. */
async function scene() {
  const there = await world()
  const login = { query: { method: 'password' as const }, body: { username: 'admin', password: 'admin-password' } }
  const { token } = (await there.controller.management.call('POST /authenticate', login)).data
  const connection = {
    baseUrl: 'https://controller.test',
    fetch: (request: Request) => there.controller.fetch(request),
  }
  const api = createPortcullisClient({ ...connection, token })
  const alice = await there.person('alice', ['users'])
  const web = await there.service('web', ['web'])
  const check = await there.domainCheck('corp', ['corp'], 'corp.example')
  const roles = { identityRoles: ['#users'], serviceRoles: [`@${web}`], postureCheckRoles: ['#corp'] }
  const policy = await there.policy('users dial web', roles)
  return { ...there, api, connection, alice, web, check, policy }
}

describe('POST /explain', () => {
  it('advises an edge router where the network has none, and no router policy that exists', async () => {
    const everything = { semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'] }
    const model = {
      services: [{ name: 'web' }],
      identities: [{ name: 'alice' }],
      servicePolicies: [
        {
          name: 'web',
          type: 'Dial' as const,
          semantic: 'AnyOf' as const,
          identityRoles: ['#all'],
          serviceRoles: ['#all'],
        },
      ],
      edgeRouterPolicies: [{ name: 'all', ...everything, identityRoles: ['#all'] }],
      serviceEdgeRouterPolicies: [{ name: 'all', ...everything, serviceRoles: ['#all'] }],
    }
    const controller = await createController({ storage: memoryStorage(), address: 'localhost:1280', model })
    const texts = async () => {
      const { suggestions } = await controller.as(SYSTEM_CALL).access.explain('alice', 'web', 'Dial')
      return suggestions.map(({ text }) => text)
    }
    expect((await texts())[0]).toBe('Create an edge router and bring it online: the network has none.')
    expect((await texts()).filter((text) => text.includes('router policy'))).toEqual([])
    await controller.as(SYSTEM_CALL).edgeRouters.create({ name: 'router' })
    expect((await texts())[0]).toBe("Bring one of these edge routers online: 'router'.")
    await controller.close()
  })

  it('explains what was found, with instants as text and the rendering beside it', async () => {
    const { api, alice, web, check, policy } = await scene()
    const { data } = await api.call('POST /explain', { body: { identity: 'alice', service: web } })
    expect(data).toMatchObject({
      allowed: false,
      reason: 'posture-failing',
      asked: { identity: 'alice', service: web },
      type: 'Dial',
      at: '2026-01-01T00:00:00.000Z',
      identity: { id: alice.id, name: 'alice' },
      service: { id: web, name: 'web' },
      apiSessionId: alice.apiSessionId,
      holdsUntil: null,
    })
    expect(data.policies).toMatchObject([
      {
        id: policy,
        applies: true,
        grants: false,
        identitySide: { selects: true, matched: [{ role: '#users', name: '#users' }], lacking: [] },
        serviceSide: { selects: true, matched: [{ role: `@${web}`, name: '@web' }], lacking: [] },
        checks: [
          { id: check, isPassing: false, expected: ['corp.example'], known: null, missing: [{ kind: 'not-reported' }] },
        ],
      },
    ])
    expect(data.edgeRouters).toMatchObject({ common: [{ name: 'router', isOnline: false }], online: [] })
    expect(data.text).toContain("The DOMAIN check 'corp' fails: it asks for 'corp.example', but nothing was reported.")
  })

  it('takes posture as if it had been reported, and writes nothing', async () => {
    const { api, check } = await scene()
    const posture = [{ id: check, typeId: 'DOMAIN' as const, domain: 'CORP.example' }]
    const question = { identity: 'alice', service: 'web' }
    expect((await api.call('POST /explain', { body: { ...question, posture } })).data.allowed).toBe(true)
    expect((await api.call('POST /explain', { body: question })).data.allowed).toBe(false)
  })

  it('looks at another instant', async () => {
    const { admin, api, alice, passMfa, policy, mfaCheck, controller } = await scene()
    await mfaCheck('mfa', ['mfa'], { timeoutSeconds: 60 })
    await admin.call('PATCH /service-policies/{id}', { params: { id: policy }, body: { postureCheckRoles: ['#mfa'] } })
    await passMfa(alice)
    const at = (ms: number) => new Date(controller.clock.now() + ms).toISOString()
    const ask = async (ms: number) => {
      const body = { identity: 'alice', service: 'web', at: at(ms) }
      return (await api.call('POST /explain', { body })).data
    }
    expect(await ask(59_999)).toMatchObject({ allowed: true, holdsUntil: at(60_000) })
    expect(await ask(60_000)).toMatchObject({ allowed: false, reason: 'posture-failing', holdsUntil: null })
  })

  it.each([
    ['no identity', { service: 'web' }, 'identity'],
    ['no service', { identity: 'alice' }, 'service'],
    ['another type', { identity: 'alice', service: 'web', type: 'Invalid' }, 'type'],
    ['an instant that is none', { identity: 'alice', service: 'web', at: 'soon' }, 'at'],
  ])('refuses %s', async (_what, body, field) => {
    const { api } = await scene()
    const refused = await api.call('POST /explain', { body: body as never }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({ status: 400 })
    expect(JSON.stringify(refused)).toContain(field)
  })
})

describe('POST /simulate', () => {
  it('says of each gained pair what stands in its way, where that is asked', async () => {
    const { api, controller } = await network({
      model: {
        identities: [{ name: 'alice', type: 'User', isAdmin: false }],
        services: [{ name: 'web' }],
        postureChecks: [{ name: 'corp', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['corp'] }],
      },
    })
    const policy = { type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] } as const
    const obstaclesOf = async (postureCheckRoles: string[], at = api) => {
      const body = { name: 'new', ...policy, postureCheckRoles }
      const changes = [{ kind: 'service-policies' as const, action: 'create' as const, body }]
      const { pairs } = (await at.call('POST /simulate', { body: { changes, obstacles: true } })).data
      return pairs.filter(({ identity }) => identity.name === 'alice').map(({ obstacle }) => obstacle)
    }
    expect(await obstaclesOf(['#corp'])).toEqual(['posture-failing'])
    expect(await obstaclesOf([])).toEqual(['all-common-edge-routers-offline'])
    const blind = await delegate(controller, 'mallory', ['service-policy.read', 'identity.read', 'service.read'])
    await expect(obstaclesOf([], blind.api)).rejects.toMatchObject({ status: 401 })
  })

  it('tells who would gain and lose what, in the words of the resources, and writes nothing', async () => {
    const { api, alice, web, policy, admin } = await scene()
    const changes = [
      {
        kind: 'identities' as const,
        action: 'create' as const,
        id: 'bob',
        body: { name: 'bob', type: 'User', isAdmin: false },
      },
      {
        kind: 'service-policies' as const,
        action: 'update' as const,
        id: policy,
        body: { identityRoles: ['@bob'], type: 'Bind' },
      },
    ]
    const { data } = await api.call('POST /simulate', { body: { changes } })
    expect(data).toMatchObject({
      counts: { dial: { gained: 0, lost: 1 }, bind: { gained: 1, lost: 0 } },
      pairs: [
        { identity: { id: 'bob', name: 'bob' }, service: { id: web, name: 'web' }, type: 'Bind', change: 'gained' },
        { identity: { id: alice.id, name: 'alice' }, service: { id: web, name: 'web' }, type: 'Dial', change: 'lost' },
      ],
      nextCursor: null,
    })
    const { data: after } = await admin.call('GET /service-policies/{id}', { params: { id: policy } })
    expect(after.identityRoles).toEqual(['#users'])
  })

  it.each([
    ['an id that names nothing', { kind: 'services', action: 'delete', id: 'none' }, 404],
    ['an id that is taken', { kind: 'services', action: 'create', id: 'WEB', body: { name: 'x' } }, 400],
    ['a role that means nothing', { kind: 'service-policies', action: 'create', body: policyOn(['users']) }, 400],
    ['a role that names nothing', { kind: 'service-policies', action: 'create', body: policyOn(['@none']) }, 400],
    ['another kind', { kind: 'edge-routers', action: 'delete', id: 'x' }, 400],
    ['a body that the resource refuses', { kind: 'services', action: 'create', body: {} }, 400],
  ])('refuses %s', async (_what, change, status) => {
    const { api, web } = await scene()
    const changes = [JSON.parse(JSON.stringify(change).replace('WEB', web))]
    await expect(api.call('POST /simulate', { body: { changes } })).rejects.toMatchObject({ status })
  })

  it('refuses a cursor of another make, and goes on afterwards', async () => {
    const { api } = await scene()
    const body = { changes: [], cursor: '[1]' }
    await expect(api.call('POST /simulate', { body })).rejects.toMatchObject({ status: 400 })
    expect((await api.call('POST /simulate', { body: { changes: [] } })).data.pairs).toEqual([])
  })
})

function policyOn(identityRoles: readonly string[]) {
  return { name: 'p', type: 'Dial', semantic: 'AnyOf', identityRoles }
}

describe('the API of our own', () => {
  it.each(['/explain', '/simulate'])('POST %s is closed to who has no right to read', async (path) => {
    const { alice, connection, controller } = await scene()
    const post = (token: string) =>
      controller.fetch(
        new Request(`${connection.baseUrl}/portcullis/v1${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'zt-session': token },
          body: JSON.stringify({ identity: 'alice', service: 'web', changes: [] }),
        }),
      )
    const login = {
      query: { method: 'password' as const },
      body: { username: 'user alice', password: 'Correct-Horse-1' },
    }
    const { token } = (await alice.api.call('POST /authenticate', login)).data
    expect((await post('')).status).toBe(401)
    expect((await post(token)).status).toBe(401)
  })

  it.each([
    ['/explain', ['identity', 'service', 'service-policy', 'posture-check', 'router']],
    ['/simulate', ['service-policy', 'identity', 'service']],
  ] as const)('POST %s is for who may read every kind that it tells of', async (path, kinds) => {
    const { controller, connection } = await scene()
    const statusWith = async (name: string, readable: readonly string[]) => {
      const { token } = await delegate(
        controller,
        name,
        readable.map((kind) => `${kind}.read`),
      )
      const request = new Request(`${connection.baseUrl}/portcullis/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'zt-session': token },
        body: JSON.stringify(path === '/explain' ? { identity: 'alice', service: 'web' } : { changes: [] }),
      })
      return (await controller.fetch(request)).status
    }
    for (const kind of kinds) {
      const others = kinds.filter((one) => one !== kind)
      expect([kind, await statusWith(`without ${kind}`, others)]).toEqual([kind, 401])
    }
    expect(await statusWith('reader', kinds)).toBe(200)
  })

  it('has a document of its own', async () => {
    const { portcullis } = await apiDocuments('1.2.3')
    expect(Object.keys(portcullis.paths ?? {}).sort()).toEqual([
      '/access-map',
      '/access-map/members',
      '/access-requests',
      '/access-requests/{id}',
      '/access-requests/{id}/approve',
      '/access-requests/{id}/refuse',
      '/access-requests/{id}/withdraw',
      '/audit',
      '/audit/head',
      '/audit/{id}/undo',
      '/circuits/{id}',
      '/events',
      '/explain',
      '/findings',
      '/identities/{id}/attribute-grants',
      '/identities/{id}/attribute-grants/{grantId}',
      '/pki',
      '/pki/authorities/{id}',
      '/pki/outstanding',
      '/pki/rotations',
      '/reach',
      '/routers/{id}/validate-data-model',
      '/search',
      '/service-configs',
      '/simulate',
      '/trace-dial',
      '/traffic',
      '/trust-anchors',
      '/trust-anchors/{id}',
      '/webhooks',
      '/webhooks/{id}',
      '/webhooks/{id}/deliveries',
      '/webhooks/{id}/secret',
    ])
    expect(portcullis.servers).toEqual([{ url: '/portcullis/v1' }])
  })
})
