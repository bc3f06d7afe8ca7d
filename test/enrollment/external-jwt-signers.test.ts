import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { newKey, selfSigned, signingRequest } from '../contract/http/signing-request.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { mount } from '../support/mount.ts'
import { apisOf, authPolicy, login, person } from '../support/people.ts'

async function scene(change: object = {}, options = {}) {
  const mounted = await mount({ allowPrivateJwks: true, ...options })
  const admin = await adminOf(mounted)
  const idp = await identityProvider()
  const body = {
    name: 'idp',
    issuer: idp.issuer,
    audience: 'network',
    enabled: true,
    jwksEndpoint: idp.endpoint,
    ...change,
  }
  const signerId = await create(admin, '/external-jwt-signers', body)
  const alice = await person(mounted, admin, 'alice', { externalId: 'alice@idp' })
  const now = () => mounted.clock.now()
  const anybody = foreignClient(mounted, CLIENT)
  const logIn = (...tokens: string[]) =>
    anybody.send('POST', '/authenticate?method=ext-jwt', {
      headers: { authorization: tokens.map((token) => `Bearer ${token}`).join(', ') },
    })
  return { mounted, admin, idp, signerId, alice, now, anybody, logIn, body }
}

describe('external JWT signers', () => {
  it('are created, changed, listed for clients without secrets, and deleted', async () => {
    const { admin, signerId, anybody, body } = await scene({
      externalAuthUrl: 'https://idp.example/auth',
      clientId: 'app',
      scopes: ['openid'],
    })
    expect(await read(admin, `/external-jwt-signers/${signerId}`)).toMatchObject({
      ...body,
      certPem: null,
      claimsProperty: '/sub',
      commonName: '',
      enrollAuthPolicyId: 'default',
      enrollNameClaimsSelector: '/sub',
      enrollToCertEnabled: false,
      fingerprint: null,
      kid: null,
      notAfter: '0001-01-01T00:00:00.000Z',
      notBefore: '0001-01-01T00:00:00.000Z',
      targetToken: 'ACCESS',
      useExternalId: false,
    })
    const [seen] = (await anybody.get('/external-jwt-signers')).body.data
    expect(seen).toMatchObject({
      id: signerId,
      name: 'idp',
      externalAuthUrl: 'https://idp.example/auth',
      clientId: 'app',
      scopes: ['openid'],
    })
    for (const member of ['issuer', 'jwksEndpoint', 'certPem', 'claimsProperty', 'openIdConfigurationUrl'])
      expect(seen).not.toHaveProperty(member)
    expectDone(await admin.patch(`/external-jwt-signers/${signerId}`, { enabled: false }))
    expect((await anybody.get('/external-jwt-signers')).body.data).toEqual([])
    expectDone(await admin.delete(`/external-jwt-signers/${signerId}`))
  })

  it('have the facts of a pinned certificate', async () => {
    const { admin, signerId } = await scene()
    const certPem = selfSigned(newKey(), '/CN=signer')
    expectDone(await admin.patch(`/external-jwt-signers/${signerId}`, { certPem, jwksEndpoint: '' }))
    const shown = await read(admin, `/external-jwt-signers/${signerId}`)
    expect(shown).toMatchObject({ commonName: 'signer', jwksEndpoint: null, kid: shown.fingerprint })
    expect(shown.fingerprint).toMatch(/^[0-9a-f]{40}$/)
  })

  it.each([
    ['neither keys nor certificate', { jwksEndpoint: null }, 'INVALID_FIELD'],
    ['both', { certPem: selfSigned(newKey()) }, 'INVALID_FIELD'],
    ['two certificates', { jwksEndpoint: null, certPem: selfSigned(newKey()).repeat(2) }, 'INVALID_CERT_PEM'],
    ['no certificate in it', { jwksEndpoint: null, certPem: 'hello' }, 'INVALID_CERT_PEM'],
    ['another protocol', { jwksEndpoint: 'file:///etc/passwd' }, 'INVALID_FIELD'],
    ['an unknown auth policy', { enrollAuthPolicyId: 'none' }, 'COULD_NOT_VALIDATE'],
    ['a known issuer', { issuer: 'https://idp.example' }, 'COULD_NOT_VALIDATE'],
  ])('are refused with %s', async (_what, change, code) => {
    const { admin, body } = await scene()
    expectError(await admin.post('/external-jwt-signers', { ...body, name: 'other', issuer: 'other', ...change }), code)
  })

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://localhost/',
    'http://169.254.169.254/',
    'http://10.1.2.3/',
    'http://[fd00::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://2130706433/',
    'http://user:pw@idp.example/',
  ])('A15: never fetch from %s unless the host allows it', async (jwksEndpoint) => {
    const admin = await adminOf(await mount())
    const body = { name: 'idp', issuer: 'i', audience: 'a', enabled: true, jwksEndpoint }
    expectError(await admin.post('/external-jwt-signers', body), 'INVALID_FIELD', { field: 'jwksEndpoint' })
  })

  it('that an auth policy names cannot be deleted', async () => {
    const { admin, signerId } = await scene()
    const refusedBy = async (field: string, policy: string) => {
      const refused = await admin.delete(`/external-jwt-signers/${signerId}`)
      const cause = { field, reason: expect.stringContaining(policy), value: `[${policy}]` }
      expectError(refused, 'CAN_NOT_DELETE_REFERENCED_ENTITY', cause)
      expectDone(await admin.delete(`/auth-policies/${policy}`))
    }
    const required = await create(admin, '/auth-policies', authPolicy('p', {}, { requireExtJwtSigner: signerId }))
    await refusedBy('secondary.requireExtJwtSigner', required)
    const allowed = await create(admin, '/auth-policies', authPolicy('q', {}, {}, { allowedSigners: [signerId] }))
    await refusedBy('primary.extJwt.allowedSigners', allowed)
    expectDone(await admin.delete(`/external-jwt-signers/${signerId}`))
  })
})

