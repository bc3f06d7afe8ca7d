import { describe, expect, it } from 'vitest'
import { givePassword } from '../../support/identity-state.ts'
import { dump, expectDone, expectError, expectFieldError } from './errors.ts'
import { adminOf, create, foreignClient, MANAGEMENT, passwordLogin, read } from './foreign-client.ts'
import type { Mount } from './mount.ts'

const PERSON = { type: 'User', isAdmin: false }

/** The particular rules of identities. */
export function describeIdentities(open: Mount): void {
  it.each(['User', 'Device', 'Service', 'Default'])('the type %s is kept as given', async (type) => {
    const admin = await adminOf(await open())
    const id = await create(admin, '/identities', { name: 'one', type, isAdmin: false })
    const ref = {
      entity: 'identity-types',
      id: type,
      name: type,
      _links: { self: { href: `./identity-types/${type}` } },
    }
    expect(await read(admin, `/identities/${id}`)).toMatchObject({ typeId: type, type: ref })
    expect((await admin.get(encodeURI(`/identities?filter=type="${type}" and name="one"`))).body.data).toHaveLength(1)
  })

  it('has links to everything that concerns it', async () => {
    const admin = await adminOf(await open())
    const id = await create(admin, '/identities', { name: 'one', ...PERSON })
    const { _links } = await read(admin, `/identities/${id}`)
    const nested = [
      'authenticators',
      'edge-router-policies',
      'edge-routers',
      'enrollments',
      'failed-service-requests',
      'posture-data',
      'service-configs',
      'service-policies',
      'services',
    ]
    expect(_links).toEqual({
      self: { href: `./identities/${id}` },
      'auth-policies': { href: './auth-policies/default' },
      ...Object.fromEntries(nested.map((name) => [name, { href: `./identities/${id}/${name}` }])),
    })
  })

  it('an external id is unique, and a blank one is none', async () => {
    const admin = await adminOf(await open())
    await create(admin, '/identities', { name: 'one', ...PERSON, externalId: 'x-1' })
    const blank = await create(admin, '/identities', { name: 'two', ...PERSON, externalId: ' ' })
    await create(admin, '/identities', { name: 'three', ...PERSON, externalId: '' })
    expect(await read(admin, `/identities/${blank}`)).toMatchObject({ externalId: null })
    const before = await dump(admin)
    const reason = "duplicate value 'x-1' in unique index on identities store"
    const taken = { name: 'two', ...PERSON, externalId: 'x-1' }
    expectFieldError(await admin.post('/identities', { ...taken, name: 'four' }), 'externalId', reason)
    expectFieldError(await admin.put(`/identities/${blank}`, taken), 'externalId', reason)
    expectFieldError(await admin.patch(`/identities/${blank}`, { externalId: 'x-1' }), 'externalId', reason)
    expect(await dump(admin)).toBe(before)
  })

  it('an empty auth policy is the default one', async () => {
    const admin = await adminOf(await open())
    const id = await create(admin, '/identities', { name: 'one', ...PERSON, authPolicyId: '' })
    expect(await read(admin, `/identities/${id}`)).toMatchObject({ authPolicyId: 'default' })
  })

  it('keeps hosting costs of services that exist', async () => {
    const admin = await adminOf(await open())
    const service = await create(admin, '/services', { name: 'web', encryptionRequired: true })
    const hosting = { serviceHostingCosts: { [service]: 7 }, serviceHostingPrecedences: { [service]: 'failed' } }
    const id = await create(admin, '/identities', { name: 'one', ...PERSON, ...hosting })
    expect(await read(admin, `/identities/${id}`)).toMatchObject(hosting)
  })

  it('maps are replaced whole, and an empty one clears', async () => {
    const admin = await adminOf(await open())
    const body = { name: 'one', ...PERSON, appData: { a: { b: 1 } }, tags: { a: 'x' }, roleAttributes: ['a'] }
    const at = `/identities/${await create(admin, '/identities', body)}`
    expectDone(await admin.patch(at, { appData: { c: null }, tags: { b: false } }))
    const changed = await read(admin, at)
    expect([changed.appData, changed.tags]).toEqual([{ c: null }, { b: false }])
    expectDone(await admin.patch(at, { appData: {}, tags: {}, roleAttributes: [] }))
    const cleared = await read(admin, at)
    expect([cleared.appData, cleared.tags, cleared.roleAttributes]).toEqual([{}, {}, []])
  })

  it('an outstanding enrollment is shown, and is no part of PUT and PATCH', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    const at = `/identities/${await create(admin, '/identities', { name: 'one', ...PERSON, enrollment: { ott: true } })}`
    const { enrollment } = await read(admin, at)
    const expiresAt = new Date(mounted.clock.now() + 180 * 60_000).toISOString()
    const ott = {
      expiresAt,
      id: expect.any(String),
      jwt: expect.any(String),
      token: expect.stringMatching(/^[0-9a-f-]{36}$/),
    }
    expect(enrollment).toEqual({ ott })
    expectDone(await admin.put(at, { name: 'one', ...PERSON, enrollment: { updb: 'user' } }))
    expectDone(await admin.patch(at, { enrollment: { updb: 'user' } }))
    expect((await read(admin, at)).enrollment).toEqual(enrollment)
    const updb = await create(admin, '/identities', { name: 'two', ...PERSON, enrollment: { updb: 'user' } })
    expect(Object.keys((await read(admin, `/identities/${updb}`)).enrollment)).toEqual(['updb'])
    const none = await create(admin, '/identities', { name: 'three', ...PERSON, enrollment: {} })
    expect((await read(admin, `/identities/${none}`)).enrollment).toEqual({})
  })

  it('of several enrollments the one-time token is made', async () => {
    const admin = await adminOf(await open())
    const both = { ott: true, updb: 'user' }
    const id = await create(admin, '/identities', { name: 'one', ...PERSON, enrollment: both })
    expect(Object.keys((await read(admin, `/identities/${id}`)).enrollment)).toEqual(['ott'])
  })

  it('the default admin cannot be deleted, and stays the default admin', async () => {
    const admin = await adminOf(await open())
    const { id } = (await admin.get('/identities?filter=isDefaultAdmin=true')).body.data[0]
    expectError(await admin.delete(`/identities/${id}`), 'ENTITY_CAN_NOT_BE_DELETED')
    expectDone(await admin.patch(`/identities/${id}`, { name: 'root', isDefaultAdmin: false, isAdmin: false }))
    expect(await read(admin, `/identities/${id}`)).toMatchObject({ name: 'root', isDefaultAdmin: true })
    expect((await admin.get('/services')).status).toBe(200)
  })

  describe('of a delegated administrator', () => {
    const setUp = async (permissions: readonly string[]) => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const id = await create(admin, '/identities', { name: 'delegate', ...PERSON, permissions })
      const credentials = { username: 'delegate', password: 'delegate-password' }
      await givePassword(mounted.controller, id, credentials)
      const delegate = foreignClient(mounted, MANAGEMENT, await passwordLogin(mounted, credentials))
      const boss = await create(admin, '/identities', { name: 'boss', type: 'User', isAdmin: true })
      return { admin, delegate, id, boss }
    }

    it('makes and changes ordinary identities', async () => {
      const { admin, delegate } = await setUp(['identity'])
      const made = await create(delegate, '/identities', { name: 'made', ...PERSON })
      expectDone(await delegate.patch(`/identities/${made}`, { roleAttributes: ['a'] }))
      expect(await read(admin, `/identities/${made}`)).toMatchObject({ roleAttributes: ['a'], isAdmin: false })
      expectDone(await delegate.delete(`/identities/${made}`))
    })

    it('never makes, becomes or touches an admin', async () => {
      const { admin, delegate, id, boss } = await setUp(['identity'])
      const before = await dump(admin)
      const cause = { code: 'UNHANDLED', message: expect.stringContaining('non-admins may not') }
      const own = `/identities/${id}`
      const refused = [
        await delegate.post('/identities', { name: 'x', type: 'User', isAdmin: true }),
        await delegate.post('/identities', { name: 'x', ...PERSON, permissions: ['service'] }),
        await delegate.patch(own, { isAdmin: true }),
        await delegate.patch(own, { permissions: ['identity', 'service'] }),
        await delegate.patch(`/identities/${boss}`, { name: 'x' }),
        await delegate.delete(`/identities/${boss}`),
      ]
      const notTheirs = [
        await delegate.put(own, { name: 'delegate', ...PERSON, permissions: ['service'] }),
        await delegate.put(`/identities/${boss}`, { name: 'x', ...PERSON }),
      ]
      for (const answer of refused) expectError(answer, 'UNAUTHORIZED', cause)
      // Whole identities are replaced by admins only, whatever the body says.
      for (const answer of notTheirs) expectError(answer, 'UNAUTHORIZED', null)
      expect(await dump(admin)).toBe(before)
    })

    it('who may only read does not write, and an unknown permission is refused', async () => {
      const { admin, delegate } = await setUp(['identity.read'])
      expect((await delegate.get('/identities')).status).toBe(200)
      const lacks = (permission: string) => ({ code: 'UNHANDLED', message: `it takes the permission ${permission}` })
      const created = await delegate.post('/identities', { name: 'x', ...PERSON })
      expectError(created, 'UNAUTHORIZED', lacks('identity.create'))
      expectError(await delegate.get('/services'), 'UNAUTHORIZED', lacks('service.read'))
      const unknown = { name: 'x', ...PERSON, permissions: ['identity.fly'] }
      expectFieldError(await admin.post('/identities', unknown), 'permissions.0')
    })
  })
}
