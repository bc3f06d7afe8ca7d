import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { expectDone, expectError, expectFieldError, expectUnknown } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, MANAGEMENT, read } from '../contract/http/foreign-client.ts'
import { network as smallNetwork } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'
import { type NetworkOptions, network } from '../support/network.ts'

const ROLES: NetworkOptions<never, 'one' | 'two' | 'policyId' | 'routers'> = {
  entities: {
    one: ['/services', { name: 'one', encryptionRequired: true, roleAttributes: ['web', 'db'] }],
    two: ['/services', { name: 'two', encryptionRequired: true, roleAttributes: ['web', 'äpp'] }],
    policyId: ['/service-policies', { name: 'p', type: 'Dial', semantic: 'AnyOf', serviceRoles: ['#web', '#unheard'] }],
    routers: ['/service-edge-router-policies', { name: 'all', semantic: 'AnyOf', serviceRoles: ['#all'] }],
  },
}

const BASES = [[CLIENT], [MANAGEMENT]]

/** Documents by their YAML, which is long and the same below both bases. */
const documents = new Map<string, unknown>()

function parsed(yaml: string): unknown {
  if (!documents.has(yaml)) documents.set(yaml, parse(yaml))
  return documents.get(yaml)
}

describe.each(BASES)('open to everybody below %s', (base) => {
  it('the capabilities that controllers may have', async () => {
    const anybody = foreignClient(await mount(), base)
    const { data } = (await anybody.get('/enumerated-capabilities')).body
    expect(data).toEqual(['OIDC_AUTH', 'HA_CONTROLLER', 'OIDC_AUTH_WITH_CSR'])
    expectError(await anybody.get('/enumerated-router-capabilities'), 'UNAUTHORIZED')
  })

  it('the token of the network, the same again and again', async () => {
    const anybody = foreignClient(await mount(), base)
    const { data } = (await anybody.get('/network-jwts')).body
    expect(data).toEqual([{ name: 'default', token: expect.any(String) }])
    const claims = JSON.parse(Buffer.from(data[0].token.split('.')[1], 'base64url').toString())
    const issuer = 'https://controller.test:1280/'
    expect(claims).toEqual({ iss: issuer, sub: issuer, aud: ['openziti-enroller'], em: 'network', jti: claims.jti })
    expect((await anybody.get('/network-jwts')).body.data).toEqual(data)
  })

  it('the documents of the APIs, as YAML and as JSON', async () => {
    const anybody = foreignClient(await mount(), base)
    const { data } = (await anybody.get('/specs')).body
    expect(data).toMatchObject([
      {
        id: 'edge-client',
        _links: { self: { href: './specs/edge-client' }, spec: { href: './specs/edge-client/spec' } },
      },
    ])
    expect(await read(anybody, '/specs/edge-management')).toMatchObject({ id: 'edge-management', tags: {} })
    expectUnknown(await anybody.get('/specs/fabric'), 'spec', 'fabric')
    expectUnknown(await anybody.get('/specs/fabric/spec'), 'spec', 'fabric')
    for (const id of ['edge-client', 'edge-management']) {
      const asJson = await anybody.send('GET', `/specs/${id}/spec`, { headers: { accept: 'application/json' } })
      expect(asJson.headers.get('content-type')).toBe('application/json')
      const asYaml = await anybody.get(`/specs/${id}/spec`)
      expect(asYaml.headers.get('content-type')).toBe('text/yaml')
      expect(parsed(asYaml.text)).toEqual(asJson.body)
      expect(asJson.body.openapi).toBe('3.1.1')
    }
    const refused = await anybody.send('GET', '/specs/edge-client/spec', { headers: { accept: 'image/png' } })
    expect(refused.status).toBe(406)
    expect((await anybody.get('/swagger.json')).body.servers).toEqual([{ url: base }])
  })
})

it('the client API tells its protocols', async () => {
  const anybody = foreignClient(await mount(), CLIENT)
  expect(await read(anybody, '/protocols')).toEqual({ https: { address: 'controller.test:1280' } })
})