describe('logging in with an external token', () => {
  it('starts a session of the identity that it names', async () => {
    const { idp, alice, now, logIn, signerId } = await scene()
    const answer = await logIn(await idp.token(now(), { sub: alice.id }))
    expect(answer.body.data).toMatchObject({
      identityId: alice.id,
      authenticatorId: `extJwtId:${signerId}`,
      isCertExtendable: false,
    })
  })

  it.each([
    ['a nested claim', { claimsProperty: '/user/name', useExternalId: true }, { user: { name: 'alice@idp' } }],
    ['a plain claim name', { claimsProperty: 'email', useExternalId: true }, { email: 'alice@idp' }],
  ])('finds the identity by external id in %s', async (_what, change, claims) => {
    const { idp, alice, now, logIn } = await scene(change)
    expect((await logIn(await idp.token(now(), claims))).body.data.identityId).toBe(alice.id)
  })

  it('takes the first acceptable of three tokens', async () => {
    const { idp, alice, now, logIn } = await scene()
    const good = await idp.token(now(), { sub: alice.id })
    expect((await logIn('garbage', await idp.token(now(), { sub: 'nobody' }), good)).status).toBe(200)
    expect((await logIn('garbage', 'x', 'y', good)).status).toBe(401)
  })

  it.each([
    ['no token', async () => undefined, 'missing'],
    ['what is no token (ziti#4240)', async () => 'eyJhbGciOiJub25lIn0', 'missing'],
    ['an unknown issuer (A13)', async (sign: Sign) => sign({ iss: 'https://idp.example/' }), 'missing'],
    ['another audience (A13)', async (sign: Sign) => sign({ aud: 'networks' }), 'invalid'],
    ['an expired token (A14)', async (sign: Sign, at: number) => sign({ exp: at }), 'expired'],
    ['a token that is not valid yet (A14)', async (sign: Sign, at: number) => sign({ nbf: at + 61 }), 'invalid'],
    ['a token of the future (A14)', async (sign: Sign, at: number) => sign({ iat: at + 61 }), 'invalid'],
    ['a token that never expires', async (sign: Sign) => sign({ exp: undefined }), 'invalid'],
    ['an unknown key (A12)', async (sign: Sign) => sign({}, { kid: '../../key-1' }), 'invalid'],
    ['no key id', async (sign: Sign) => sign({}, { kid: undefined }), 'invalid'],
    [
      'a key in the header (A12)',
      async (sign: Sign) => sign({}, { kid: '__proto__', jku: 'http://x', jwk: { kty: 'EC' } }),
      'invalid',
    ],
    ['a changed body', async (sign: Sign) => swapped(await sign({})), 'invalid'],
    ['the algorithm none (A11)', async (sign: Sign) => unsigned(await sign({})), 'invalid'],
    ['nobody that exists', async (sign: Sign) => sign({ sub: 'nobody' }), 'missing'],
    ['no identity at all', async (sign: Sign) => sign({ sub: undefined }), 'missing'],
  ] as const)('with %s is refused', async (_what, make, problem) => {
    const { idp, alice, now, logIn, signerId } = await scene()
    const sign: Sign = (claims, header) => idp.token(now(), { sub: alice.id, ...claims }, header)
    const token = await make(sign, Math.floor(now() / 1000))
    const answer = token === undefined ? await logIn() : await logIn(token)
    expectError(answer, 'UNAUTHORIZED')
    const challenge = answer.headers.get('www-authenticate') ?? ''
    expect(challenge).toMatch(new RegExp(`^Bearer realm="openziti-primary-ext-jwt" error="${problem}" `))
    expect(challenge).toContain(` id="${signerId}" issuer="${idp.issuer}"`)
  })

  it('of a disabled signer does not count, and nothing is asked for when there is none', async () => {
    const { admin, idp, alice, now, logIn, signerId } = await scene()
    expectDone(await admin.patch(`/external-jwt-signers/${signerId}`, { enabled: false }))
    const answer = await logIn(await idp.token(now(), { sub: alice.id }))
    expectError(answer, 'UNAUTHORIZED')
    expect(answer.headers.get('www-authenticate')).toBeNull()
    expect(idp.state.fetches).toBe(0)
  })

  it.each([
    ['forbids tokens', { allowed: false }],
    ['allows other signers only', { allowed: true, allowedSigners: ['OTHER'] }],
  ])('is refused by an auth policy that %s', async (_what, extJwt) => {
    const { admin, idp, alice, now, logIn, body } = await scene()
    const other = await create(admin, '/external-jwt-signers', { ...body, name: 'other', issuer: 'other' })
    const rules = 'allowedSigners' in extJwt ? { ...extJwt, allowedSigners: [other] } : extJwt
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('p', {}, {}, rules))
    expectDone(await admin.patch(`/identities/${alice.id}`, { authPolicyId }))
    expectError(await logIn(await idp.token(now(), { sub: alice.id })), 'UNAUTHORIZED')
  })

  it('A9: never makes an admin of whom a delegate lets in', async () => {
    const { mounted, admin, idp, now, logIn, signerId, body } = await scene()
    const boss = await person(mounted, admin, 'boss', { isAdmin: true })
    const { management } = await apisOf(
      mounted,
      await person(mounted, admin, 'delegate', { permissions: ['external-jwt-signer'] }),
    )
    expect((await logIn(await idp.token(now(), { sub: boss.id }))).status).toBe(200)
    expectDone(await management.patch(`/external-jwt-signers/${signerId}`, { audience: 'mine' }))
    expectError(await logIn(await idp.token(now(), { sub: boss.id, aud: 'mine' })), 'UNAUTHORIZED')
    expectDone(await admin.delete(`/external-jwt-signers/${signerId}`))
    await create(management, '/external-jwt-signers', body)
    expectError(await logIn(await idp.token(now(), { sub: boss.id })), 'UNAUTHORIZED')
  })
})

