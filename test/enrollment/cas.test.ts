import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import {
  type Answer,
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  read,
} from '../contract/http/foreign-client.ts'
import { claimsOf } from '../contract/http/jwt.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { issueClient, pemOf } from '../support/certificates/certificates.ts'
import { mount } from '../support/mount.ts'
import { bearing, begin, codeOf, exchangeCode, proofKey, step, tokensIn } from '../support/openid.ts'
import { apisOf, person } from '../support/people.ts'
import { CLAIM, clientOf, newAuthority, now, registered, TRUSTED } from '../support/third-party.ts'

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/

async function scene() {
  const mounted = await mount({ now })
  const admin = await adminOf(mounted)
  const authority = await newAuthority('third party')
  const as = (client?: { cert: string; key: string }) => foreignClient(mounted, CLIENT, undefined, client)
  return { mounted, admin, authority, as }
}

const logIn = (client: ReturnType<typeof foreignClient>) => client.post('/authenticate?method=cert', {})

describe('CAs', () => {
  it('are created unverified, changed and deleted', async () => {
    const { admin, authority } = await scene()
    const id = await registered(admin, authority, {}, false)
    const shown = await read(admin, `/cas/${id}`)
    expect(shown).toMatchObject({
      ...TRUSTED,
      name: 'third party',
      isVerified: false,
      identityNameFormat: '[caName]-[commonName]',
    })
    expect(shown.verificationToken).toMatch(UUID)
    expect(shown.certPem).toBe(pemOf(authority))
    expect(shown._links).toEqual({
      self: { href: `./cas/${id}` },
      verify: { href: `./cas/${id}/verify` },
      jwt: { href: `./cas/${id}/jwt` },
    })
    expectFieldError(await admin.put(`/cas/${id}`, { name: 'x', ...TRUSTED }), 'identityNameFormat')
    expectDone(await admin.patch(`/cas/${id}`, { isAutoCaEnrollmentEnabled: false, externalIdClaim: CLAIM }))
    for (const unsent of [{}, null, { index: null, location: null, matcher: null, parser: null }]) {
      expectDone(await admin.patch(`/cas/${id}`, { externalIdClaim: unsent }))
      expect((await read(admin, `/cas/${id}`)).externalIdClaim).toEqual(CLAIM)
    }
    expectDone(await admin.patch(`/cas/${id}`, { name: 'renamed', externalIdClaim: { index: 2 } }))
    const changed = await read(admin, `/cas/${id}`)
    expect(changed).toMatchObject({ name: 'renamed', externalIdClaim: { ...CLAIM, index: 2 }, isAuthEnabled: true })
    expect(changed._links).not.toHaveProperty('jwt')
    expectDone(await admin.put(`/cas/${id}`, { ...TRUSTED, name: 'third party', identityNameFormat: '' }))
    expect(await read(admin, `/cas/${id}`)).not.toHaveProperty('externalIdClaim')
    expectDone(await admin.delete(`/cas/${id}`))
  })

  it.each(['#staff', '@staff'])('give no role attribute that is a role, as %s is', async (role) => {
    const { admin, authority } = await scene()
    const body = { name: 'refused', certPem: pemOf(authority), ...TRUSTED, identityRoles: [role] }
    expectFieldError(await admin.post('/cas', body), 'identityRoles')
    const id = await registered(admin, authority)
    const shown = await read(admin, `/cas/${id}`)
    const named = { name: 'other', identityNameFormat: '[caName]' }
    expectFieldError(await admin.patch(`/cas/${id}`, { identityRoles: [role] }), 'identityRoles')
    expectFieldError(await admin.put(`/cas/${id}`, { ...TRUSTED, ...named, identityRoles: [role] }), 'identityRoles')
    expect(await read(admin, `/cas/${id}`)).toEqual(shown)
  })

  it('are CAs, once each', async () => {
    const { admin, authority } = await scene()
    await registered(admin, authority, {}, false)
    const body = { ...TRUSTED, name: 'other' }
    expectFieldError(await admin.post('/cas', { ...body, certPem: pemOf(authority) }), 'certPem', 'already used')
    expectFieldError(await admin.post('/cas', { ...body, certPem: pemOf(await issueClient()) }), 'certPem', 'not a CA')
    expectFieldError(await admin.post('/cas', { ...body, certPem: 'hello' }), 'certPem')
    const claim = { ...CLAIM, matcher: 'PREFIX' }
    const other = pemOf(await newAuthority('other'))
    const refused = await admin.post('/cas', { ...body, certPem: other, externalIdClaim: claim })
    expectError(refused, 'INVALID_FIELD', { field: 'externalIdClaim.matcherCriteria' })
  })

  it('have a token for auto enrollment', async () => {
    const { mounted, admin, authority } = await scene()
    const id = await registered(admin, authority)
    const { status, headers, text } = await admin.get(`/cas/${id}/jwt`)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/jwt'])
    expect(claimsOf(mounted, text)).toEqual({
      iss: 'https://controller.test:1280/',
      sub: id,
      jti: id,
      aud: ['openziti-enroller'],
      em: 'ca',
    })
    expectError(await admin.get('/cas/none/jwt'), 'NOT_FOUND')
  })

  it('take with them, when deleted, what came through them (R8)', async () => {
    const { mounted, admin, authority, as } = await scene()
    const id = await registered(admin, authority)
    const device = await clientOf(authority, 'device')
    expectDone(await as(device).post('/enroll?method=ca'))
    const { token } = (await logIn(as(device))).body.data
    const identity = await create(admin, '/identities', {
      name: 'i',
      type: 'User',
      isAdmin: false,
      enrollment: { ottca: id },
    })
    expectDone(await admin.delete(`/cas/${id}`))
    expect((await foreignClient(mounted, CLIENT, token).get('/current-identity')).status).toBe(401)
    expect((await logIn(as(device))).status).toBe(401)
    expect((await admin.get('/authenticators?filter=method="cert"')).body.data).toEqual([])
    expect((await read(admin, `/identities/${identity}`)).enrollment).toEqual({})
  })
})

