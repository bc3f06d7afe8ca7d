import type { TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectDone, expectFieldError, expectUnknown } from '../contract/http/errors.ts'
import { adminOf, create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'

const PATHS = [['/routers'], ['/transit-routers']]

function claimsOf(jwt: string) {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
}

describe.each(PATHS)('%s', (path) => {
  it('is created with an enrollment and shown with it', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const id = await create(admin, path, { name: 'r', disabled: true })
    const now = new Date(mounted.clock.now()).toISOString()
    const router = await read(admin, `${path}/${id}`)
    expect(router).toEqual({
      _links: { self: { href: `./transit-routers/${id}` } },
      id,
      createdAt: now,
      updatedAt: now,
      tags: {},
      name: 'r',
      configs: [],
      cost: 0,
      ctrlChanListeners: {},
      disabled: true,
      fingerprint: null,
      interfaces: null,
      isOnline: false,
      isVerified: false,
      noTraversal: false,
      unverifiedCertPem: null,
      unverifiedFingerprint: null,
      enrollmentCreatedAt: now,
      enrollmentExpiresAt: new Date(mounted.clock.now() + 180 * 60_000).toISOString(),
      enrollmentJwt: expect.any(String),
      enrollmentToken: expect.any(String),
    })
    expect(claimsOf(router.enrollmentJwt)).toMatchObject({ em: 'trott', sub: id, jti: router.enrollmentToken })
    expect((await admin.get(`${path}?filter=isVerified=false`)).body.data).toEqual([router])
  })

  it('PUT and PATCH apply cost, traversal and disabled', async () => {
    const admin = await adminOf(await mount())
    const id = await create(admin, path, { name: 'r' })
    const changed = {
      cost: 7,
      noTraversal: true,
      disabled: true,
      ctrlChanListeners: { 'tls:a:1': ['g'] },
      tags: { a: 1 },
    }
    expectDone(await admin.patch(`${path}/${id}`, changed))
    expect(await read(admin, `${path}/${id}`)).toMatchObject({ name: 'r', ...changed })
    expectDone(await admin.put(`${path}/${id}`, { name: 's' }))
    expect(await read(admin, `${path}/${id}`)).toMatchObject({
      name: 's',
      cost: 0,
      noTraversal: false,
      disabled: false,
    })
    expectFieldError(await admin.patch(`${path}/${id}`, { cost: 65_536 }), 'cost')
    expectFieldError(await admin.post(path, {}), 'name', 'name in body is required')
  })

  it('shares its names with edge routers, in both directions', async () => {
    const admin = await adminOf(await mount())
    await create(admin, '/edge-routers', { name: 'edge' })
    const id = await create(admin, path, { name: 'transit' })
    expectFieldError(await admin.post(path, { name: 'edge' }), 'name', 'name must be unique')
    expectFieldError(await admin.patch(`${path}/${id}`, { name: 'edge' }), 'name', 'name must be unique')
    expectFieldError(await admin.post('/edge-routers', { name: 'transit' }), 'name', 'name must be unique')
    expectDone(await admin.delete(`${path}/${id}`))
    await create(admin, '/edge-routers', { name: 'transit' })
  })

  it('takes its enrollment and its terminators with it', async () => {
    const admin = await adminOf(await mount())
    const id = await create(admin, path, { name: 'r' })
    const terminator = await terminatorOf(admin, id)
    expectDone(await admin.delete(`${path}/${id}`))
    expectUnknown(await admin.get(`${path}/${id}`), 'router', id)
    expectUnknown(await admin.get(`/terminators/${terminator}`), 'terminator', terminator)
    expect((await admin.get('/enrollments')).body.data).toEqual([])
  })
})

it('the same routers stand under both paths', async () => {
  const admin = await adminOf(await mount())
  const id = await create(admin, '/routers', { name: 'r' })
  expect(await read(admin, `/transit-routers/${id}`)).toEqual(await read(admin, `/routers/${id}`))
  expect((await admin.get('/edge-routers')).body.data).toEqual([])
})