describe('key sets', () => {
  it('A16: are fetched once for many unknown keys at once, and once in a second', async () => {
    const { mounted, idp, alice, now, logIn } = await scene()
    const bad = await Promise.all(
      Array.from({ length: 50 }, (_, n) => idp.token(now(), { sub: alice.id }, { kid: `bad-${n}` })),
    )
    await Promise.all(bad.map((token) => logIn(token)))
    expect(idp.state.fetches).toBe(1)
    mounted.clock.advance(999)
    await logIn(bad[0] ?? '')
    expect(idp.state.fetches).toBe(1)
    mounted.clock.advance(1)
    await logIn(bad[0] ?? '')
    expect(idp.state.fetches).toBe(2)
  })

  it('are fetched again for a key that is new', async () => {
    const { mounted, idp, alice, now, logIn } = await scene()
    expect((await logIn(await idp.token(now(), { sub: alice.id }))).status).toBe(200)
    await idp.rotate('key-2', 'RS256')
    mounted.clock.advance(1_000)
    expect((await logIn(await idp.token(now(), { sub: alice.id }))).status).toBe(200)
    expect(idp.state.fetches).toBe(2)
  })

  it('A15: that are too large, no JSON, refused or redirected in circles verify nothing', async () => {
    const { mounted, idp, alice, now, logIn } = await scene()
    for (const answer of HOSTILE) {
      idp.state.answer = answer
      expectError(await logIn(await idp.token(now(), { sub: alice.id })), 'UNAUTHORIZED')
      mounted.clock.advance(5_000)
    }
    idp.state.answer = undefined
    expect((await logIn(await idp.token(now(), { sub: alice.id }))).status).toBe(200)
  })
})