/** Who enrolled is told the controllers, as the client API lists them. */
async function expectEnrolled(answer: Answer, admin: ForeignClient, mounted: MountedController): Promise<void> {
  const { data: controllers } = (await foreignClient(mounted, CLIENT, admin.token).get('/controllers')).body
  expect(controllers).toHaveLength(1)
  expect([answer.status, answer.body.data]).toEqual([200, { controllers }])
}

describe('enrolling with a third-party certificate (ottca)', () => {
  async function invited(change: Readonly<Record<string, unknown>> = {}, isVerified = true) {
    const base = await scene()
    const caId = await registered(base.admin, base.authority, change, isVerified)
    const body = { name: 'alice', type: 'User', isAdmin: false, enrollment: { ottca: caId } }
    const identityId = await create(base.admin, '/identities', body)
    const { ottca } = (await read(base.admin, `/identities/${identityId}`)).enrollment
    return { ...base, caId, identityId, ottca, token: ottca.token as string }
  }

  it.each([
    ['/enroll/ottca', (token: string) => ['/enroll/ottca', { token }]],
    ['/enroll/ottca with the token in the query', (token: string) => [`/enroll/ottca?token=${token}`, {}]],
    ['/enroll as JSON', (token: string) => [`/enroll?method=ottca&token=${token}`, {}]],
  ] as const)('at %s turns it into the credential, once', async (_way, request) => {
    const { as, authority, token, ottca, caId, admin, identityId, mounted } = await invited()
    const { _links } = await read(admin, `/cas/${caId}`)
    expect(ottca.ca).toEqual({ _links, entity: 'cas', id: caId, name: 'third party' })
    const device = await clientOf(authority, 'device')
    const [path, body] = request(token)
    await expectEnrolled(await as(device).post(String(path), body), admin, mounted)
    expectError(await as(device).post(String(path), body), 'INVALID_ENROLLMENT_TOKEN')
    expect((await logIn(as(device))).body.data).toMatchObject({ identityId, isCertExtendable: false })
    const { data } = (await admin.get(`/identities/${identityId}/authenticators`)).body
    expect(data[0]).toMatchObject({ method: 'cert', isIssuedByNetwork: false })
    const expiresAt = new Date(now + 3_600_000).toISOString()
    const { id } = (await admin.post(`/authenticators/${data[0].id}/re-enroll`, { expiresAt })).body.data
    expect(await read(admin, `/enrollments/${id}`)).toMatchObject({ method: 'ottca', caId, ca: { id: caId } })
  })

  it('takes an empty body of any text type', async () => {
    const { as, authority, token, admin, mounted } = await invited()
    const device = as(await clientOf(authority, 'device'))
    const sent = { body: '', headers: { 'content-type': 'text/plain' } }
    await expectEnrolled(await device.send('POST', `/enroll?method=ottca&token=${token}`, sent), admin, mounted)
  })

  it('needs a certificate of that CA, not used before', async () => {
    const { as, authority, token } = await invited()
    expectError(await as().post('/enroll/ottca', { token }), 'CERTIFICATE_FAILED_VALIDATION')
    const stranger = await clientOf(await newAuthority('third party'), 'device')
    expectError(await as(stranger).post('/enroll/ottca', { token }), 'CERTIFICATE_FAILED_VALIDATION')
    const device = await clientOf(authority, 'device')
    expectDone(await as(device).post('/enroll?method=ca'))
    expectError(await as(device).post('/enroll/ottca', { token }), 'CERT_IN_USE', undefined, 409)
  })

  it.each([
    ['does not allow it', { isOttCaEnrollmentEnabled: false }, true],
    ['is not verified (A27)', {}, false],
  ])('needs a CA that is trusted with it, not one that %s', async (_what, change, isVerified) => {
    const { as, authority, token } = await invited(change, isVerified)
    const device = await clientOf(authority, 'device')
    expectError(await as(device).post('/enroll/ottca', { token }), 'ENROLLMENT_CA_NOT_VALID')
  })

  it('names a CA that exists', async () => {
    const { admin } = await scene()
    const body = { name: 'i', type: 'User', isAdmin: false, enrollment: { ottca: 'none' } }
    expectError(await admin.post('/identities', body), 'NOT_FOUND', { field: 'caId', reason: 'ca not found' })
    expect((await admin.get('/identities?filter=name="i"')).body.data).toEqual([])
  })
})

