import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { certificateLogin, enroll, enrolled } from '../contract/http/scenario.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import type { mount } from '../support/mount.ts'
import { type NetworkOptions, network } from '../support/network.ts'
import { apisOf, authPolicy, login, person } from '../support/people.ts'

const HOUR_MS = 3_600_000
const GOOD = 'Another-Horse-2'
const ALICE: NetworkOptions<never, 'identityId'> = {
  entities: { identityId: ['/identities', { name: 'alice', type: 'User', isAdmin: false }] },
}

describe('authenticators of admins', () => {
  it('are created with a password that logs in, and never show it', async () => {
    const { mounted, admin, identityId } = await network(ALICE)
    const credentials = { username: 'alice', password: GOOD }
    const id = await create(admin, '/authenticators', { identityId, method: 'updb', ...credentials })
    const shown = await read(admin, `/authenticators/${id}`)
    expect(shown).toMatchObject({ id, identityId, method: 'updb', username: 'alice', identity: { id: identityId } })
    expect(Object.keys(shown).sort()).toEqual(
      ['_links', 'createdAt', 'id', 'identity', 'identityId', 'method', 'tags', 'updatedAt', 'username'].sort(),
    )
    expect((await login(mounted, credentials)).status).toBe(200)
    expect((await admin.get(`/identities/${identityId}/authenticators`)).body.data).toEqual([shown])
    expect((await read(admin, `/identities/${identityId}`)).authenticators).toEqual({ updb: { id, username: 'alice' } })
  })

  it.each(['authenticators', 'enrollments'])('%s of nobody are an empty list', async (kind) => {
    const { admin } = await network(ALICE)
    const answer = await admin.get(`/identities/x/${kind}`)
    expect([answer.status, answer.body.data]).toEqual([200, []])
  })

  it('are created with a certificate of the network, even one that has run out', async () => {
    const { mounted, admin, identityId } = await network(ALICE)
    const { certificate, id: other } = await enroll(mounted, admin, { name: 'other' })
    const [leaf = ''] = certificate.cert.split(/(?<=-----END CERTIFICATE-----\n)/)
    const { id: old } = (await admin.get(`/identities/${other}/authenticators`)).body.data[0]
    expectDone(await admin.delete(`/authenticators/${old}`))
    const body = { identityId, method: 'cert', certPem: leaf }
    const id = await create(admin, '/authenticators', body)
    expect(await read(admin, `/authenticators/${id}`)).toMatchObject({ certPem: leaf, isIssuedByNetwork: false })
    expect(await certificateLogin(mounted, certificate)).toEqual(expect.any(String))
  })

  it.each([
    [
      'a second of its method',
      { method: 'updb', username: 'bob-2', password: GOOD },
      'MAX_AUTHENTICATOR_METHODS_REACHED',
      409,
    ],
    ['two certificates', { method: 'cert', certPem: selfSigned(newKey()).repeat(2) }, 'COULD_NOT_PARSE_PEM_BLOCK', 400],
    ['no certificate', { method: 'cert', certPem: 'hello' }, 'COULD_NOT_PARSE_PEM_BLOCK', 400],
    [
      'a certificate that nobody vouches for',
      { method: 'cert', certPem: selfSigned(newKey()) },
      'CERT_FAILED_VALIDATION',
      400,
    ],
    ['another method', { method: 'ott' }, 'COULD_NOT_VALIDATE', 400],
    ['no username', { method: 'updb', password: GOOD }, 'COULD_NOT_VALIDATE', 400],
    ['no password', { method: 'updb', username: 'bobby' }, 'COULD_NOT_VALIDATE', 400],
    ['a short password', { method: 'updb', username: 'bobby', password: 'abcd' }, 'COULD_NOT_VALIDATE', 400],
  ])('are not created with %s', async (_what, body, code, status) => {
    const { admin, identityId, mounted } = await network(ALICE)
    if (code.startsWith('MAX')) await create(admin, '/authenticators', { ...body, identityId, username: 'alice' })
    const answer = await admin.post('/authenticators', { identityId, ...body })
    expectError(answer, code, undefined, status)
    expect(mounted.controller).toBeDefined()
  })

  it('have usernames of their own, and identities that exist and are no routers', async () => {
    const { admin, identityId } = await network(ALICE)
    const body = { identityId, method: 'updb', username: TEST_ADMIN.username, password: GOOD }
    expectFieldError(await admin.post('/authenticators', body), 'username', 'duplicate value')
    expectError(await admin.post('/authenticators', { ...body, identityId: 'nobody' }), 'NOT_FOUND')
    const router = await create(admin, '/edge-routers', { name: 'r', isTunnelerEnabled: true })
    const forRouter = await admin.post('/authenticators', { ...body, username: 'router', identityId: router })
    expectFieldError(forRouter, 'identityId', 'router identities')
  })

  it.each(['put', 'patch'] as const)('A21: are changed by %s; a new password ends the sessions', async (verb) => {
    const { mounted, admin } = await network(ALICE)
    const bob = await person(mounted, admin, 'bobby')
    const { api } = await apisOf(mounted, bob)
    const { id } = (await admin.get(`/identities/${bob.id}/authenticators`)).body.data[0]
    expectDone(await admin[verb](`/authenticators/${id}`, { username: 'robert', password: GOOD }))
    expect((await api.get('/current-identity')).status).toBe(401)
    expect((await login(mounted, bob)).status).toBe(401)
    expect((await login(mounted, { username: 'robert', password: GOOD })).status).toBe(200)
  })

  it('of certificates cannot be changed', async () => {
    const { mounted, admin } = await network(ALICE)
    const { id: identity } = await enroll(mounted, admin, { name: 'device' })
    const { id } = (await admin.get(`/identities/${identity}/authenticators`)).body.data[0]
    expectError(
      await admin.patch(`/authenticators/${id}`, { username: 'robert' }),
      'CAN_NOT_UPDATE_AUTHENTICATOR',
      undefined,
      409,
    )
  })

  it('A21: are deleted with the sessions that they started', async () => {
    const { mounted, admin } = await network(ALICE)
    const { api, id: identity } = await enrolled(mounted, admin, { name: 'device' })
    const { id } = (await admin.get(`/identities/${identity}/authenticators`)).body.data[0]
    expectDone(await admin.delete(`/authenticators/${id}`))
    expect((await api.get('/current-identity')).status).toBe(401)
  })

  it.each([
    ['minPasswordLength', { minPasswordLength: 20 }],
    ['requireSpecialChar', { requireSpecialChar: true }],
    ['requireNumberChar', { requireNumberChar: true }],
    ['requireMixedCase', { requireMixedCase: true }],
  ])('keep the rule %s wherever a password is set', async (_rule, updb) => {
    const { mounted, admin, later } = await network(ALICE)
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('strict', updb))
    const bob = await person(mounted, admin, 'bobby', { authPolicyId })
    const { id } = (await admin.get(`/identities/${bob.id}/authenticators`)).body.data[0]
    const { api } = await apisOf(mounted, bob)
    const change = { username: 'bobby', password: 'weakpassword' }
    const own = { ...change, currentPassword: bob.password }
    expectFieldError(await admin.put(`/authenticators/${id}`, change), 'password')
    expectFieldError(await admin.patch(`/authenticators/${id}`, change), 'password')
    expectFieldError(await api.put(`/current-identity/authenticators/${id}`, own), 'password')
    expectDone(await admin.delete(`/authenticators/${id}`))
    const created = await admin.post('/authenticators', { identityId: bob.id, method: 'updb', ...change })
    expectFieldError(created, 'password')
    expect(created.text).not.toContain(change.password)
    const invited = { identityId: bob.id, method: 'updb', username: 'bobby', expiresAt: later(HOUR_MS) }
    const { token } = await read(admin, `/enrollments/${await create(admin, '/enrollments', invited)}`)
    const anybody = foreignClient(mounted, CLIENT)
    expectFieldError(await anybody.post(`/enroll/updb?token=${token}`, { password: change.password }), 'password')
    expect((await anybody.post(`/enroll/updb?token=${token}`, { password: 'Long-Enough-Pass-0rd' })).status).toBe(200)
  })
})