describe('a token as second factor', () => {
  it('must come with every request', async () => {
    const { mounted, admin, idp, alice, now, signerId } = await scene({
      clientId: 'app',
      externalAuthUrl: 'https://idp.example',
      scopes: ['openid'],
    })
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('p', {}, { requireExtJwtSigner: signerId }))
    expectDone(await admin.patch(`/identities/${alice.id}`, { authPolicyId }))
    const begun = await login(mounted, alice)
    const { data } = begun.body
    expect(begun.headers.get('www-authenticate')).toContain('Bearer realm="openziti-secondary-ext-jwt" error="missing"')
    expect(data.authQueries).toEqual([
      {
        typeId: 'EXT-JWT',
        provider: 'url',
        id: signerId,
        clientId: 'app',
        httpUrl: 'https://idp.example',
        scopes: ['openid'],
      },
    ])
    const api = foreignClient(mounted, CLIENT, data.token)
    const bare = await api.get('/services')
    expectError(bare, 'UNAUTHORIZED')
    const challenge = `Bearer realm="openziti-secondary-ext-jwt" error="missing" error_description="no matching token was provided" id="${signerId}" issuer="${idp.issuer}"`
    expect(bare.headers.get('www-authenticate')).toBe(challenge)
    const partial = await api.get('/current-api-session')
    expect([partial.status, partial.headers.get('www-authenticate')]).toEqual([200, challenge])
    const foreign = { authorization: `Bearer ${await idp.token(now(), { sub: 'anybody' })}` }
    const refused = await api.send('GET', '/services', { headers: foreign })
    expectError(refused, 'UNAUTHORIZED')
    expect(refused.headers.get('www-authenticate')).toBe(
      challenge.replace('missing', 'invalid').replace('no matching token was provided', 'token is invalid'),
    )
    const headers = { authorization: `Bearer ${await idp.token(now(), { sub: alice.id })}` }
    expect((await api.send('GET', '/services', { headers })).status).toBe(200)
    expect((await api.send('GET', '/current-api-session', { headers })).body.data.authQueries).toEqual([])
    mounted.clock.advance(300_000)
    const expired = await api.send('GET', '/services', { headers })
    expect(expired.headers.get('www-authenticate')).toContain('error="expired"')
    expect((await api.get('/services')).status).toBe(401)
  })
})

