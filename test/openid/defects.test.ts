import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { CLIENT, create, foreignClient, MANAGEMENT } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { completeMfa, pendingMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import {
  authorizeQuery,
  bearing,
  begin,
  callback,
  claimsOf,
  codeOf,
  exchange,
  exchangeCode,
  FORM,
  oauthError,
  openIdTokens,
  postForm,
  proofKey,
  refresh,
  step,
  tokensIn,
} from '../support/openid.ts'
import { authPolicy, login, person } from '../support/people.ts'

const DEFECT = 'Defects of deployed providers that are not copied'

async function adminOf(mounted: MountedController) {
  return foreignClient(mounted, MANAGEMENT, (await login(mounted)).body.data.token)
}

/** The revocations that the management API lists. */
async function revocationsOf(
  mounted: MountedController,
): Promise<readonly { readonly id: string; readonly type: string }[]> {
  return (await (await adminOf(mounted)).get('/revocations')).body.data
}

/** Tokens of a person whose auth policy demands TOTP, and the person's app. */
async function withTotp(mounted: MountedController, name: string) {
  const admin = await adminOf(mounted)
  const authPolicyId = await create(admin, '/auth-policies', authPolicy(`${name}-policy`, {}, { requireTotp: true }))
  const who = await person(mounted, admin, name, { authPolicyId })
  return { admin, who, mfa: await completeMfa(mounted, who) }
}

async function tokensByTotp(mounted: MountedController, who: { username: string; password: string }, code: string) {
  const key = proofKey()
  const id = await begin(mounted, key)
  const { username, password } = who
  expect((await step(mounted, id, 'password', { username, password })).status).toBe(200)
  expect((await step(mounted, id, 'totp', { code })).status).toBe(302)
  return tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
}

describe(DEFECT, () => {
  it('1: a factor that was proved for one identity does not count for another on the same auth request', async () => {
    const mounted = await mount()
    const { mfa, who } = await withTotp(mounted, 'first')
    const { who: second } = await withTotp(mounted, 'second')
    const id = await begin(mounted, proofKey())
    await step(mounted, id, 'password', { username: who.username, password: who.password })
    expect((await step(mounted, id, 'totp', { code: mfa.code() })).status).toBe(302)
    const again = await step(mounted, id, 'password', { username: second.username, password: second.password })
    expect(again.status).toBe(200)
    expect(again.headers.get('totp-required')).toBe('true')
    expect((await callback(mounted, id)).get('error')).toBe('interaction_required')
  })

  it('2: a code of an enrollment that was never verified does not complete a login', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
    const who = await person(mounted, admin, 'unverified', { authPolicyId })
    const mfa = await pendingMfa(mounted, who)
    const id = await begin(mounted, proofKey())
    await step(mounted, id, 'password', { username: who.username, password: who.password })
    const response = await step(mounted, id, 'totp', { code: mfa.code() })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ code: 'INVALID TOTP CODE', message: 'an invalid TOTP code was supplied' })
  })

  it('3: an exchange refuses a revoked access token, and those of revoked sessions and identities', async () => {
    const mounted = await mount()
    const refused = [400, 'invalid_request', 'subject_token is invalid']
    const first = await openIdTokens(mounted)
    await postForm(mounted, '/oidc/revoke', { client_id: 'openziti', token: first.access_token })
    expect(await oauthError(await exchange(mounted, first.access_token, 'access_token', 'access_token'))).toEqual(
      refused,
    )
    const admin = await adminOf(mounted)
    const second = await openIdTokens(mounted)
    await admin.post('/revocations', { id: claimsOf(second.access_token).z_asid, type: 'API_SESSION' })
    expect(await oauthError(await exchange(mounted, second.refresh_token, 'refresh_token'))).toEqual(refused)
    const third = await openIdTokens(mounted)
    await admin.post('/revocations', { id: claimsOf(third.access_token).sub, type: 'IDENTITY' })
    expect(await oauthError(await exchange(mounted, third.access_token, 'access_token', 'access_token'))).toEqual(
      refused,
    )
  })

  it('4: refreshing refuses revoked sessions and identities, and identities that are disabled or deleted', async () => {
    const mounted = await mount()
    const refused = [400, 'invalid_grant', 'refresh token revoked']
    const admin = await adminOf(mounted)
    const endings = [
      (id: string) => admin.post('/revocations', { id, type: 'IDENTITY' }),
      (id: string) => admin.post(`/identities/${id}/disable`, { durationMinutes: 5 }),
      (id: string) => admin.delete(`/identities/${id}`),
    ]
    for (const [at, end] of endings.entries()) {
      const who = await person(mounted, admin, `ending-${at}`)
      const { refresh_token: token } = await openIdTokens(mounted, who)
      expect((await end(who.id)).status).toBeLessThan(300)
      expect(await oauthError(await refresh(mounted, token))).toEqual(refused)
    }
    const { access_token, refresh_token } = await openIdTokens(mounted)
    await admin.post('/revocations', { id: claimsOf(access_token).z_asid, type: 'API_SESSION' })
    expect(await oauthError(await refresh(mounted, refresh_token))).toEqual(refused)
  })

  it('5: an exchange keeps amr and scopes, so that sessions with TOTP survive it', async () => {
    const mounted = await mount()
    const { who, mfa } = await withTotp(mounted, 'exchanging')
    const tokens = await tokensByTotp(mounted, who, mfa.code())
    const next = await tokensIn(
      await exchange(mounted, tokens.refresh_token, 'refresh_token', 'refresh_token', { scope: '' }),
    )
    expect(claimsOf(next.access_token)).toMatchObject({
      amr: ['password', 'totp'],
      scopes: ['openid', 'offline_access'],
    })
    expect(claimsOf(next.refresh_token)).toMatchObject({
      amr: ['password', 'totp'],
      scopes: ['openid', 'offline_access'],
    })
    expect((await bearing(mounted, next.access_token)).status).toBe(200)
  })

  it('6: an access token is not exchanged for a refresh token', async () => {
    const mounted = await mount()
    const { access_token: token } = await openIdTokens(mounted)
    const response = await exchange(mounted, token, 'access_token', 'refresh_token')
    expect(await oauthError(response)).toEqual([400, 'invalid_request', 'requested_token_type is invalid'])
    expect((await exchange(mounted, token, 'access_token', 'access_token')).status).toBe(200)
  })

  it('6: an access token that comes from an access token ends with it', async () => {
    const mounted = await mount()
    const first = await openIdTokens(mounted)
    const end = claimsOf(first.access_token).exp
    await mounted.controller.elapse(20 * 60_000)
    const later = await tokensIn(await exchange(mounted, first.access_token, 'access_token', 'access_token'))
    expect(claimsOf(later.access_token).exp).toBe(end)
    expect(later.expires_in).toBe(end - Math.floor(mounted.clock.now() / 1000))
    expect((await bearing(mounted, later.access_token)).status).toBe(200)
    const renewed = await tokensIn(await exchange(mounted, first.refresh_token, 'refresh_token', 'access_token'))
    expect(claimsOf(renewed.access_token).exp).toBeGreaterThan(end)
    await mounted.controller.elapse(11 * 60_000)
    expect((await bearing(mounted, later.access_token)).status).toBe(401)
    expect((await exchange(mounted, later.access_token, 'access_token', 'access_token')).status).toBe(400)
    expect((await bearing(mounted, renewed.access_token)).status).toBe(200)
  })

  it('6: an exchange that does not say for what answers an access token', async () => {
    const mounted = await mount()
    const { access_token, refresh_token } = await openIdTokens(mounted)
    for (const [token, kind] of [
      [access_token, 'access_token'],
      [refresh_token, 'refresh_token'],
    ] as const) {
      for (const requested_token_type of [undefined, '']) {
        const answer = await tokensIn(await exchange(mounted, token, kind, undefined, { requested_token_type }))
        const type = 'urn:ietf:params:oauth:token-type:access_token'
        expect(answer).toMatchObject({ issued_token_type: type, token_type: 'Bearer' })
        expect(answer).not.toHaveProperty('refresh_token')
        expect((await bearing(mounted, answer.access_token)).status).toBe(200)
      }
    }
  })

  it('7: the first access token outlives the rotation of the refresh token that came with it', async () => {
    const mounted = await mount()
    const tokens = await openIdTokens(mounted)
    expect(claimsOf(tokens.access_token).jti).not.toBe(claimsOf(tokens.refresh_token).jti)
    expect((await refresh(mounted, tokens.refresh_token)).status).toBe(200)
    expect((await bearing(mounted, tokens.access_token)).status).toBe(200)
  })

  it('8: a refresh token is used up, and presenting it again after the grace takes its whole family back', async () => {
    const mounted = await mount()
    const tokens = await openIdTokens(mounted)
    const next = await tokensIn(await refresh(mounted, tokens.refresh_token))
    mounted.clock.advance(10_000)
    for (const token of [tokens.refresh_token, tokens.refresh_token, next.refresh_token]) {
      expect(await oauthError(await refresh(mounted, token))).toEqual([400, 'invalid_grant', 'refresh token revoked'])
    }
    expect((await bearing(mounted, next.access_token)).status).toBe(401)
  })

  it('9: DELETE /current-api-session ends a bearer session with its refresh tokens, on both APIs', async () => {
    const mounted = await mount()
    for (const base of [CLIENT, MANAGEMENT]) {
      const tokens = await openIdTokens(mounted)
      const ended = await bearing(mounted, tokens.access_token, `${base}/current-api-session`, { method: 'DELETE' })
      expect(ended.status).toBe(200)
      expect((await bearing(mounted, tokens.access_token)).status).toBe(401)
      expect((await refresh(mounted, tokens.refresh_token)).status).toBe(400)
    }
    expect((await revocationsOf(mounted)).map(({ type }) => type)).toEqual(['API_SESSION', 'API_SESSION'])
  })

  it('10: an id token names session and identity whatever the scopes, and a logout by it ends that session alone', async () => {
    const mounted = await mount()
    const first = await openIdTokens(mounted, TEST_ADMIN, { authorize: { scope: 'offline_access' } })
    const second = await openIdTokens(mounted)
    const { sub, z_asid } = claimsOf(first.access_token)
    expect(claimsOf(first.id_token)).toMatchObject({ sub, z_asid })
    const exchanged = await tokensIn(await exchange(mounted, first.refresh_token, 'refresh_token', 'id_token'))
    expect(claimsOf(exchanged.access_token)).toMatchObject({ sub, z_asid })
    await mounted.fetch(`/oidc/end_session?id_token_hint=${first.id_token}`)
    expect((await bearing(mounted, first.access_token)).status).toBe(401)
    expect((await bearing(mounted, second.access_token)).status).toBe(200)
  })

  it('11: user info names the identity', async () => {
    const mounted = await mount()
    const { access_token: token } = await openIdTokens(mounted)
    const response = await bearing(mounted, token, '/oidc/userinfo')
    expect(await response.json()).toEqual({ sub: claimsOf(token).sub, name: 'Default Admin', z_ia: true })
    const without = await openIdTokens(mounted, TEST_ADMIN, { authorize: { scope: 'offline_access' } })
    const less = await bearing(mounted, without.access_token, '/oidc/userinfo')
    expect(await less.json()).toEqual({ sub: claimsOf(token).sub })
  })

  it('12: a browser gets a page when a factor is missing, and 406 what nothing can be answered to', async () => {
    const mounted = await mount()
    const { who } = await withTotp(mounted, 'browsing')
    const id = await begin(mounted, proofKey())
    const { username, password } = who
    const page = await step(mounted, id, 'password', { username, password }, { accept: 'text/html,*/*;q=0.8' })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await page.text()).toContain('action="/oidc/login/totp"')
    const refused = await step(mounted, id, 'password', { username, password }, { accept: 'text/plain' })
    expect(refused.status).toBe(406)
    expect(await refused.json()).toMatchObject({ code: 'NOT_ACCEPTABLE' })
  })

  it('14: taking a token back twice, or one that is none, is done without more ado', async () => {
    const mounted = await mount()
    const { access_token: token } = await openIdTokens(mounted)
    for (const text of [token, token, 'some-garbage', '00000000-0000-4000-8000-000000000001']) {
      const response = await postForm(mounted, '/oidc/revoke', { client_id: 'openziti', token: text })
      expect([response.status, await response.text()]).toEqual([200, ''])
    }
    expect(await revocationsOf(mounted)).toMatchObject([{ id: claimsOf(token).jti, type: 'JTI' }])
  })

  it('15: the proof key S256 is demanded, and a failed attempt uses the code up', async () => {
    const mounted = await mount()
    const key = proofKey()
    for (const change of [
      { code_challenge: undefined },
      { code_challenge_method: 'plain' },
      { code_challenge_method: undefined },
      { code_challenge: 'too-short' },
    ]) {
      const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(key, change)}`)
      expect((await oauthError(response)).slice(0, 2)).toEqual([400, 'invalid_request'])
    }
    const wrong = [{ code_verifier: 'wrong' }, { redirect_uri: 'http://localhost:1/auth/callback' }]
    for (const change of wrong) {
      const id = await begin(mounted, key)
      await step(mounted, id, 'password', TEST_ADMIN)
      const code = await codeOf(mounted, id)
      expect((await oauthError(await exchangeCode(mounted, code, key, change))).slice(0, 2)).toEqual([
        400,
        'invalid_grant',
      ])
      expect(await oauthError(await exchangeCode(mounted, code, key))).toEqual([400, 'invalid_grant', 'invalid code'])
    }
  })

  it('16: bad requests are 4xx, never 500', async () => {
    const mounted = await mount()
    const key = proofKey()
    const { refresh_token } = await openIdTokens(mounted)
    const id = await begin(mounted, key)
    const json = { 'content-type': 'application/json' }
    const answers: readonly (readonly [number, Promise<Response>])[] = [
      [400, mounted.fetch(`/oidc/authorize?${authorizeQuery(key, { redirect_uri: undefined })}`)],
      [400, exchange(mounted, refresh_token, 'id_token')],
      [400, exchange(mounted, refresh_token, 'refresh_token', 'refresh_token', { audience: 'zzz' })],
      [400, exchange(mounted, refresh_token, 'refresh_token', 'refresh_token', { scope: 'profile' })],
      [400, postForm(mounted, '/oidc/oauth/token', { grant_type: 'client_credentials', client_id: 'openziti' })],
      [400, mounted.fetch(`/oidc/login/password?id=${id}`, { method: 'POST', headers: json, body: '{' })],
      [401, step(mounted, id, 'totp/enroll')],
      [401, mounted.fetch(`/oidc/login/totp/enroll?id=${id}`, { method: 'DELETE', headers: FORM })],
    ]
    for (const [status, answer] of answers) expect((await answer).status).toBe(status)
    const { who } = await withTotp(mounted, 'deleting')
    const started = await begin(mounted, key)
    await step(mounted, started, 'password', { username: who.username, password: who.password })
    const deletion = await mounted.fetch(`/oidc/login/totp/enroll?id=${started}`, { method: 'DELETE', headers: FORM })
    expect(deletion.status).toBe(400)
    expect(await deletion.json()).toMatchObject({ code: 'MFA_INVALID_TOKEN' })
  })

  it('17: expiresAt of a bearer session is that of its access token', async () => {
    const mounted = await mount()
    const { access_token: token } = await openIdTokens(mounted)
    mounted.clock.advance(100_000)
    const response = await bearing(mounted, token, `${CLIENT}/current-api-session`)
    const { data } = (await response.json()) as { readonly data: Record<string, unknown> }
    expect(Date.parse(String(data.expiresAt))).toBe(claimsOf(token).exp * 1000)
    expect(data.expirationSeconds).toBe(1700)
  })

  it('18: a secondary token of somebody else proves nothing on REST', async () => {
    const mounted = await mount({ allowPrivateJwks: true })
    const idp = await identityProvider()
    const admin = await adminOf(mounted)
    const signer = await create(admin, '/external-jwt-signers', {
      name: 'idp',
      enabled: true,
      issuer: idp.issuer,
      audience: 'network',
      jwksEndpoint: idp.endpoint,
      claimsProperty: 'sub',
    })
    const policy = authPolicy('signed', {}, { requireExtJwtSigner: signer })
    const authPolicyId = await create(admin, '/auth-policies', policy)
    const who = await person(mounted, admin, 'signed', { authPolicyId })
    const own = await idp.token(mounted.clock.now(), { sub: who.id })
    const others = await idp.token(mounted.clock.now(), { sub: 'somebody-else' })
    const key = proofKey()
    const id = await begin(mounted, key)
    const { username, password } = who
    const logIn = (token: string) =>
      step(mounted, id, 'password', { username, password }, { authorization: `Bearer ${token}` })
    expect((await logIn(others)).headers.get('www-authenticate')).toContain(
      'realm="openziti-secondary-ext-jwt" error="invalid"',
    )
    expect((await logIn(own)).status).toBe(302)
    const { access_token } = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    const ask = (token: string) =>
      mounted.fetch(`${CLIENT}/services`, { headers: { authorization: `Bearer ${access_token}, Bearer ${token}` } })
    expect((await ask(own)).status).toBe(200)
    expect((await ask(others)).status).toBe(401)
    expect((await bearing(mounted, access_token, `${CLIENT}/services`)).status).toBe(401)
  })

  it('19: no page of another origin is let in by a star', async () => {
    const mounted = await mount({ cors: { origins: ['https://console.example'] } })
    const ask = (origin: string) => mounted.fetch('/oidc/.well-known/openid-configuration', { headers: { origin } })
    expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
    const listed = await ask('https://console.example')
    expect(listed.headers.get('access-control-allow-origin')).toBe('https://console.example')
  })
})