describe('auto enrollment', () => {
  it('of one CA ends where a limit is reached, and goes on below it', async () => {
    const mounted = await mount({ now, limits: { identitiesPerCa: 5 } })
    const admin = await adminOf(mounted)
    const authority = await newAuthority('third party')
    await registered(admin, authority, { identityNameFormat: '[caName]' })
    const enroll = async () => {
      const client = foreignClient(mounted, CLIENT, undefined, await clientOf(authority, 'device'))
      return client.post('/enroll?method=ca')
    }
    for (let count = 0; count < 5; count += 1) expectDone(await enroll())
    expectFieldError(await enroll(), 'caId', 'identitiesPerCa')
    const { data } = (await admin.get('/identities?filter=isAdmin=false&sort=name')).body
    const numbers = ['', '000001', '000002', '000003', '000004']
    expect(data.map(({ name }: { name: string }) => name)).toEqual(numbers.map((number) => `third party${number}`))
    expectDone(await admin.delete(`/identities/${data[1].id}`))
    expectDone(await enroll())
    expectFieldError(await enroll(), 'caId')
  })

  it('by external ids ends at the same limit', async () => {
    const mounted = await mount({ now, limits: { identitiesPerCa: 2 } })
    const admin = await adminOf(mounted)
    const authority = await newAuthority('third party')
    await registered(admin, authority, { externalIdClaim: CLAIM })
    const enroll = async (name: string) => {
      const client = foreignClient(mounted, CLIENT, undefined, await clientOf(authority, name))
      return client.post('/enroll?method=ca', { name })
    }
    expectDone(await enroll('one'))
    expectDone(await enroll('two'))
    expectFieldError(await enroll('three'), 'caId', 'identitiesPerCa')
    const { data } = (await admin.get('/identities?filter=externalId="one"')).body
    expect(data[0]).not.toHaveProperty('enrolledById')
    expectDone(await admin.delete(`/identities/${data[0].id}`))
    expectDone(await enroll('three'))
  })

  it('makes an identity with the name, the roles and the certificate', async () => {
    const { admin, authority, as } = await scene()
    await registered(admin, authority, { identityNameFormat: '[requestedName] of [caName]: [commonName]' })
    const devices = [await clientOf(authority, 'device'), await clientOf(authority, 'device')]
    for (const device of devices) expectDone(await as(device).post('/enroll?method=ca', { name: 'mine' }))
    const { data } = (await admin.get('/identities?filter=isAdmin=false&sort=name')).body
    expect(data.map(({ name }: { name: string }) => name)).toEqual([
      'mine of third party: device',
      'mine of third party: device000001',
    ])
    expect(data[0]).toMatchObject({ typeId: 'Default', roleAttributes: ['third-party'], authPolicyId: 'default' })
    expect((await logIn(as(devices[0]))).body.data.identityId).toBe(data[0].id)
    expectError(await as(devices[0]).post('/enroll/ca'), 'CERT_IN_USE', undefined, 409)
  })

  it('A27: refuses what no willing CA vouches for', async () => {
    const { admin, authority, as } = await scene()
    const device = await clientOf(authority, 'device')
    expectError(await as(device).post('/enroll/ca'), 'ENROLLMENT_NO_VALID_CAS')
    const id = await registered(admin, authority, {}, false)
    expectError(await as(device).post('/enroll/ca'), 'CERT_FAILED_VALIDATION')
    expectDone(await admin.delete(`/cas/${id}`))
    await registered(admin, authority, { isAutoCaEnrollmentEnabled: false })
    expectError(await as(device).post('/enroll/ca'), 'CERT_FAILED_VALIDATION')
    expectError(await as().post('/enroll/ca'), 'CERT_FAILED_VALIDATION')
  })

  it('by external id makes an identity that authenticates with every certificate that claims it', async () => {
    const { admin, authority, as } = await scene()
    const externalIdClaim = { ...CLAIM, location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'urn' }
    await registered(admin, authority, { externalIdClaim })
    const names = [{ type: 'url' as const, value: 'urn:device:7' }]
    const device = await clientOf(authority, 'device', names)
    expectDone(await as(device).post('/enroll/ca'))
    const [identity] = (await admin.get('/identities?filter=isAdmin=false')).body.data
    expect(identity).toMatchObject({ externalId: 'urn:device:7', authenticators: {} })
    const renewed = await clientOf(authority, 'device', names)
    expect((await logIn(as(renewed))).body.data).toMatchObject({ identityId: identity.id, authenticatorId: 'internal' })
    expectFieldError(await as(renewed).post('/enroll/ca'), 'externalId')
    expectError(await as(await clientOf(authority, 'device')).post('/enroll/ca'), 'MISSING_CERT_CLAIM')
  })
})