describe('an edge router by its id among transit routers', () => {
  it.each(PATHS)('%s shows it as the link of a terminator expects', async (path) => {
    const admin = await adminOf(await mount())
    const router = await create(admin, '/edge-routers', { name: 'r', cost: 7, roleAttributes: ['a'], tags: { t: 1 } })
    const service = await create(admin, '/services', { name: 's', encryptionRequired: true })
    const terminator = await create(admin, '/terminators', { service, router, binding: 'edge', address: 'a' })
    const { _links } = (await read(admin, `/terminators/${terminator}`)).router
    const like = await read(admin, `${path}/${await create(admin, path, { name: 'like', cost: 7, tags: { t: 1 } })}`)
    const { enrollmentCreatedAt, enrollmentExpiresAt, enrollmentJwt, enrollmentToken, ...members } = like
    expect(await read(admin, `${path}/${router}`)).toEqual({ ...members, _links, id: router, name: 'r' })
    expect((await admin.get(path)).body.data).toHaveLength(1)
  })

  it('stays what it is', async () => {
    const admin = await adminOf(await mount())
    const router = await create(admin, '/edge-routers', { name: 'r', roleAttributes: ['a'] })
    const shown = await read(admin, `/edge-routers/${router}`)
    await read(admin, `/transit-routers/${router}`)
    expectUnknown(await admin.patch(`/transit-routers/${router}`, { name: 'x' }), 'router', router)
    expectUnknown(await admin.delete(`/transit-routers/${router}`), 'router', router)
    expect(await read(admin, `/edge-routers/${router}`)).toEqual(shown)
  })
})

describe('an edge router enrolls anew', () => {
  it('with another token, and is not verified until it has', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const id = await create(admin, '/edge-routers', { name: 'r' })
    const before = await read(admin, `/edge-routers/${id}`)
    mounted.clock.advance(1000)
    expectDone(await admin.send('POST', `/edge-routers/${id}/re-enroll`))
    const after = await read(admin, `/edge-routers/${id}`)
    expect(after.enrollmentToken).not.toBe(before.enrollmentToken)
    expect(after).toMatchObject({ isVerified: false, certPem: null })
    expect(claimsOf(after.enrollmentJwt)).toMatchObject({ em: 'erott', sub: id })
    expect((await admin.get('/enrollments')).body.data).toHaveLength(1)
    expectUnknown(await admin.send('POST', '/edge-routers/unknown/re-enroll'), 'edge router', 'unknown')
  })
})

it('the tokens of routers are good for as long as the controller says, which is no longer that of identities', async () => {
  const MINUTE_MS = 60_000
  const expiring = async (options: TestControllerOptions) => {
    const mounted = await mount(options)
    const admin = await adminOf(mounted)
    const shown = []
    for (const path of ['/edge-routers', '/transit-routers'])
      shown.push((await read(admin, `${path}/${await create(admin, path, { name: path })}`)).enrollmentExpiresAt)
    const body = { name: 'i', type: 'User', isAdmin: false, enrollment: { ott: true } }
    const { enrollment } = await read(admin, `/identities/${await create(admin, '/identities', body)}`)
    return [...shown, enrollment.ott.expiresAt].map((at) => (Date.parse(at) - mounted.clock.now()) / MINUTE_MS)
  }
  expect(await expiring({})).toEqual([180, 180, 180])
  expect(await expiring({ enrollmentDurationMs: 5 * MINUTE_MS })).toEqual([5, 5, 5])
  const apart = { enrollmentDurationMs: 5 * MINUTE_MS, routerEnrollmentDurationMs: 60 * MINUTE_MS }
  expect(await expiring(apart)).toEqual([60, 60, 5])
})

async function terminatorOf(admin: ForeignClient, router: string): Promise<string> {
  const service = await create(admin, '/services', { name: 's', encryptionRequired: true })
  return create(admin, '/terminators', { service, router, binding: 'transport', address: 'tcp:localhost:80' })
}
