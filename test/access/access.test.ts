import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError, expectUnknown } from '../contract/http/errors.ts'
import { CLIENT, create, foreignClient, MANAGEMENT, read } from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'

/** The router of the network is connected to the data plane and reached under this address. */
const presence = {
  connectionOf: () => ({ hostname: 'er.example', supportedProtocols: { tls: 'tls://er.example:3022' } }),
}

describe('policy advice', () => {
  it('tells what policies allow, and which edge routers both may use', async () => {
    const { admin, alice, serviceId, routerId } = await network(await mount({ presence }))
    await create(admin, '/edge-routers', { name: 'second', roleAttributes: ['inner'] })
    const inner = { semantic: 'AnyOf', edgeRouterRoles: ['#inner'], identityRoles: ['#all'] }
    await create(admin, '/edge-router-policies', { name: 'inner', ...inner })
    const ref = (entity: string, id: string, name: string) => ({ _links: expect.anything(), entity, id, name })
    expect(await read(admin, `/identities/${alice.id}/policy-advice/${serviceId}`)).toEqual({
      commonRouters: [{ ...ref('edge-routers', routerId, 'router'), isOnline: true }],
      identity: ref('identities', alice.id, 'alice'),
      identityId: alice.id,
      identityRouterCount: 2,
      isBindAllowed: false,
      isDialAllowed: true,
      service: ref('services', serviceId, 'web'),
      serviceId,
      serviceRouterCount: 1,
    })
  })

  it('an identity without any right has nothing', async () => {
    const { admin, serviceId } = await network(await mount())
    const id = await create(admin, '/identities', { name: 'bob', type: 'User', isAdmin: true })
    const advice = await read(admin, `/identities/${id}/policy-advice/${serviceId}`)
    expect(advice).toMatchObject({ isDialAllowed: false, isBindAllowed: false, identityRouterCount: 1 })
    expect(advice.commonRouters).toMatchObject([{ isOnline: false }])
  })

  it('asks for an identity and a service that exist', async () => {
    const { admin, alice, serviceId } = await network(await mount())
    expectUnknown(await admin.get(`/identities/x/policy-advice/${serviceId}`), 'identity', 'x')
    expectUnknown(await admin.get(`/identities/${alice.id}/policy-advice/x`), 'service', 'x')
  })
})

describe('the services of an identity', () => {
  it.each([
    ['dial', 1],
    ['Dial', 1],
    ['bind', 0],
  ])('are narrowed by policyType %s', async (policyType, count) => {
    const { admin, alice } = await network(await mount())
    const { data } = (await admin.get(`/identities/${alice.id}/services?policyType=${policyType}`)).body
    expect(data).toHaveLength(count)
  })

  it('are not narrowed by a type that there is not', async () => {
    const { admin, alice, serviceId } = await network(await mount())
    for (const path of [`/identities/${alice.id}/services`, `/services/${serviceId}/identities`]) {
      expectError(await admin.get(`${path}?policyType=none`), 'COULD_NOT_VALIDATE', { field: 'policyType' })
    }
  })
})

describe('tracing an identity', () => {
  it('lasts for its duration and ends when it is told to', async () => {
    const { admin, alice, mounted } = await network(await mount())
    const at = `/identities/${alice.id}/trace`
    const body = { enabled: true, duration: '10m', traceId: 'mine', channels: ['selectPath', 'unknown'] }
    const until = new Date(mounted.clock.now() + 600_000).toISOString()
    const { engine } = mounted.controller
    expect((await admin.put(at, body)).body.data).toEqual({ enabled: true, traceId: 'mine', until })
    expect(engine.host.traceOf(alice.id)?.channels).toEqual(['selectPath'])
    mounted.clock.advance(600_000)
    expect(engine.host.traceOf(alice.id)).toBeUndefined()
    const again = (await admin.put(at, { enabled: true, duration: '1s' })).body.data
    expect(again.traceId).toMatch(/^[0-9a-f-]{36}$/)
    expect(engine.host.traceOf(alice.id)?.channels).toEqual(['selectPath', 'establishPath'])
    expect((await admin.put(at, { enabled: false })).body.data).toMatchObject({ until: '0001-01-01T00:00:00.000Z' })
    expect(engine.host.traceOf(alice.id)).toBeUndefined()
  })

  it('asks for a duration as Go writes it', async () => {
    const { admin, alice, mounted } = await network(await mount())
    const at = `/identities/${alice.id}/trace`
    await admin.put(at, { enabled: true, duration: '1h', traceId: 'mine' })
    for (const duration of ['soon', '', '10', undefined]) {
      expectFieldError(await admin.put(at, { enabled: true, duration }), 'duration')
    }
    expect(mounted.controller.engine.host.traceOf(alice.id)?.traceId).toBe('mine')
    expect((await admin.put(at, { enabled: false, duration: 'soon' })).status).toBe(200)
    expectUnknown(await admin.put('/identities/x/trace', { enabled: false }), 'identity', 'x')
  })
})

