import { describe, expect, it } from 'vitest'
import { dump, expectDone, expectError, expectFieldError } from './errors.ts'
import { adminOf, create, type ForeignClient, read } from './foreign-client.ts'
import { claimsOf } from './jwt.ts'
import type { Mount } from './mount.ts'

const TUNNELER = { name: 'tunneler', isTunnelerEnabled: true }

/** Edge routers: their policies, their enrollment, their presence. */
export function describeEdgeRouters(open: Mount): void {
  it('is created with an enrollment that is good for three hours', async () => {
    const mounted = await open({ address: 'ctrl.example.org:443' })
    const admin = await adminOf(mounted)
    const id = await create(admin, '/edge-routers', { name: 'router' })
    const shown = await read(admin, `/edge-routers/${id}`)
    const expiresAt = mounted.clock.now() + 180 * 60_000
    expect(shown).toMatchObject({
      enrollmentCreatedAt: new Date(mounted.clock.now()).toISOString(),
      enrollmentExpiresAt: new Date(expiresAt).toISOString(),
      enrollmentToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
      fingerprint: null,
      versionInfo: { arch: '', buildDate: '', os: '', revision: '', version: '' },
    })
    expect(shown._links).toEqual({
      self: { href: `./edge-routers/${id}` },
      'edge-router-policies': { href: `./edge-routers/${id}/edge-router-policies` },
    })
    expect(claimsOf(mounted, shown.enrollmentJwt)).toEqual({
      iss: 'https://ctrl.example.org:443',
      sub: id,
      aud: [''],
      jti: shown.enrollmentToken,
      exp: Math.floor(expiresAt / 1000),
      em: 'erott',
    })
  })

  it('that is connected shows where it is reached', async () => {
    const supportedProtocols = { tls: 'tls://er.example.org:3022', wss: 'wss://er.example.org:3023' }
    const presence = { connectionOf: () => ({ hostname: 'er.example.org', supportedProtocols }) }
    const admin = await adminOf(await open({ presence }))
    const id = await create(admin, '/edge-routers', { name: 'router' })
    const online = { hostname: 'er.example.org', isOnline: true, supportedProtocols, syncStatus: 'SYNC_DONE' }
    expect(await read(admin, `/edge-routers/${id}`)).toMatchObject(online)
  })

  describe('that is tunneler-enabled', () => {
    const policiesNamed = async (admin: ForeignClient, id: string) =>
      (await admin.get(`/edge-router-policies?filter=name="edge-router-${id}-system"`)).body.data

    const expectOwn = async (admin: ForeignClient, id: string, name: string) => {
      const owned = { id, name, typeId: 'Router', isAdmin: false, authenticators: {}, enrollment: {} }
      expect(await read(admin, `/identities/${id}`)).toMatchObject(owned)
      expect(await read(admin, `/edge-router-policies/${id}`)).toMatchObject({
        id,
        name: `edge-router-${id}-system`,
        semantic: 'AnyOf',
        isSystem: true,
        edgeRouterRoles: [`@${id}`],
        identityRoles: [`@${id}`],
        edgeRouterRolesDisplay: [{ role: `@${id}`, name: `@${name}` }],
      })
    }

    const expectNone = async (admin: ForeignClient, id: string) => {
      expect((await admin.get(`/identities/${id}`)).status).toBe(404)
      expect((await admin.get(`/edge-router-policies/${id}`)).status).toBe(404)
      expect(await policiesNamed(admin, id)).toEqual([])
    }

    it('has an identity and a system policy of its own', async () => {
      const admin = await adminOf(await open())
      await expectOwn(admin, await create(admin, '/edge-routers', TUNNELER), 'tunneler')
    })

    it.each(['put', 'patch'] as const)('comes to be and ceases by %s', async (verb) => {
      const admin = await adminOf(await open())
      const id = await create(admin, '/edge-routers', { name: 'tunneler' })
      await expectNone(admin, id)
      expectDone(await admin[verb](`/edge-routers/${id}`, TUNNELER))
      await expectOwn(admin, id, 'tunneler')
      expectDone(await admin[verb](`/edge-routers/${id}`, { ...TUNNELER, name: 'renamed' }))
      await expectOwn(admin, id, 'renamed')
      expectDone(await admin[verb](`/edge-routers/${id}`, { name: 'renamed', isTunnelerEnabled: false }))
      await expectNone(admin, id)
    })

    it('takes both with it, also out of role lists, when it is deleted', async () => {
      const admin = await adminOf(await open())
      const id = await create(admin, '/edge-routers', TUNNELER)
      const body = { name: 'other', semantic: 'AnyOf', identityRoles: [`@${id}`], edgeRouterRoles: [`@${id}`] }
      const other = await create(admin, '/edge-router-policies', body)
      expectDone(await admin.delete(`/edge-routers/${id}`))
      await expectNone(admin, id)
      const lists = { identityRoles: [], edgeRouterRoles: [] }
      expect(await read(admin, `/edge-router-policies/${other}`)).toMatchObject(lists)
    })

    it('cannot have the name of an identity', async () => {
      const admin = await adminOf(await open())
      await create(admin, '/identities', { name: 'tunneler', type: 'User', isAdmin: false })
      const plain = await create(admin, '/edge-routers', { name: 'plain' })
      const before = await dump(admin)
      expectFieldError(await admin.post('/edge-routers', TUNNELER), 'name')
      expectFieldError(await admin.patch(`/edge-routers/${plain}`, TUNNELER), 'name')
      expect(await dump(admin)).toBe(before)
    })

    it('has a system policy that nobody changes or deletes', async () => {
      const admin = await adminOf(await open())
      const id = await create(admin, '/edge-routers', TUNNELER)
      const before = await dump(admin)
      const at = `/edge-router-policies/${id}`
      const says = (verb: string) => ({
        code: 'UNHANDLED',
        message: `cannot ${verb} system edge router policy in a non-system context (id=${id})`,
      })
      expectError(await admin.patch(at, { name: 'mine' }), 'ENTITY_CAN_NOT_BE_UPDATED', says('update'))
      expectError(await admin.put(at, { name: 'mine', semantic: 'AllOf' }), 'ENTITY_CAN_NOT_BE_UPDATED', says('update'))
      expectError(await admin.delete(at), 'ENTITY_CAN_NOT_BE_DELETED', says('delete'))
      expect(await dump(admin)).toBe(before)
    })

    it('has an identity that keeps its name, its type and its life', async () => {
      const admin = await adminOf(await open())
      const id = await create(admin, '/edge-routers', TUNNELER)
      const at = `/identities/${id}`
      const before = await dump(admin)
      expectFieldError(await admin.patch(at, { name: 'x' }), 'name', 'may not change name of router identities')
      const retyped = { name: 'tunneler', type: 'User', isAdmin: false }
      expectFieldError(await admin.put(at, retyped), 'typeId', 'may not change type of router identities')
      const message = 'cannot delete router identity tunneler until associated router is deleted'
      expectError(await admin.delete(at), 'ENTITY_CAN_NOT_BE_DELETED', { code: 'UNHANDLED', message })
      expect(await dump(admin)).toBe(before)
      expectDone(await admin.patch(at, { roleAttributes: ['sites'] }))
      expect(await read(admin, at)).toMatchObject({ roleAttributes: ['sites'] })
    })

    it('is not what another identity can become', async () => {
      const admin = await adminOf(await open())
      const id = await create(admin, '/identities', { name: 'one', type: 'User', isAdmin: false })
      const router = { name: 'one', type: 'Router', isAdmin: false }
      expectFieldError(await admin.put(`/identities/${id}`, router), 'typeId', 'may not change type to router')
    })
  })
}
