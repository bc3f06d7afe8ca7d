import { TEST_ADMIN } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { enroll } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'
import { bearing, claimsOf, encoded, FORM, proofKey, type Tokens, tokensIn } from '../support/openid.ts'
import { authPolicy } from '../support/people.ts'
import { totp } from '../support/totp.ts'

const CALLBACK = 'http://localhost:20314/auth/callback'
const JSON_TYPE = { 'content-type': 'application/json' }

/** Path and query of where an answer leads, taken as it stands. */
function wayOf(response: Response): string {
  const location = response.headers.get('location') ?? ''
  return location.startsWith('https:') ? location.replace(/^https:\/\/[^/]+/, '') : location
}

/** As the SDK for C begins: no redirect is followed, the id is read from the location, an empty body is posted. */
async function beginAsC(mounted: MountedController) {
  const discovered = await mounted.fetch('/oidc/.well-known/openid-configuration')
  const { authorization_endpoint, token_endpoint } = (await discovered.json()) as Readonly<Record<string, string>>
  const { pathname } = new URL(authorization_endpoint ?? '')
  const key = proofKey()
  const query = encoded({
    client_id: 'openziti',
    scope: 'openid offline_access',
    response_type: 'code',
    redirect_uri: CALLBACK,
    code_challenge: key.challenge,
    code_challenge_method: 'S256',
    state: 'c-state',
    audience: 'openziti',
  })
  const begun = await mounted.fetch(`${pathname}?${query}`, { method: 'POST' })
  expect(begun.status).toBe(302)
  const id = /authRequestID=([^&]+)/.exec(begun.headers.get('location') ?? '')?.[1] ?? ''
  return { id, key, tokenPath: new URL(token_endpoint ?? '').pathname }
}

/** Everything after `code=` is sent again without being decoded, the state with it. */
async function tokensAsC(mounted: MountedController, callback: string, verifier: string, tokenPath: string) {
  const called = await mounted.fetch(callback)
  const code = (called.headers.get('location') ?? '').split('code=')[1] ?? ''
  expect(code).toContain('&state=c-state')
  const grant = `grant_type=authorization_code&client_id=openziti&code=${code}`
  const body = `${grant}&redirect_uri=${CALLBACK}&code_verifier=${verifier}`
  const response = await mounted.fetch(tokenPath, { method: 'POST', headers: FORM, body })
  expect(response.status).toBe(200)
  return tokensIn(response)
}

it('the SDK for C: certificate and JSON, the code with everything behind it, refreshing by Basic and form', async () => {
  const mounted = await mount()
  const { id: identityId, certificate } = await enroll(mounted, await adminOf(mounted), { name: 'device' })
  const { id, key, tokenPath } = await beginAsC(mounted)
  const body = JSON.stringify({ sdkInfo: { type: 'ziti-sdk-c' }, envInfo: { os: 'Linux' } })
  const path = `/oidc/login/cert?id=${id}`
  const loggedIn = await mounted.fetch(path, { method: 'POST', headers: JSON_TYPE, body }, certificate)
  expect(loggedIn.status).toBe(302)
  const tokens = await tokensAsC(mounted, wayOf(loggedIn), key.verifier, tokenPath)
  expect(claimsOf(tokens.access_token)).toMatchObject({ sub: identityId, z_sdk: { type: 'ziti-sdk-c' } })
  const basic = Buffer.from('openziti:').toString('base64url')
  const refreshed = await mounted.fetch(
    tokenPath,
    {
      method: 'POST',
      headers: { ...FORM, authorization: `Basic ${basic}` },
      body: `client_id=openziti&grant_type=refresh_token&refresh_token=${tokens.refresh_token}`,
    },
    certificate,
  )
  const next = await tokensIn(refreshed)
  expect((await bearing(mounted, next.access_token, undefined, {}, certificate)).status).toBe(200)
  expect(next.expires_in).toBeGreaterThan(0)
})

it('the SDK for C: a second factor that is enrolled in on the way, by query and form', async () => {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const authPolicyId = await create(admin, '/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
  const { certificate } = await enroll(mounted, admin, { name: 'device', authPolicyId })
  const { id, key, tokenPath } = await beginAsC(mounted)
  const login = `/oidc/login/cert?id=${id}`
  const pending = await mounted.fetch(login, { method: 'POST', headers: JSON_TYPE, body: '{}' }, certificate)
  expect([pending.status, await pending.json()]).toMatchObject([200, { authQueries: [{ typeId: 'TOTP' }] }])
  const enrollment = `/oidc/login/totp/enroll?id=${id}`
  const none = await mounted.fetch(enrollment, { method: 'DELETE', headers: FORM })
  expect(none.status).toBe(404)
  const begun = await mounted.fetch(enrollment, { method: 'POST', headers: FORM })
  const { provisioningUrl } = (await begun.json()) as { readonly provisioningUrl: string }
  const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  const body = encoded({ id, code: totp(secret, mounted.clock.now()) })
  const verified = await mounted.fetch('/oidc/login/totp/enroll/verify', { method: 'POST', headers: FORM, body })
  expect(verified.status).toBe(302)
  const tokens = await tokensAsC(mounted, wayOf(verified), key.verifier, tokenPath)
  expect(claimsOf(tokens.access_token).amr).toEqual(['cert', 'totp'])
})

it('the console: a page of another origin that is listed, the id of the final address, and the refresh grant', async () => {
  const origin = 'https://console.example'
  const redirect_uri = `${origin}/auth/callback`
  const mounted = await mount({ cors: { origins: [origin] }, oidc: { redirectUris: [redirect_uri] } })
  const headers = { origin, accept: 'application/json, text/plain, */*' }
  const key = proofKey()
  const query = encoded({
    client_id: 'openziti',
    response_type: 'code',
    scope: 'openid offline_access',
    redirect_uri,
    state: 's',
    code_challenge: key.challenge,
    code_challenge_method: 'S256',
  })
  const begun = await mounted.fetch(`/oidc/authorize?${query}`, { headers })
  const page = await mounted.fetch(wayOf(begun), { headers })
  expect(page.headers.get('access-control-allow-origin')).toBe(origin)
  const id = new URL(wayOf(begun), mounted.url).searchParams.get('authRequestID') ?? undefined
  const login = { method: 'POST', headers: { ...headers, ...FORM }, body: encoded({ id, ...TEST_ADMIN }) }
  const loggedIn = await mounted.fetch('/oidc/login/username', login)
  const called = await mounted.fetch(wayOf(loggedIn), { headers })
  const arrived = new URL(called.headers.get('location') ?? '')
  expect(`${arrived.origin}${arrived.pathname}`).toBe(redirect_uri)
  const send = async (parameters: Readonly<Record<string, string | undefined>>): Promise<Tokens> => {
    const body = encoded({ client_id: 'openziti', ...parameters })
    const response = await mounted.fetch('/oidc/oauth/token', {
      method: 'POST',
      headers: { ...headers, ...FORM },
      body,
    })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin])
    return tokensIn(response)
  }
  const code = arrived.searchParams.get('code') ?? ''
  const tokens = await send({ grant_type: 'authorization_code', code, code_verifier: key.verifier, redirect_uri })
  const next = await send({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token })
  expect((await bearing(mounted, next.access_token, '/edge/management/v1/identities')).status).toBe(200)
})
