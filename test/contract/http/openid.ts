import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { identityProvider } from '../../support/jwks-server.ts'
import {
  authorizeQuery,
  bearing,
  begin,
  claimsOf,
  codeOf,
  exchange,
  exchangeCode,
  oauthError,
  openIdTokens,
  proofKey,
  refresh,
  step,
  tokensIn,
} from '../../support/openid.ts'
import { authPolicy, person } from '../../support/people.ts'
import { adminOf, CLIENT, create, MANAGEMENT } from './foreign-client.ts'
import type { Mount, MountedController } from './mount.ts'
import { enroll } from './scenario.ts'

/** By which name clients reach the controller, whatever socket it listens on. */
const HOST = 'controller.test:1280'
const ORIGIN = `https://${HOST}`

/** A controller that is reached by the name by which it issues tokens. */
function named(mount: Mount): Mount {
  return async (options) => {
    const mounted = await mount(options)
    const fetch: MountedController['fetch'] = (path, request = {}, client) =>
      mounted.fetch(path, { ...request, headers: { host: HOST, ...request.headers } }, client)
    return { ...mounted, fetch }
  }
}

/** Tries the same thing a number of times at the same time. */
const atOnce = (tries: number, attempt: () => Promise<Response>) =>
  Promise.all(Array.from({ length: tries }, () => attempt()))