describe('logging in with a third-party certificate', () => {
  it.each([
    ['may not authenticate', { isAuthEnabled: false }],
    ['changed its mind', {}],
  ])('is refused when the CA %s', async (_what, change) => {
    const { admin, authority, as } = await scene()
    const id = await registered(admin, authority)
    const device = await clientOf(authority, 'device')
    expectDone(await as(device).post('/enroll/ca'))
    expectDone(await admin.patch(`/cas/${id}`, { isAuthEnabled: false, ...change }))
    expectError(await logIn(as(device)), 'INVALID_AUTH')
  })

  it('says in tokens as well that the network cannot extend it', async () => {
    const { mounted, admin, authority, as } = await scene()
    await registered(admin, authority)
    const device = await clientOf(authority, 'device')
    expectDone(await as(device).post('/enroll/ca'))
    expect((await logIn(as(device))).body.data.isCertExtendable).toBe(false)
    const key = proofKey()
    const id = await begin(mounted, key)
    expect((await step(mounted, id, 'cert', {}, {}, device)).status).toBe(302)
    const { access_token } = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    expect(claimsOf(mounted, access_token).z_ice).toBe(false)
    const shown = await bearing(mounted, access_token, `${CLIENT}/current-api-session`, {}, device)
    expect(await shown.json()).toMatchObject({ data: { isCertExtendable: false } })
  })

  it('A26: takes the identity from the leaf, whatever else is sent', async () => {
    const { admin, authority, as } = await scene()
    await registered(admin, authority)
    const [first, second] = [await clientOf(authority, 'first'), await clientOf(authority, 'second')]
    for (const device of [first, second]) expectDone(await as(device).post('/enroll/ca'))
    const both = { cert: second.cert + first.cert, key: second.key }
    const { identityId } = (await logIn(as(both))).body.data
    expect((await read(admin, `/identities/${identityId}`)).name).toBe('third party-second')
  })

  it('A9: never makes an admin of whom a delegate lets in', async () => {
    const { mounted, admin, authority, as } = await scene()
    await person(mounted, admin, 'boss', { isAdmin: true, externalId: 'boss' })
    const { management } = await apisOf(mounted, await person(mounted, admin, 'delegate', { permissions: ['ca'] }))
    const id = await registered(management, authority, { externalIdClaim: CLAIM })
    const device = await clientOf(authority, 'boss')
    expectError(await logIn(as(device)), 'INVALID_AUTH')
    expectDone(await admin.patch(`/cas/${id}`, { externalIdClaim: { parser: 'SPLIT', parserCriteria: '/' } }))
    expectError(await logIn(as(device)), 'INVALID_AUTH')
    await trust(mounted, id)
    expect((await logIn(as(device))).status).toBe(200)
    expectDone(await management.patch(`/cas/${id}`, { externalIdClaim: { index: 0, location: 'COMMON_NAME' } }))
    expect((await logIn(as(device))).status).toBe(200)
    // Trusted as it is, it decides whether the administrator gets in: a delegate does not change that any more.
    const change = { externalIdClaim: { parser: 'SPLIT', parserCriteria: '-' } }
    expectError(await management.patch(`/cas/${id}`, change), 'UNAUTHORIZED')
    expect((await logIn(as(device))).status).toBe(200)
  })

  it('A28: is not done by headers that name a certificate', async () => {
    const { admin, authority, as } = await scene()
    await registered(admin, authority)
    const device = await clientOf(authority, 'device')
    expectDone(await as(device).post('/enroll/ca'))
    const der = device.cert.replace(/-----[^-]+-----|\n/g, '')
    const headers = { 'x-client-certpem': der, 'x-edge-router-proxy-request': '1', 'x-forwarded-client-cert': der }
    expectError(await as().send('POST', '/authenticate?method=cert', { headers }), 'INVALID_AUTH')
  })
})

/** An administrator says that a CA may let in anybody it likes. */
async function trust(mounted: MountedController, id: string): Promise<void> {
  const { token } = await adminOf(mounted)
  const answer = await foreignClient(mounted, '/portcullis/v1', token).put(`/trust-anchors/${id}`, {
    mayAuthenticateAdmins: true,
  })
  expect(answer.status).toBe(200)
}