describe('enrolling with a token', () => {
  const claims = { sub: 'carol@idp', name: 'Carol', groups: ['staff', 'admins', 7] }
  const selectors = { enrollNameClaimsSelector: 'name', enrollAttributeClaimsSelector: '/groups', useExternalId: true }

  async function enrolling(change: object) {
    const base = await scene({ ...selectors, ...change })
    const token = await base.idp.token(base.now(), claims)
    const enroll = (body: object, headers: Record<string, string> = {}) =>
      base.anybody.send('POST', '/enroll/token', { body, headers: { authorization: `Bearer ${token}`, ...headers } })
    return { ...base, token, enroll }
  }

  it('ends where a limit is reached', async () => {
    const { anybody, idp, now } = await scene(
      { ...selectors, enrollToTokenEnabled: true },
      { limits: { identitiesPerSigner: 1 } },
    )
    const enroll = async (sub: string) => {
      const headers = { authorization: `Bearer ${await idp.token(now(), { ...claims, sub, name: sub })}` }
      return anybody.send('POST', '/enroll/token', { body: {}, headers })
    }
    expect((await enroll('one@idp')).status).toBe(200)
    expectFieldError(await enroll('two@idp'), 'enrolledById', 'identitiesPerSigner')
  })

  it('makes an identity that logs in with tokens, once', async () => {
    const { admin, enroll, logIn, token, signerId } = await enrolling({ enrollToTokenEnabled: true })
    const enrolled = await enroll({}, { 'ziti-token-issuer-id': signerId })
    expect([enrolled.status, Object.keys(enrolled.body.data)]).toEqual([200, ['controllers']])
    const [carol] = (await admin.get('/identities?filter=name="Carol"')).body.data
    expect(carol).toMatchObject({
      externalId: 'carol@idp',
      roleAttributes: ['admins', 'staff'],
      typeId: 'Default',
      isAdmin: false,
    })
    expect((await logIn(token)).body.data.identityId).toBe(carol.id)
    expectError(await enroll({}), 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED', undefined, 409)
  })

  it('gives no role attributes where the token has no claim for them', async () => {
    const { admin, enroll } = await enrolling({
      enrollToTokenEnabled: true,
      enrollAttributeClaimsSelector: '/some/path',
    })
    expect((await enroll({})).status).toBe(200)
    const [carol] = (await admin.get('/identities?filter=name="Carol"')).body.data
    expect(carol).toMatchObject({ externalId: 'carol@idp', roleAttributes: [] })
  })

  it('is refused where a role attribute that it claims is a role', async () => {
    const { admin, idp, anybody, now } = await scene({ ...selectors, enrollToTokenEnabled: true })
    const token = await idp.token(now(), { ...claims, groups: ['staff', '#admins'] })
    const headers = { authorization: `Bearer ${token}` }
    expectFieldError(await anybody.send('POST', '/enroll/token', { body: {}, headers }), 'roleAttributes')
    expect((await admin.get('/identities?filter=name="Carol"')).body.data).toEqual([])
  })

  it('makes an identity that logs in with a certificate', async () => {
    const { mounted, enroll } = await enrolling({ enrollToCertEnabled: true })
    const key = newKey()
    const { data } = (await enroll({ clientCsr: signingRequest(key) })).body
    expect(data.ca).toContain('BEGIN CERTIFICATE')
    const device = foreignClient(mounted, CLIENT, undefined, { cert: data.cert, key })
    expect((await device.post('/authenticate?method=cert', {})).body.data.identity.name).toBe('Carol')
  })

  it.each([
    ['no token', {}, { authorization: 'Basic x' }, {}, 'INVALID_ENROLLMENT_TOKEN', 400],
    ['another signer', {}, { 'ziti-token-issuer-id': 'none' }, {}, 'INVALID_ENROLLMENT_TOKEN', 400],
    [
      'a certificate that is not offered',
      { enrollToTokenEnabled: true },
      {},
      { clientCsr: 'x' },
      'INVALID_ENROLLMENT_NOT_ALLOWED',
      409,
    ],
    ['tokens that are not offered', { enrollToCertEnabled: true }, {}, {}, 'INVALID_ENROLLMENT_NOT_ALLOWED', 409],
    ['a bad request', { enrollToCertEnabled: true }, {}, { clientCsr: 'x' }, 'COULD_NOT_PROCESS_CSR', 400],
    [
      'no name',
      { enrollToTokenEnabled: true, enrollNameClaimsSelector: '/nickname' },
      {},
      {},
      'INVALID_ENROLLMENT_TOKEN',
      400,
    ],
  ])('is refused with %s', async (_what, change, headers, body, code, status) => {
    const { admin, enroll } = await enrolling(change)
    expectError(await enroll(body, headers), code, undefined, status)
    expect((await admin.get('/identities?filter=name="Carol"')).body.data).toEqual([])
  })

  it('needs an auth policy that lets the identity in', async () => {
    const { admin, body } = await enrolling({})
    const policy = authPolicy('none', {}, {}, { allowed: false })
    const enrollAuthPolicyId = await create(admin, '/auth-policies', policy)
    const other = { ...body, name: 'other', issuer: 'other', enrollAuthPolicyId, enrollToTokenEnabled: true }
    expectFieldError(await admin.post('/external-jwt-signers', other), 'enrollAuthPolicyId')
  })
})

type Sign = (claims: Record<string, unknown>, header?: Record<string, unknown>) => Promise<string>

const HOSTILE: readonly import('node:http').RequestListener[] = [
  (_request, response) => response.end(`{"keys":[${' '.repeat(300_000)}]}`),
  (_request, response) => response.end('<html>'),
  (_request, response) => response.end('{"keys":{}}'),
  (_request, response) => response.writeHead(500).end(),
  (_request, response) => response.writeHead(302, { location: '/again' }).end(),
  (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
]

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function swapped(token: string): string {
  const [head = '', body = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  return [head, encoded({ ...claims, admin: true }), signature].join('.')
}

function unsigned(token: string): string {
  const [, body = ''] = token.split('.')
  return `${encoded({ alg: 'none', kid: 'key-1' })}.${body}.`
}