describe('own authenticators', () => {
  it('are listed and shown with links of their own', async () => {
    const { mounted, admin } = await network(ALICE)
    const bob = await person(mounted, admin, 'bobby')
    const { api } = await apisOf(mounted, bob)
    const { data } = (await api.get('/current-identity/authenticators')).body
    expect(data).toHaveLength(1)
    const href = `./current-identity/authenticators/${data[0].id}`
    expect(data[0]).toMatchObject({ username: 'bobby', _links: { self: { href } } })
    expect(await read(api, `/current-identity/authenticators/${data[0].id}`)).toEqual(data[0])
  })

  it('change with the current password only, which counts towards a lockout and is never echoed', async () => {
    const { mounted, admin } = await network(ALICE)
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('locking', { maxAttempts: 1 }))
    const bob = await person(mounted, admin, 'bobby', { authPolicyId })
    const { api } = await apisOf(mounted, bob)
    const { id } = (await api.get('/current-identity/authenticators')).body.data[0]
    const change = { username: 'bobby', password: GOOD, currentPassword: 'wrong-password' }
    const short = await api.put(`/current-identity/authenticators/${id}`, { ...change, currentPassword: '1234' })
    expectError(short, 'COULD_NOT_VALIDATE', { field: 'currentPassword' })
    const refused = await api.put(`/current-identity/authenticators/${id}`, change)
    expectError(refused, 'UNAUTHORIZED', { field: 'currentPassword', reason: 'invalid current password', value: '' })
    expect((await login(mounted, bob)).status).toBe(401)
    expectDone(await admin.post(`/identities/${bob.id}/enable`))
    expectDone(await api.patch(`/current-identity/authenticators/${id}`, { ...change, currentPassword: bob.password }))
    expect((await login(mounted, { ...bob, password: GOOD })).status).toBe(200)
  })

  it('A7: of others do not exist', async () => {
    const { mounted, admin } = await network(ALICE)
    const bob = await person(mounted, admin, 'bobby')
    const eve = await person(mounted, admin, 'evelyn')
    const { api } = await apisOf(mounted, eve)
    const { id } = (await admin.get(`/identities/${bob.id}/authenticators`)).body.data[0]
    const change = { username: 'stolen', password: GOOD, currentPassword: bob.password }
    expectError(await api.get(`/current-identity/authenticators/${id}`), 'NOT_FOUND')
    expectError(await api.put(`/current-identity/authenticators/${id}`, change), 'NOT_FOUND')
    expectError(await api.patch(`/current-identity/authenticators/${id}`, change), 'NOT_FOUND')
  })
})

