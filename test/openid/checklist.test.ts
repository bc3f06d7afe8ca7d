import { createHash, X509Certificate } from 'node:crypto'
import { decodeProtectedHeader } from 'jose'
import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { CLIENT, MANAGEMENT } from '../contract/http/foreign-client.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mount } from '../support/mount.ts'
import {
  authorizeQuery,
  bearing,
  begin,
  CALLBACK,
  claimsOf,
  codeOf,
  encoded,
  exchange,
  FORM,
  openIdTokens,
  postForm,
  proofKey,
  refresh,
  step,
  tokensIn,
} from '../support/openid.ts'
import { login } from '../support/people.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const MISSING = 'error="missing" error_description="no matching token was provided"'

describe('What real clients need', () => {
  it('1: the capability and the API are advertised where the provider is on, and nothing of it where it is off', async () => {
    const on = await mount()
    const version = await (await on.fetch('/version')).json()
    expect(version).toMatchObject({
      data: {
        capabilities: ['OIDC_AUTH', 'OIDC_AUTH_WITH_CSR'],
        apiVersions: { 'edge-oidc': { v1: { path: '/oidc', apiBaseUrls: ['https://controller.test:1280/oidc'] } } },
      },
    })
    const off = await mount({ oidc: false })
    expect(await (await off.fetch('/version')).json()).toMatchObject({ data: { capabilities: [] } })
    const refused = await off.fetch('/oidc/keys')
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
    const challenge = (await bearing(off, 'token')).headers.get('www-authenticate')
    expect(challenge).toBe('Bearer realm="openziti-oidc" error="invalid" error_description="token is invalid"')
  })

  it('2: authorize takes query and form together, and leads to a path with authRequestID', async () => {
    const mounted = await mount()
    const key = proofKey()
    const [query, rest] = [encoded({ client_id: 'openziti', audience: 'openziti' }), authorizeQuery(key)]
    const page = /^\/oidc\/login\/username\?authRequestID=[0-9a-f-]{36}$/
    const get = await mounted.fetch(`/oidc/authorize?${authorizeQuery(key, { audience: 'x', unknown: 'y' })}`)
    expect([get.status, get.headers.get('location')]).toEqual([302, expect.stringMatching(page)])
    const empty = await mounted.fetch(`/oidc/authorize?${rest}`, { method: 'POST' })
    expect(empty.headers.get('location')).toMatch(page)
    const both = await mounted.fetch(`/oidc/authorize?${query}`, { method: 'POST', headers: FORM, body: rest })
    expect(both.headers.get('location')).toMatch(page)
    for (const [method, path] of [
      ['password', 'username'],
      ['cert', 'cert'],
      ['ext-jwt', 'ext-jwt'],
    ]) {
      const chosen = await mounted.fetch(`/oidc/authorize?${authorizeQuery(key, { method })}`)
      expect(chosen.headers.get('location')).toContain(`/oidc/login/${path}?`)
    }
  })

  it('3: login pages tell the id of the auth request in a header', async () => {
    const mounted = await mount()
    for (const page of ['username', 'password', 'cert', 'ext-jwt']) {
      const response = await mounted.fetch(`/oidc/login/${page}?authRequestID=some-id`)
      expect([response.status, response.headers.get('auth-request-id')]).toEqual([200, 'some-id'])
    }
  })

  it('4: a login takes form and JSON, the id from body or query, and empty texts; its errors are bare', async () => {
    const mounted = await mount()
    const key = proofKey()
    const done = (id: string) => [302, `https://controller.test:1280/oidc/authorize/callback?id=${id}`]
    const sdk = { sdkType: 'ziti-sdk-golang', sdkAppID: '', envOs: '', configTypes: '' }
    const id = await begin(mounted, key)
    const form = await step(mounted, id, 'password', { ...TEST_ADMIN, ...sdk })
    expect([form.status, form.headers.get('location')]).toEqual(done(id))
    const body = JSON.stringify({ ...TEST_ADMIN, id, envInfo: { os: 'linux' }, sdkInfo: null })
    const json = await mounted.fetch('/oidc/login/password?id=other', { method: 'POST', headers: JSON_TYPE, body })
    expect([json.status, json.headers.get('location')]).toEqual(done(id))
    for (const name of ['id', 'authRequestID']) {
      const path = `/oidc/login/username?${name}=${id}`
      const byQuery = await mounted.fetch(path, {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify(TEST_ADMIN),
      })
      expect([byQuery.status, byQuery.headers.get('location')]).toEqual(done(id))
    }
    const wrong = await step(mounted, id, 'password', { ...TEST_ADMIN, password: 'wrong' })
    expect([wrong.status, await wrong.json()]).toEqual([
      401,
      { code: 'INVALID_AUTH', message: 'The authentication request failed' },
    ])
    const unknown = await step(mounted, 'unknown', 'password', { ...TEST_ADMIN, password: 'wrong' })
    expect([unknown.status, await unknown.json()]).toMatchObject([401, { code: 'UNAUTHORIZED' }])
    const missing = await step(mounted, id, 'password', { username: 'admin' })
    expect([missing.status, await missing.json()]).toMatchObject([
      400,
      { code: 'COULD_NOT_VALIDATE', cause: { message: 'username and password fields are required' } },
    ])
    const untyped = await mounted.fetch(`/oidc/login/password?id=${id}`, { method: 'POST' })
    expect([untyped.status, await untyped.json()]).toMatchObject([415, { code: 'UNSUPPORTED_MEDIA_TYPE' }])
    expect((await mounted.fetch('/oidc/login/totp')).status).toBe(405)
  })

  it('5: the callback gives code, then state, in characters that need no escape', async () => {
    const mounted = await mount()
    const id = await begin(mounted, proofKey(), { state: 'a b&c=d/é' })
    await step(mounted, id, 'password', TEST_ADMIN)
    const response = await mounted.fetch(`/oidc/authorize/callback?id=${id}`)
    const location = response.headers.get('location') ?? ''
    expect(location).toMatch(
      /^http:\/\/localhost:8080\/auth\/callback\?code=[A-Za-z0-9._~-]+&state=a\+b%26c%3Dd%2F%C3%A9$/,
    )
    const unfinished = await begin(mounted, proofKey())
    const early = await mounted.fetch(`/oidc/authorize/callback?id=${unfinished}`)
    expect(early.headers.get('location')).toContain(`${CALLBACK}?error=interaction_required&error_description=`)
    expect((await mounted.fetch('/oidc/authorize/callback?id=unknown')).status).toBe(400)
  })

  it('6: the token endpoint takes Basic without secret and empty parameters, for three grants', async () => {
    const mounted = await mount()
    const key = proofKey()
    const id = await begin(mounted, key, { client_id: 'native' })
    await step(mounted, id, 'password', TEST_ADMIN)
    const code = await codeOf(mounted, id)
    const grant = { grant_type: 'authorization_code', code, code_verifier: key.verifier, redirect_uri: CALLBACK }
    const basic = { authorization: `Basic ${btoa('native:')}` }
    const tokens = await tokensIn(await postForm(mounted, '/oidc/oauth/token', grant, basic))
    expect(claimsOf(tokens.access_token)).toMatchObject({ client_id: 'native', aud: ['native'] })
    const empty = { scope: '', actor_token: '', actor_token_type: '', client_id: 'native' }
    const both = await tokensIn(await exchange(mounted, tokens.refresh_token, 'refresh_token', 'refresh_token', empty))
    const type = 'urn:ietf:params:oauth:token-type:refresh_token'
    expect(both).toMatchObject({ issued_token_type: type, token_type: 'Bearer', expires_in: 1800, scope: '' })
    const id_token = await tokensIn(await exchange(mounted, tokens.refresh_token, 'refresh_token', 'id_token', empty))
    expect(id_token).toMatchObject({ token_type: 'N_A' })
    expect(claimsOf(id_token.access_token)).toMatchObject({ sub: claimsOf(tokens.access_token).sub })
    expect((await refresh(mounted, both.refresh_token, { client_id: 'native' })).status).toBe(200)
  })

  it('7: an exchanged refresh token stays good for a second exchange; refreshing alone uses it up', async () => {
    const mounted = await mount()
    const { refresh_token: first } = await openIdTokens(mounted)
    const next = await tokensIn(await exchange(mounted, first, 'refresh_token', 'refresh_token'))
    expect((await exchange(mounted, first, 'refresh_token', 'id_token')).status).toBe(200)
    expect((await exchange(mounted, next.refresh_token, 'refresh_token', 'access_token')).status).toBe(200)
    expect((await refresh(mounted, first)).status).toBe(200)
    expect((await refresh(mounted, next.refresh_token)).status).toBe(200)
  })

  it('8: tokens name key, audience, scopes, kind, session and certificates as routers read them', async () => {
    const mounted = await mount()
    const { access_token, refresh_token, id_token } = await openIdTokens(mounted)
    const der = new X509Certificate(mounted.controller.tls().cert).raw
    const kid = createHash('sha1').update(der).digest('hex')
    for (const token of [access_token, refresh_token, id_token]) {
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'JWT', kid })
    }
    expect(claimsOf(access_token)).toMatchObject({
      aud: ['openziti'],
      scopes: ['openid', 'offline_access'],
      z_t: 'a',
      z_asid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      z_cfs: null,
    })
    expect(claimsOf(refresh_token)).toMatchObject({ z_t: 'r', z_asid: claimsOf(access_token).z_asid })
    const { keys } = (await (await mounted.fetch('/oidc/keys')).json()) as { readonly keys: readonly object[] }
    expect(keys).toEqual([
      { kid, use: 'sig', alg: 'ES256', kty: 'EC', crv: 'P-256', x: expect.anything(), y: expect.anything() },
    ])
  })

  it('9: REST challenges say what was wrong with a token, and zt-session wins over Bearer', async () => {
    const mounted = await mount()
    const { access_token, refresh_token, id_token } = await openIdTokens(mounted)
    const { token } = (await login(mounted)).body.data
    const both = `zt-session realm="zt-session" ${MISSING},Bearer realm="openziti-oidc" ${MISSING}`
    const bearer = (error: string, text: string) =>
      `Bearer realm="openziti-oidc" error="${error}" error_description="${text}"`
    const invalid = bearer('invalid', 'token is invalid')
    const session = 'zt-session realm="zt-session" error="invalid" error_description="token is invalid"'
    const tampered = `${access_token.slice(0, -4)}AAAA`
    const rows: readonly (readonly [Readonly<Record<string, string>>, string | null])[] = [
      [{}, both],
      [{ authorization: 'Bearer ' }, both],
      [{ authorization: 'Basic YTpi' }, both],
      [{ authorization: `bearer ${access_token}` }, both],
      [{ authorization: `Bearer ${refresh_token}` }, both],
      [{ authorization: `Bearer ${id_token}` }, both],
      [{ authorization: 'Bearer not-a-token' }, invalid],
      [{ authorization: `Bearer ${tampered}` }, invalid],
      [{ 'zt-session': access_token }, session],
      [{ 'zt-session': 'unknown', authorization: `Bearer ${access_token}` }, session],
      [{ 'zt-session': token, authorization: 'Bearer not-a-token' }, null],
      [{ authorization: `Bearer ${access_token}` }, null],
    ]
    for (const base of [CLIENT, MANAGEMENT]) {
      for (const [headers, challenge] of rows) {
        const response = await mounted.fetch(`${base}/current-identity`, { headers })
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([
          challenge === null ? 200 : 401,
          challenge,
        ])
      }
    }
    mounted.clock.advance(31 * 60_000)
    expect((await bearing(mounted, access_token)).headers.get('www-authenticate')).toBe(
      bearer('expired', 'token expired'),
    )
  })

  it('10: a bearer session shows itself by its token, gets certificates, and is listed', async () => {
    const mounted = await mount()
    const { access_token } = await openIdTokens(mounted)
    const { z_asid: id, iat } = claimsOf(access_token)
    for (const base of [CLIENT, MANAGEMENT]) {
      const shown = await (await bearing(mounted, access_token, `${base}/current-api-session`)).json()
      const createdAt = new Date(iat * 1000).toISOString()
      expect(shown).toMatchObject({
        data: { id, token: access_token, createdAt, expirationSeconds: 1800, authQueries: [] },
      })
    }
    const csr = JSON.stringify({ csr: signingRequest(newKey()) })
    const path = `${CLIENT}/current-api-session/certificates`
    const issued = await bearing(mounted, access_token, path, { method: 'POST', headers: JSON_TYPE, body: csr })
    expect(issued.status).toBe(201)
    const listed = await (await bearing(mounted, access_token, `${MANAGEMENT}/api-sessions`)).json()
    expect(listed).toMatchObject({ data: [{ id, token: '' }] })
    const deleted = await bearing(mounted, access_token, `${MANAGEMENT}/api-sessions/${id}`, { method: 'DELETE' })
    expect(deleted.status).toBe(200)
    expect((await bearing(mounted, access_token)).status).toBe(401)
  })
})

