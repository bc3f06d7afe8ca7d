import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError, expectUnknown } from './errors.ts'
import { CLIENT, create, foreignClient, read } from './foreign-client.ts'
import { claimsOf } from './jwt.ts'
import type { Mount } from './mount.ts'
import { certificateLogin, enrolled, type Network, network } from './scenario.ts'

const YEAR_SECONDS = 365 * 24 * 60 * 60

const dial = ({ alice, serviceId }: Network, type: unknown = 'Dial') => alice.api.post('/sessions', { serviceId, type })

/** Service sessions: who gets one, and when it ends. */
export function describeSessions(open: Mount): void {
  it('a session is shown with its routers, and carries a token that routers can verify', async () => {
    const supportedProtocols = { tls: 'tls://er.example.org:3022' }
    const online = new Set<string>()
    const connection = { hostname: 'er.example.org', supportedProtocols }
    const presence = { connectionOf: (id: string) => (online.has(id) ? connection : undefined) }
    const world = await network(await open({ presence, address: 'ctrl.example.org:443' }))
    const second = await create(world.admin, '/edge-routers', { name: 'second', roleAttributes: ['public'], cost: 5 })
    await create(world.admin, '/edge-routers', { name: 'foreign' })
    online.add(second)
    const tags = { purpose: 'test' }
    const request = { serviceId: world.serviceId, type: 'Dial', tags }
    const { status, body } = await world.alice.api.post('/sessions', request)
    expect(status).toBe(201)
    const { data } = body
    const apiSession = await read(world.alice.api, '/current-api-session')
    const facts = {
      apiSessionId: apiSession.id,
      identityId: world.alice.id,
      serviceId: world.serviceId,
      type: 'Dial',
      tags,
    }
    expect(data).toMatchObject({ id: expect.any(String), ...facts })
    expect(data.edgeRouters).toEqual([
      expect.objectContaining({
        name: 'second',
        cost: 5,
        noTraversal: false,
        disabled: false,
        isOnline: true,
        hostname: 'er.example.org',
        syncStatus: 'SYNC_DONE',
        supportedProtocols,
        urls: supportedProtocols,
      }),
      expect.objectContaining({ name: 'router', isOnline: false, hostname: '', supportedProtocols: {}, urls: {} }),
    ])
    const issuedAt = Math.floor(world.mounted.clock.now() / 1000)
    expect(claimsOf(world.mounted, data.token)).toEqual({
      iss: 'https://ctrl.example.org:443',
      sub: world.serviceId,
      aud: ['openziti'],
      iat: issuedAt,
      exp: issuedAt + YEAR_SECONDS,
      jti: data.id,
      z_asid: apiSession.id,
      z_iid: world.alice.id,
      z_t: 's',
      z_st: 'Dial',
      z_leg: true,
    })
    const shown = await read(world.alice.api, `/sessions/${data.id}`)
    expect(shown).toMatchObject({
      ...facts,
      _links: { self: { href: `./sessions/${data.id}` }, 'route-path': { href: `./sessions/${data.id}/route-path` } },
      service: { entity: 'services', id: world.serviceId, name: 'web' },
      apiSession: { entity: 'api-sessions', id: apiSession.id },
      edgeRouters: data.edgeRouters,
      servicePolicies: [{ entity: 'service-policies', id: world.policyId }],
      token: data.id,
    })
    expect((await world.alice.api.get('/sessions')).body.data).toEqual([shown])
  })

  it('is the same as long as it lasts, for one API session, service and direction', async () => {
    const world = await network(await open())
    const bind = { type: 'Bind', semantic: 'AnyOf', identityRoles: ['#people'], serviceRoles: ['#apps'] }
    await create(world.admin, '/service-policies', { name: 'bind', ...bind })
    const first = (await dial(world)).body.data
    world.mounted.clock.advance(1000)
    const again = await dial(world)
    expect([again.status, again.body.data.id]).toEqual([201, first.id])
    expect(again.body.data.token).not.toBe(first.token)
    expect((await dial(world, 'Bind')).body.data.id).not.toBe(first.id)
    const api = foreignClient(world.mounted, CLIENT, await certificateLogin(world.mounted, world.alice.certificate))
    const other = await api.post('/sessions', { serviceId: world.serviceId })
    expect(other.body.data).toMatchObject({ type: 'Dial' })
    expect(other.body.data.id).not.toBe(first.id)
    expect((await world.alice.api.get('/sessions')).body.data).toHaveLength(3)
    const parallel = await Promise.all(Array.from({ length: 5 }, () => dial(world)))
    expect(new Set(parallel.map(({ body }) => body.data.id))).toEqual(new Set([first.id]))
  })

  it('ends once, by its own identity', async () => {
    const world = await network(await open())
    const { id } = (await dial(world)).body.data
    expectDone(await world.alice.api.delete(`/sessions/${id}`))
    expectUnknown(await world.alice.api.get(`/sessions/${id}`), 'session', id)
    expectUnknown(await world.alice.api.delete(`/sessions/${id}`), 'session', id)
    expect((await dial(world)).body.data.id).not.toBe(id)
  })

  it('of somebody else is as unknown as one that is not', async () => {
    const world = await network(await open())
    const { id } = (await dial(world)).body.data
    const bob = await enrolled(world.mounted, world.admin, { name: 'bob', roleAttributes: ['people'] })
    const admin = foreignClient(world.mounted, CLIENT, world.admin.token)
    for (const stranger of [bob.api, admin]) {
      expectUnknown(await stranger.get(`/sessions/${id}`), 'session', id)
      expectUnknown(await stranger.delete(`/sessions/${id}`), 'session', id)
    }
    expectUnknown(await bob.api.get('/sessions/unknown'), 'session', 'unknown')
    expect((await bob.api.get('/sessions')).body.data).toEqual([])
    expect((await admin.get('/sessions')).body.data).toHaveLength(1)
    expect((await world.alice.api.get(`/sessions/${id}`)).status).toBe(200)
  })

  describe('is refused', () => {
    it.each([
      ['a service that is not there', { serviceId: 'unknown', type: 'Dial' }, 'unknown'],
      ['no service at all', { type: 'Dial' }, ''],
    ])('for %s', async (_what, body, id) => {
      const { alice } = await network(await open())
      expectUnknown(await alice.api.post('/sessions', body), 'service', id)
    })

    it('for a service that the caller may not reach, admin or not', async () => {
      const world = await network(await open())
      const hidden = await create(world.admin, '/services', { name: 'hidden', encryptionRequired: true })
      expectUnknown(await world.alice.api.post('/sessions', { serviceId: hidden, type: 'Dial' }), 'service', hidden)
      const admin = foreignClient(world.mounted, CLIENT, world.admin.token)
      const { serviceId } = world
      expectUnknown(await admin.post('/sessions', { serviceId, type: 'Dial' }), 'service', serviceId)
    })

    it('in the direction that the caller may not take', async () => {
      const world = await network(await open())
      const answer = await dial(world, 'Bind')
      expectFieldError(answer, 'ServiceId', 'service not found')
      expect(answer.body.error.cause.value).toBe(world.serviceId)
    })

    it.each([
      ['Invalid', 'COULD_NOT_VALIDATE'],
      ['dial', 'COULD_NOT_VALIDATE'],
      [7, 'COULD_NOT_PARSE_BODY'],
    ])('for the type %s', async (type, code) => {
      const answer = await dial(await network(await open()), type)
      expect(answer.status).toBe(400)
      expect([code, 'COULD_NOT_VALIDATE']).toContain(answer.body.error.code)
      expect(answer.body.error.cause).toMatchObject({ field: 'type' })
    })

    it.each([
      ['/edge-router-policies', { edgeRouterRoles: [] }],
      ['/edge-router-policies', { identityRoles: ['#nobody'] }],
      ['/service-edge-router-policies', { serviceRoles: ['#nothing'] }],
      ['/service-edge-router-policies', { edgeRouterRoles: ['#private'] }],
    ])('without a router that both may use (%s %j)', async (path, change) => {
      const world = await network(await open())
      const [policy] = (await world.admin.get(path)).body.data
      expectDone(await world.admin.patch(`${path}/${policy.id}`, change))
      expectError(await dial(world), 'NO_EDGE_ROUTERS_AVAILABLE', null)
      expect((await world.alice.api.get('/sessions')).body.data).toEqual([])
    })

    it('by posture before routers are looked at', async () => {
      const world = await network(await open())
      const check = { name: 'c', typeId: 'DOMAIN', domains: ['corp'], roleAttributes: ['required'] }
      await create(world.admin, '/posture-checks', check)
      expectDone(await world.admin.delete(`/edge-routers/${world.routerId}`))
      expectError(await dial(world), 'INVALID_POSTURE')
    })
  })

  describe('is gone', () => {
    it('when posture fails', async () => {
      const world = await network(await open())
      const check = { name: 'c', typeId: 'DOMAIN', domains: ['corp'], roleAttributes: ['required'] }
      const id = await create(world.admin, '/posture-checks', check)
      const report = (domain: string) => world.alice.api.post('/posture-response', { id, typeId: 'DOMAIN', domain })
      expect((await report('corp')).status).toBe(201)
      const session = (await dial(world)).body.data
      expect((await report('CORP')).status).toBe(201)
      expect((await world.alice.api.get(`/sessions/${session.id}`)).status).toBe(200)
      expect((await report('home')).status).toBe(201)
      expectUnknown(await world.alice.api.get(`/sessions/${session.id}`), 'session', session.id)
      expectError(await dial(world), 'INVALID_POSTURE')
      expect((await report('corp')).status).toBe(201)
      expect((await dial(world)).body.data.id).not.toBe(session.id)
    })

    it('with its service', async () => {
      const world = await network(await open())
      const { id } = (await dial(world)).body.data
      expectDone(await world.admin.delete(`/services/${world.serviceId}`))
      expectUnknown(await world.alice.api.get(`/sessions/${id}`), 'session', id)
    })
  })
}