describe('sessions, as administrators see them', () => {
  it('are listed, shown and ended, with their API session', async () => {
    const { admin, alice, serviceId } = await network(await mount({ presence }))
    const { id } = (await alice.api.post('/sessions', { serviceId, type: 'Dial' })).body.data
    const session = await read(admin, `/sessions/${id}`)
    expect(session).toMatchObject({ id, serviceId, identityId: alice.id, type: 'Dial', service: { name: 'web' } })
    expect((await admin.get(`/sessions?filter=service="${serviceId}"`)).body.data).toEqual([session])
    expect((await admin.get(`/sessions/${id}/route-path`)).body.data).toEqual({ routePath: [] })
    expectDone(await admin.delete(`/sessions/${id}`))
    expectUnknown(await alice.api.get(`/sessions/${id}`), 'session', id)
    expectUnknown(await admin.delete(`/sessions/${id}`), 'session', id)
    const other = (await alice.api.post('/sessions', { serviceId, type: 'Dial' })).body.data.id
    const apiSessionId = session.apiSessionId
    const apiSession = await read(admin, `/api-sessions/${apiSessionId}`)
    expect(apiSession).toMatchObject({ id: apiSessionId, identity: { name: 'alice' }, token: '' })
    expect((await admin.get(`/api-sessions?filter=identity="${alice.id}"`)).body.data).toEqual([apiSession])
    expectDone(await admin.delete(`/api-sessions/${apiSessionId}`))
    expectUnknown(await admin.get(`/api-sessions/${apiSessionId}`), 'api session', apiSessionId)
    expectUnknown(await admin.get(`/sessions/${other}`), 'session', other)
    expectError(await alice.api.get('/current-identity'), 'UNAUTHORIZED')
  })

  it('are open to who holds the permission ops', async () => {
    const { admin, alice } = await network(await mount())
    expectError(await alice.management.get('/sessions'), 'UNAUTHORIZED')
    expectDone(await admin.patch(`/identities/${alice.id}`, { permissions: ['ops.read'] }))
    expect((await alice.management.get('/sessions')).status).toBe(200)
    const own = (await alice.management.get('/api-sessions')).body.data[0].id
    expectError(await alice.management.delete(`/api-sessions/${own}`), 'UNAUTHORIZED')
  })
})