describe('reverting to enrollment', () => {
  it.each([
    [
      'updb',
      async (mounted: Awaited<ReturnType<typeof mount>>) => (await person(mounted, await adminOf(mounted), 'bobby')).id,
    ],
    [
      'ott',
      async (mounted: Awaited<ReturnType<typeof mount>>) =>
        (await enroll(mounted, await adminOf(mounted), { name: 'device' })).id,
    ],
  ])('makes a %s enrollment and removes the authenticator', async (method, make) => {
    const { mounted, admin, later } = await network(ALICE)
    const identity = await make(mounted)
    const { id } = (await admin.get(`/identities/${identity}/authenticators`)).body.data[0]
    const answer = await admin.post(`/authenticators/${id}/re-enroll`, { expiresAt: later(HOUR_MS) })
    expect(answer.status).toBe(201)
    const { data } = answer.body
    expect(data._links.self.href).toBe(`./enrollments/${data.id}`)
    expect(await read(admin, `/enrollments/${data.id}`)).toMatchObject({
      method,
      identityId: identity,
      expiresAt: later(HOUR_MS),
    })
    expectError(await admin.get(`/authenticators/${id}`), 'NOT_FOUND')
  })

  it('needs a time to come, and no enrollment of the method', async () => {
    const { mounted, admin, later } = await network(ALICE)
    const bob = await person(mounted, admin, 'bobby')
    const { id } = (await admin.get(`/identities/${bob.id}/authenticators`)).body.data[0]
    const past = { expiresAt: new Date(mounted.clock.now()).toISOString() }
    expectFieldError(await admin.post(`/authenticators/${id}/re-enroll`, past), 'expiresAt')
    await create(admin, '/enrollments', {
      identityId: bob.id,
      method: 'updb',
      username: 'other',
      expiresAt: later(HOUR_MS),
    })
    expectError(
      await admin.post(`/authenticators/${id}/re-enroll`, { expiresAt: later(HOUR_MS) }),
      'ENROLLMENT_EXISTS',
      undefined,
      409,
    )
    expect((await login(mounted, bob)).status).toBe(200)
  })
})

it('asks the holder of a certificate, and nobody else, to extend it', async () => {
  const { mounted, admin } = await network(ALICE)
  const bob = await person(mounted, admin, 'bobby')
  const { id: device } = await enroll(mounted, admin, { name: 'device' })
  const { id: password } = (await admin.get(`/identities/${bob.id}/authenticators`)).body.data[0]
  const { id } = (await admin.get(`/identities/${device}/authenticators`)).body.data[0]
  expectError(await admin.post(`/authenticators/${password}/request-extend`, { rollKeys: true }), 'UNAUTHORIZED')
  expectDone(await admin.post(`/authenticators/${id}/request-extend`, { rollKeys: true }))
  expect(await read(admin, `/authenticators/${id}`)).toMatchObject({
    isExtendRequested: true,
    isKeyRollRequested: true,
    extendRequestedAt: new Date(mounted.clock.now()).toISOString(),
  })
})