describe('controllers', () => {
  it('there is one, which lists itself; clients see the addresses for clients', async () => {
    const { admin, alice, mounted } = await smallNetwork(await mount())
    const { data, meta } = (await admin.get('/controllers?filter=isOnline=true')).body
    expect(meta.pagination).toEqual({ limit: 10, offset: 0, totalCount: 1 })
    expect(data).toMatchObject([
      { name: 'controller', isOnline: true, fingerprint: expect.stringMatching(/^[0-9a-f]{40}$/) },
    ])
    expect(Object.keys(data[0].apiAddresses).sort()).toEqual([
      'edge-client',
      'edge-management',
      'edge-oidc',
      'fabric',
      'health-checks',
      'portcullis',
    ])
    const [seen] = (await alice.api.get('/controllers')).body.data
    expect(seen.apiAddresses).toEqual({
      'edge-client': [{ url: 'https://controller.test:1280/edge/client/v1', version: 'v1' }],
      'edge-oidc': [{ url: 'https://controller.test:1280/oidc', version: 'v1' }],
    })
    expect(seen.lastJoinedAt).toBe(new Date(mounted.clock.now()).toISOString())
    expect((await admin.get('/controllers?filter=name="other"')).body.data).toEqual([])
  })
})

describe('types', () => {
  it('identity types and posture check types are seeded and may be read by everybody who is authenticated', async () => {
    const { alice } = await smallNetwork(await mount())
    const ids = async (path: string) => (await alice.management.get(path)).body.data.map(({ id }: { id: string }) => id)
    expect(await ids('/identity-types')).toEqual(['Default', 'Device', 'Router', 'Service', 'User'])
    expect(await ids('/posture-check-types')).toEqual(['DOMAIN', 'MAC', 'OS', 'PROCESS', 'PROCESS_MULTI'])
    expect(await read(alice.management, '/identity-types/Router')).toMatchObject({ name: 'Router' })
    expect(await read(alice.management, '/posture-check-types/DOMAIN')).toMatchObject({
      _links: { self: { href: './posture-check-types/DOMAIN' } },
      name: 'Windows Domain Check',
      operatingSystems: [{ type: 'Windows', versions: ['10', '2000', '7', '8', 'Vista'] }],
      version: '1',
    })
    const multi = await read(alice.management, '/posture-check-types/PROCESS_MULTI')
    expect(multi.operatingSystems[0]).toEqual({ type: 'Linux', versions: [] })
    expectUnknown(await alice.management.get('/posture-check-types/MFA'), 'posture check type', 'MFA')
  })
})