it('the host of a request only chooses among the issuers', async () => {
  const mounted = await mount({ oidc: { issuers: ['https://a.test:1280/oidc', 'https://b.test/oidc'] } })
  const issuerAt = async (host: string) => {
    const response = await mounted.controller.fetch(
      new Request(`https://${host}/oidc/.well-known/openid-configuration`),
    )
    return response.status === 200 ? ((await response.json()) as { readonly issuer: string }).issuer : response.status
  }
  expect(await issuerAt('a.test:1280')).toBe('https://a.test:1280/oidc')
  expect(await issuerAt('A.TEST:1280')).toBe('https://a.test:1280/oidc')
  expect(await issuerAt('b.test')).toBe('https://b.test/oidc')
  expect(await issuerAt('b.test:443')).toBe('https://b.test/oidc')
  for (const host of ['a.test', 'a.test:1281', 'c.test:1280', 'controller.test:1280'])
    expect(await issuerAt(host)).toBe(404)
})

it('tokens outlive the key that signed them, and a restart of the controller', async () => {
  const { memoryStorage } = await import('portcullis/memory')
  const { createPkiMaterial } = await import('portcullis')
  const now = Date.UTC(2026, 0, 1)
  const hosts = ['controller.test']
  const pki = await createPkiMaterial({ hosts, trustDomain: 'keys.test', now })
  const renewed = await createPkiMaterial({ hosts, trustDomain: 'keys.test', now })
  const storage = memoryStorage()
  const mounted = await mount({ storage, pki })
  const before = await openIdTokens(mounted)
  await mounted.controller.replaceServerCertificate(renewed)
  const after = await openIdTokens(mounted)
  expect(decodeProtectedHeader(after.access_token).kid).not.toBe(decodeProtectedHeader(before.access_token).kid)
  const { serverCertPem, serverKeyPem } = renewed
  const again = await mount({ storage, pki: { ...pki, serverCertPem, serverKeyPem } })
  for (const one of [mounted, again]) {
    const { keys } = (await (await one.fetch('/oidc/keys')).json()) as {
      readonly keys: readonly { readonly kid: string }[]
    }
    const kids = [after, before].map(({ access_token }) => decodeProtectedHeader(access_token).kid)
    expect(keys.map(({ kid }) => kid)).toEqual(kids)
    for (const { access_token } of [before, after]) expect((await bearing(one, access_token)).status).toBe(200)
  }
})