/** Logins by OpenID Connect, and what their tokens are good for. */
export function describeOpenId(mount: Mount): void {
  const open = named(mount)

  it('logs in by authorize, login, callback and token; the token is good at both APIs until the session ends', async () => {
    const mounted = await open()
    const key = proofKey()
    const begun = await mounted.fetch(`/oidc/authorize?${authorizeQuery(key)}`)
    const page = begun.headers.get('location') ?? ''
    expect([begun.status, page]).toEqual([302, expect.stringMatching(/^\/oidc\/login\/username\?authRequestID=/)])
    const id = (await mounted.fetch(page)).headers.get('auth-request-id') ?? ''
    const loggedIn = await step(mounted, id, 'password', TEST_ADMIN)
    expect([loggedIn.status, loggedIn.headers.get('location')]).toEqual([
      302,
      `${ORIGIN}/oidc/authorize/callback?id=${id}`,
    ])
    const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    expect(claimsOf(tokens.access_token)).toMatchObject({ iss: `${ORIGIN}/oidc`, aud: ['openziti'], z_t: 'a' })
    for (const base of [CLIENT, MANAGEMENT]) {
      expect((await bearing(mounted, tokens.access_token, `${base}/current-identity`)).status).toBe(200)
    }
    const next = await tokensIn(await refresh(mounted, tokens.refresh_token))
    expect((await exchange(mounted, next.refresh_token, 'refresh_token', 'id_token')).status).toBe(200)
    const path = `${CLIENT}/current-api-session`
    expect((await bearing(mounted, next.access_token, path, { method: 'DELETE' })).status).toBe(200)
    expect((await bearing(mounted, next.access_token)).status).toBe(401)
    expect((await refresh(mounted, next.refresh_token)).status).toBe(400)
  })

  it('11: several Authorization headers of a request are kept apart, in any order', async () => {
    const mounted = await open({ allowPrivateJwks: true })
    const admin = await adminOf(mounted)
    const idp = await identityProvider()
    const signer = await create(admin, '/external-jwt-signers', {
      name: 'idp',
      enabled: true,
      issuer: idp.issuer,
      audience: 'network',
      jwksEndpoint: idp.endpoint,
    })
    const policy = authPolicy('signed', {}, { requireExtJwtSigner: signer })
    const who = await person(mounted, admin, 'ann', { authPolicyId: await create(admin, '/auth-policies', policy) })
    const own = await idp.token(mounted.clock.now(), { sub: who.id })
    const key = proofKey()
    const id = await begin(mounted, key)
    const { username, password } = who
    const login = await step(mounted, id, 'password', { username, password }, { authorization: `Bearer ${own}` })
    expect(login.status).toBe(302)
    const { access_token } = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    const ask = (...tokens: readonly string[]) =>
      mounted.fetch(`${CLIENT}/services`, { authorizations: tokens.map((token) => `Bearer ${token}`) })
    expect((await ask(access_token, own)).status).toBe(200)
    expect((await ask(own, access_token)).status).toBe(200)
    expect((await ask('garbage', own, access_token)).status).toBe(200)
    for (const tokens of [[access_token], [own], [access_token, 'garbage']]) {
      expect((await ask(...tokens)).status).toBe(401)
    }
  })

  it('12: a client certificate is asked for and not demanded, and reaches authorize, login, token endpoint and APIs', async () => {
    const mounted = await open()
    const { id: identityId, certificate } = await enroll(mounted, await adminOf(mounted), { name: 'device' })
    const key = proofKey()
    const path = `/oidc/authorize?${authorizeQuery(key)}`
    expect((await mounted.fetch(path)).headers.get('location')).toContain('/oidc/login/username?')
    const begun = await mounted.fetch(path, {}, certificate)
    expect(begun.headers.get('location')).toContain('/oidc/login/cert?')
    const id = new URL(begun.headers.get('location') ?? '', ORIGIN).searchParams.get('authRequestID') ?? ''
    expect((await step(mounted, id, 'cert')).status).toBe(401)
    expect((await step(mounted, id, 'cert', {}, {}, certificate)).status).toBe(302)
    const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    expect(claimsOf(tokens.access_token)).toMatchObject({ sub: identityId, amr: ['cert'] })
    expect((await bearing(mounted, tokens.access_token, undefined, {}, certificate)).status).toBe(200)
    expect((await bearing(mounted, tokens.access_token)).status).toBe(401)
    expect((await oauthError(await refresh(mounted, tokens.refresh_token)))[1]).toBe('access_denied')
    expect((await refresh(mounted, tokens.refresh_token, {}, certificate)).status).toBe(200)
  })

  it('of 100 tries with one code at the same time one is answered, and the others end what it got', async () => {
    const mounted = await open()
    const key = proofKey()
    const id = await begin(mounted, key)
    await step(mounted, id, 'password', TEST_ADMIN)
    const code = await codeOf(mounted, id)
    const codes = await atOnce(100, () => exchangeCode(mounted, code, key))
    const good = codes.filter(({ status }) => status === 200)
    expect([good.length, codes.filter(({ status }) => status === 400).length]).toEqual([1, 99])
    for (const one of good) {
      const { access_token, refresh_token } = await tokensIn(one)
      expect((await bearing(mounted, access_token)).status).toBe(401)
      expect((await refresh(mounted, refresh_token)).status).toBe(400)
    }
  })

  it('of a dozen answers to one refresh token at the same time one alone can be gone on with', async () => {
    const mounted = await open()
    const { refresh_token } = await openIdTokens(mounted)
    const answers = await atOnce(12, () => refresh(mounted, refresh_token))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const [first, ...others] = await Promise.all(answers.map(tokensIn))
    if (first === undefined) throw new Error('none')
    const next = await tokensIn(await refresh(mounted, first.refresh_token))
    expect((await bearing(mounted, next.access_token)).status).toBe(200)
    for (const other of others.slice(0, 1)) {
      expect((await refresh(mounted, other.refresh_token)).status).toBe(400)
      expect((await bearing(mounted, next.access_token)).status).toBe(401)
    }
  })

  it('pages, cookies, redirects and refusals arrive as they were answered', async () => {
    const mounted = await open({ allowPrivateJwks: true })
    const admin = await adminOf(mounted)
    const idp = await identityProvider()
    const base = new URL(idp.endpoint).origin
    idp.state.answer = (_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ issuer: base, authorization_endpoint: `${base}/in`, token_endpoint: `${base}/token` }),
      )
    }
    const fields = { issuer: idp.issuer, audience: 'network', jwksEndpoint: idp.endpoint }
    const browser = { externalAuthUrl: base, clientId: 'portcullis' }
    const signer = await create(admin, '/external-jwt-signers', { name: 'idp', enabled: true, ...fields, ...browser })
    const id = await begin(mounted, proofKey())
    const page = await mounted.fetch(`/oidc/login/username?authRequestID=${id}`)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('Log in with idp')
    const away = await mounted.fetch(`/oidc/login/signer?authRequestID=${id}&signer=${signer}`)
    expect([away.status, away.headers.get('location')]).toEqual([302, expect.stringContaining(`${base}/in?`)])
    expect(away.headers.get('set-cookie')).toMatch(/^__Host-portcullis-login=/)
    expect((await step(mounted, id, 'cert', {}, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await mounted.fetch('/oidc/keys', { headers: { host: 'localhost:1' } })).status).toBe(
      mounted.url === ORIGIN ? 200 : 404,
    )
  })

  describe('the older sessions beside it', () => {
    it('go on, and a token of the one is none of the other', async () => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const { access_token } = await openIdTokens(mounted)
      expect((await admin.get('/current-identity')).status).toBe(200)
      expect(
        (await mounted.fetch(`${CLIENT}/current-identity`, { headers: { 'zt-session': access_token } })).status,
      ).toBe(401)
    })
  })
}