describe('edge routers, as clients see them', () => {
  async function verified() {
    const scene = await network(await mount({ presence }))
    const { storage } = scene.mounted.controller
    const { edgeRouters } = await import('../support/stored-records.ts')
    await storage.write(async (tx) => {
      const router = await tx.collection(edgeRouters).get(scene.routerId)
      if (router !== undefined) await tx.collection(edgeRouters).update({ ...router, isVerified: true })
    })
    await create(scene.admin, '/edge-routers', { name: 'unverified', roleAttributes: ['public'] })
    return scene
  }

  const common = {
    appData: {},
    cost: 0,
    disabled: false,
    hostname: 'er.example',
    isOnline: true,
    name: 'router',
    noTraversal: false,
    supportedProtocols: { tls: 'tls://er.example:3022' },
    syncStatus: 'SYNC_DONE',
  }

  it('the verified ones that policies let them use', async () => {
    const { admin, alice, routerId, mounted } = await verified()
    const { data, meta } = (await alice.api.get('/current-identity/edge-routers')).body
    expect(data).toEqual([
      {
        ...common,
        _links: expect.anything(),
        createdAt: expect.any(String),
        id: routerId,
        tags: {},
        updatedAt: expect.any(String),
      },
    ])
    expect(meta.pagination.totalCount).toBe(1)
    expectDone(await admin.patch(`/edge-routers/${routerId}`, { roleAttributes: [] }))
    expect((await alice.api.get('/current-identity/edge-routers')).body.data).toEqual([])
    const asClient = foreignClient(mounted, CLIENT, admin.token)
    expect((await asClient.get('/current-identity/edge-routers')).body.data).toHaveLength(1)
  })

  it('those for a service; a session token must be good, if there is one', async () => {
    const { admin, alice, mounted, serviceId } = await verified()
    const at = `/services/${serviceId}/edge-routers`
    const { data } = (await alice.api.get(at)).body
    expect(data.edgeRouters).toHaveLength(2)
    expect(data.edgeRouters).toContainEqual(common)
    const { token, id } = (await alice.api.post('/sessions', { serviceId, type: 'Dial' })).body.data
    const withToken = (sessionToken: string, api = alice.api) =>
      api.send('GET', at, { headers: { 'session-token': sessionToken } })
    expect((await withToken(token)).body.data).toEqual(data)
    const [head, claims = '', signature] = token.split('.')
    const forged = Buffer.from(claims, 'base64url').toString().replace('Dial', 'Bind')
    for (const bad of [
      'x',
      alice.api.token ?? '',
      [head, Buffer.from(forged).toString('base64url'), signature].join('.'),
    ]) {
      expectError(await withToken(bad), 'UNAUTHORIZED')
    }
    expectError(await withToken(token, foreignClient(mounted, CLIENT, admin.token)), 'UNAUTHORIZED')
    await create(admin, '/revocations', { id: alice.id, type: 'IDENTITY' })
    expectError(await withToken(token), 'UNAUTHORIZED')
    expect(id).toBeDefined()
    const hidden = await create(admin, '/services', { name: 'hidden', encryptionRequired: true })
    expectUnknown(await alice.api.get(`/services/${hidden}/edge-routers`), 'service', hidden)
  })
})

it('a session token is good for its service and its session only', async () => {
  const { admin, alice, mounted, serviceId } = await network(await mount({ presence }))
  const other = await create(admin, '/services', { name: 'other', encryptionRequired: true, roleAttributes: ['web'] })
  const everything = { semantic: 'AnyOf', serviceRoles: ['#all'], identityRoles: ['#all'] }
  await create(admin, '/service-policies', { name: 'every service', type: 'Dial', ...everything })
  const routers = { name: 'every router', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }
  await create(admin, '/service-edge-router-policies', routers)
  const start = async (id: string) => (await alice.api.post('/sessions', { serviceId: id, type: 'Dial' })).body.data
  const ask = (id: string, token: string, api = alice.api) =>
    api.send('GET', `/services/${id}/edge-routers`, { headers: { 'session-token': token } })
  const [own, others] = [await start(serviceId), await start(other)]
  expect((await ask(serviceId, own.token)).status).toBe(200)
  expect((await ask(other, others.token)).status).toBe(200)
  expectError(await ask(other, own.token), 'UNAUTHORIZED')
  expectError(await ask(serviceId, others.token), 'UNAUTHORIZED')

  // No token opens anything else.
  for (const token of [own.token, own.id]) {
    expectError(await foreignClient(mounted, CLIENT, token).get('/current-identity'), 'UNAUTHORIZED')
    const headers = { authorization: `Bearer ${token}` }
    expectError(await foreignClient(mounted, CLIENT).send('GET', '/current-identity', { headers }), 'UNAUTHORIZED')
    expect((await foreignClient(mounted, CLIENT).post(`/enroll?token=${token}`, {})).status).toBe(400)
  }

  expectDone(await alice.api.delete(`/sessions/${own.id}`))
  expectError(await ask(serviceId, own.token), 'UNAUTHORIZED')
  const again = await start(serviceId)
  expectError(await ask(serviceId, own.token), 'UNAUTHORIZED')
  expect((await ask(serviceId, again.token)).status).toBe(200)
})

it('the management API lists sessions for the holder of its own session only through the client API', async () => {
  const { alice, mounted } = await network(await mount())
  const management = foreignClient(mounted, MANAGEMENT, alice.api.token)
  expectError(await management.get('/sessions'), 'UNAUTHORIZED')
  expect((await alice.api.get('/sessions')).status).toBe(200)
})