it('controllers over one store with keys of their own know the tokens of each other, before and after a key is replaced', async () => {
  const { memoryStorage } = await import('portcullis/memory')
  const { createPkiMaterial } = await import('portcullis')
  const now = Date.UTC(2026, 0, 1)
  const material = () => createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'keys.test', now })
  const [pki, others, renewed] = [await material(), await material(), await material()]
  const storage = memoryStorage()
  const first = await mount({ storage, pki })
  const second = await mount({
    storage,
    pki: { ...pki, serverCertPem: others.serverCertPem, serverKeyPem: others.serverKeyPem },
  })
  const kidOf = (token: string) => decodeProtectedHeader(token).kid
  const before = [await openIdTokens(first), await openIdTokens(second)]
  await first.controller.replaceServerCertificate(renewed)
  const all = [...before, await openIdTokens(first)]
  expect(new Set(all.map(({ access_token }) => kidOf(access_token))).size).toBe(3)
  for (const at of [first, second]) {
    const { keys } = (await (await at.fetch('/oidc/keys')).json()) as { readonly keys: readonly { kid: string }[] }
    const kids = keys.map(({ kid }) => kid)
    for (const { access_token, refresh_token } of all) {
      expect(kids).toContain(kidOf(access_token))
      expect((await bearing(at, access_token)).status).toBe(200)
      expect((await exchange(at, refresh_token, 'refresh_token', 'access_token')).status).toBe(200)
    }
  }
})
