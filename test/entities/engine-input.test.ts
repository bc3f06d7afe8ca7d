import fc from 'fast-check'
import { type HostEngine, SYSTEM_CALL } from 'portcullis'
import { createTestController, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

/** Values that a host may hand in that no types hold back, as from JavaScript. */
function untyped<T>(value: unknown): T {
  return value as T
}

async function engine(): Promise<HostEngine> {
  return (await createTestController(await withSharedPki())).engine
}

describe('what a host hands to the engine', () => {
  it('is refused with the name of the field when its type is wrong', async () => {
    const { services } = await engine()
    await expect(
      services.create(SYSTEM_CALL, untyped({ name: 'web', maxIdleTimeMillis: 'zzz' })),
    ).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE', details: { field: 'maxIdleTimeMillis' } })
    expect((await services.list(SYSTEM_CALL)).totalCount).toBe(0)
  })

  it('is refused when something required is missing, and when there is nothing at all', async () => {
    const { services, identities } = await engine()
    const refusal = { code: 'COULD_NOT_VALIDATE' }
    await expect(services.create(SYSTEM_CALL, untyped({}))).rejects.toMatchObject({
      ...refusal,
      details: { field: 'name' },
    })
    await expect(services.create(SYSTEM_CALL, untyped(undefined))).rejects.toMatchObject(refusal)
    await expect(identities.create(SYSTEM_CALL, untyped({ name: 'x', isAdmin: false }))).rejects.toMatchObject({
      ...refusal,
      details: { field: 'type' },
    })
  })

  it.each<[string, unknown]>([
    ['text that no database keeps', { name: 'a\u0000b' }],
    ['a date', { name: 'x', tags: { since: new Date(0) } }],
    ['a number that is none', { name: 'x', maxIdleTimeMillis: Number.NaN }],
    ['a function', { name: 'x', tags: { f: () => 1 } }],
    ['a map', { name: 'x', tags: new Map() }],
    ['more members than the API takes', { name: 'x', tags: { many: Array.from({ length: 50_001 }, () => 1) } }],
  ])('is refused when it holds what no request can: %s', async (_, body) => {
    const { services } = await engine()
    await expect(services.create(SYSTEM_CALL, untyped(body))).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE' })
  })

  it('is bounded as requests are', async () => {
    const { services } = await engine()
    const large = { name: 'x', tags: { note: 'x'.repeat(1_048_577) } }
    await expect(services.create(SYSTEM_CALL, large)).rejects.toMatchObject({ code: 'REQUEST_ENTITY_TOO_LARGE' })
    const circular: Record<string, unknown> = {}
    circular.self = circular
    await expect(services.create(SYSTEM_CALL, { name: 'x', tags: circular })).rejects.toMatchObject({
      code: 'COULD_NOT_PARSE_BODY',
    })
  })

  it('gets the defaults that a request gets', async () => {
    const controller = await createTestController(await withSharedPki())
    const admin = await controller.asAdmin()
    const { data } = await admin.call('POST /services', { body: { name: 'by request' } })
    const { id, name, _links, ...byRequest } = await controller.engine.services.get(SYSTEM_CALL, data.id)
    const created = await controller.engine.services.create(SYSTEM_CALL, { name: 'by host' })
    expect(created).toMatchObject(byRequest)
    expect(Object.keys(created).sort()).toEqual(Object.keys({ id, name, _links, ...byRequest }).sort())
  })

  it('sets nothing that a request cannot set', async () => {
    const { identities, services } = await engine()
    const body = { name: 'x', type: 'User', isAdmin: false, isDefaultAdmin: true, createdAt: 1, id: 'mine' }
    const created = await identities.create(SYSTEM_CALL, untyped(body))
    expect(created).toMatchObject({ isDefaultAdmin: false, typeId: 'User' })
    expect(created.id).not.toBe('mine')
    expect(created.createdAt).not.toBe(1)
    const service = await services.create(SYSTEM_CALL, { name: 'x' })
    await services.patch(SYSTEM_CALL, service.id, untyped({ encryptionRequired: true, createdAt: 1 }))
    expect(await services.get(SYSTEM_CALL, service.id)).toMatchObject({
      encryptionRequired: false,
      createdAt: service.createdAt,
    })
  })

  it('stays as it was when the host changes it afterwards', async () => {
    const { services } = await engine()
    const tags = { owner: { team: 'a' } }
    const { id } = await services.create(SYSTEM_CALL, { name: 'x', tags })
    tags.owner.team = 'b'
    expect((await services.get(SYSTEM_CALL, id)).tags).toEqual({ owner: { team: 'a' } })
  })

  it('makes nothing that the APIs do not make', async () => {
    expect(Object.keys((await engine()).apiSessions).sort()).toEqual(['delete', 'get', 'list'])
  })

  it('is refused with the name of the field where it reports posture', async () => {
    const controller = await createTestController(await withSharedPki())
    const { identities, posture, host } = controller.engine
    const { id } = await identities.create(SYSTEM_CALL, { name: 'alice', type: 'User', isAdmin: false })
    const caller = await host.startSession(id)
    await expect(
      posture.submit({ by: 'caller', caller }, untyped([{ id: 'x', typeId: 'DOMAIN', domain: 1 }])),
    ).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE', details: { field: 'domain' } })
    const { data } = await controller.admin.call('GET /identities/{id}/posture-data', { params: { id } })
    expect(data.domain).toMatchObject({ domain: null })
  })

  it('is judged as the API judges it, whatever a member holds', async () => {
    const values = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('Dial', 'AllOf', '#all', 'User', 'MFA', -1))
    const asked = await createTestController(await withSharedPki())
    const served = await createTestController(await withSharedPki())
    const token = await adminToken(served)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...KINDS), fc.nat(20), values, async ([kind, valid], at, value) => {
        const member = Object.keys(valid)[at % Object.keys(valid).length] ?? ''
        const body = { ...valid, [member]: value }
        const service = asked.engine[kind]
        const created = await service.create(SYSTEM_CALL, untyped(body)).catch(() => undefined)
        const response = await post(served, token, PATHS[kind], body)
        expect(response.status, `${kind} with ${JSON.stringify(body)}`).toBe(created === undefined ? 400 : 201)
        if (created === undefined) return
        await service.delete(SYSTEM_CALL, created.id)
        const { data } = (await response.json()) as { data: { id: string } }
        await served.engine[kind].delete(SYSTEM_CALL, data.id)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a caller', () => {
  it('is found by a password, with nothing else said', async () => {
    const { authentication } = await engine()
    const caller = await authentication.byPassword({ by: 'anonymous' }, 'admin', 'admin-password')
    expect(caller.identity.name).toBe('Default Admin')
  })

  it('is whom the host has authenticated itself', async () => {
    const { identities, host } = await engine()
    const { id } = await identities.create(SYSTEM_CALL, { name: 'alice', type: 'User', isAdmin: false })
    const caller = await host.startSession(id)
    expect(caller).toMatchObject({ identity: { id }, isFullyAuthenticated: true })
    expect(await host.resolve(caller.token)).toMatchObject({ identity: { id } })
    await expect(host.startSession('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

const PATHS = {
  services: '/services',
  identities: '/identities',
  servicePolicies: '/service-policies',
  postureChecks: '/posture-checks',
  configTypes: '/config-types',
} as const

const KINDS = [
  ['services', { name: 'x', roleAttributes: ['a'], maxIdleTimeMillis: 1, terminatorStrategy: 'random', tags: {} }],
  [
    'identities',
    { name: 'x', type: 'User', isAdmin: false, appData: {}, serviceHostingCosts: {}, defaultHostingCost: 1 },
  ],
  ['servicePolicies', { name: 'x', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#a'], serviceRoles: ['#all'] }],
  ['postureChecks', { name: 'x', typeId: 'DOMAIN', domains: ['a.test'], roleAttributes: ['a'] }],
  ['configTypes', { name: 'x', schema: { type: 'object' } }],
] as const

async function adminToken({ management }: TestController): Promise<string> {
  const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: TEST_ADMIN })
  return data.token
}

function post({ fetch }: TestController, token: string, path: string, body: unknown): Promise<Response> {
  return fetch(
    new Request(`https://controller.test:1280/edge/management/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'zt-session': token },
      body: JSON.stringify(body),
    }),
  )
}