describe('revocations', () => {
  it('of a token, an API session and an identity, kept for a year; again replaces', async () => {
    const { admin, alice, mounted } = await smallNetwork(await mount())
    const uuid = '0a1b2c3d-1234-4abc-8def-0123456789ab'
    expect(await create(admin, '/revocations', { id: uuid, type: 'JTI', tags: { why: 'lost' } })).toBe(uuid)
    await create(admin, '/revocations', { id: alice.id, type: 'IDENTITY' })
    mounted.clock.advance(1000)
    await create(admin, '/revocations', { id: uuid, type: 'API_SESSION' })
    expect(await read(admin, `/revocations/${uuid}`)).toMatchObject({
      id: uuid,
      type: 'API_SESSION',
      tags: {},
      expiresAt: new Date(mounted.clock.now() + 365 * 86_400_000).toISOString(),
    })
    expect((await admin.get('/revocations')).body.meta.pagination.totalCount).toBe(2)
  })

  it.each([
    ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'],
    ['0192d0e2-5c3a-7a4b-8c1d-2e3f4a5b6c7d', '0192d0e2-5c3a-7a4b-8c1d-2e3f4a5b6c7d'],
    ['6BA7B810-9DAD-11D1-80B4-00C04FD430C8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
    ['urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
    ['{6ba7b8109dad11d180b400c04fd430c8}', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
  ])('takes %s, a UUID of any version, and keeps it as tokens have it', async (id, kept) => {
    const admin = await adminOf(await mount())
    for (const type of ['JTI', 'API_SESSION']) {
      expect(await create(admin, '/revocations', { id, type })).toBe(kept)
      expect(await read(admin, `/revocations/${kept}`)).toMatchObject({ id: kept, type })
    }
  })

  it('refuses what it cannot be for', async () => {
    const admin = await adminOf(await mount())
    expectUnknown(await admin.post('/revocations', { id: 'nobody', type: 'IDENTITY' }), 'identity', 'nobody')
    expectFieldError(await admin.post('/revocations', { id: 'x', type: 'JTI' }), 'id', 'must be a valid UUID v4')
    expectFieldError(await admin.post('/revocations', { id: 'x', type: 'y' }), 'type')
    expectFieldError(await admin.post('/revocations', { type: 'JTI' }), 'id', 'id in body is required')
  })
})

describe('resource counts', () => {
  it('counts what there is, by the words that deployed clients know', async () => {
    const { admin, alice } = await smallNetwork(await mount())
    await create(admin, '/routers', { name: 'transit' })
    const { data } = (await admin.get('/summary')).body
    const expected = {
      routers: 2,
      'routers.edge': 1,
      services: 1,
      configTypes: 8,
      controllers: 1,
      mfas: 0,
      identities: 2,
    }
    expect(data).toMatchObject(expected)
    expect(Object.keys(data).sort()).toHaveLength(25)
    expectError(await alice.management.get('/summary'), 'UNAUTHORIZED')
  })
})

describe('role attributes', () => {
  it.each([
    ['', ['db', 'web', 'äpp'], 3],
    ['?filter=id contains "b"', ['db', 'web'], 2],
    ['?filter=true sort by id desc limit 2', ['äpp', 'web'], 3],
    ['?filter=skip 1 limit 1', ['web'], 3],
    ['?filter=true limit none', ['db', 'web', 'äpp'], 3],
    ['?limit=1&offset=1&sort=id desc', ['db', 'web', 'äpp'], 3],
  ])('that entities have, by %j', async (query, expected, totalCount) => {
    const { admin } = await network(ROLES)
    const { data, meta } = (await admin.get(`/service-role-attributes${query}`)).body
    expect(data).toEqual(expected)
    expect(meta).toMatchObject({ filterableFields: ['id'], pagination: { totalCount } })
  })

  it('with who uses them, policies included', async () => {
    const { admin, policyId } = await network(ROLES)
    const [none, one] = [0, 1].map((count) => ({ count, ids: null }))
    const { data } = (await admin.get('/service-role-attribute-usage?filter=id="web" or id="unheard"')).body
    expect(data).toEqual([
      { roleAttribute: 'unheard', usage: { services: none, serviceEdgeRouterPolicies: none, servicePolicies: one } },
      {
        roleAttribute: 'web',
        usage: { services: { count: 2, ids: null }, serviceEdgeRouterPolicies: none, servicePolicies: one },
      },
    ])
    const named = (await admin.get('/service-role-attribute-usage?withIds=true&filter=id="unheard"')).body.data
    const nobody = { count: 0, ids: [] }
    const usage = {
      services: nobody,
      serviceEdgeRouterPolicies: nobody,
      servicePolicies: { count: 1, ids: [policyId] },
    }
    expect(named).toEqual([{ roleAttribute: 'unheard', usage }])
  })

  it.each(['edge-router', 'identity', 'posture-check', 'service'])('of every kind: %s', async (kind) => {
    const { admin, alice } = await smallNetwork(await mount())
    expect((await admin.get(`/${kind}-role-attributes`)).status).toBe(200)
    expect((await admin.get(`/${kind}-role-attribute-usage`)).status).toBe(200)
    expectError(await admin.get(`/${kind}-role-attributes?filter=name="x"`), 'INVALID_FILTER')
    expectError(await alice.management.get(`/${kind}-role-attributes`), 'UNAUTHORIZED')
    const permission = { 'edge-router': 'router' }[kind] ?? kind
    expectDone(await admin.patch(`/identities/${alice.id}`, { permissions: [`${permission}.read`] }))
    expect((await alice.management.get(`/${kind}-role-attributes`)).status).toBe(200)
  })
})
