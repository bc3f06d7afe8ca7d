import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, foreignClient, MANAGEMENT } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import {
  authorizeQuery,
  begin,
  codeOf,
  exchange,
  exchangeCode,
  oauthError,
  openIdTokens,
  type Parameters,
  postForm,
  proofKey,
  refresh,
  step,
} from '../support/openid.ts'

const ASK = 'If you have any questions, you may contact the administrator of the application.'

describe('errors of the authorization endpoint', () => {
  it.each<readonly [string, Parameters, string, string]>([
    ['no client', { client_id: undefined }, 'invalid_request', 'auth request is missing client_id'],
    ['no redirect URI', { redirect_uri: undefined }, 'invalid_request', 'auth request is missing redirect_uri'],
    ['an unknown client', { client_id: 'nope' }, 'invalid_client', 'client not found'],
    [
      'no scope',
      { scope: undefined },
      'invalid_request',
      `The scope of your request is missing. Please ensure some scopes are requested. ${ASK}`,
    ],
    [
      'no response type',
      { response_type: undefined },
      'invalid_request',
      `The response type is missing in your request. ${ASK}`,
    ],
    [
      'another response type',
      { response_type: 'token' },
      'unauthorized_client',
      `The requested response type is missing in the client configuration. ${ASK}`,
    ],
    [
      'none among prompts',
      { prompt: 'none login' },
      'invalid_request',
      'The prompt parameter `none` must only be used as a single value',
    ],
    ['a max_age that is no number', { max_age: 'soon' }, 'invalid_request', 'error decoding form'],
    ['a bad id_token_hint', { id_token_hint: 'no-token' }, 'login_required', `The id_token_hint is invalid. ${ASK}`],
    [
      'a state that is too long',
      { state: 'x'.repeat(5000) },
      'invalid_request',
      'state is longer than 4096 characters',
    ],
  ])('%s', async (_name, change, error, description) => {
    const mounted = await mount()
    const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), change)}`)
    expect(await oauthError(response)).toEqual([400, error, description])
  })

  it.each([
    'http://localhost/auth/callback',
    'http://127.0.0.2:80/auth/callback',
    'http://[::1]:80/auth/callback',
    'http://localhost:80@evil.example/auth/callback',
    'http://localhost:80/auth/callback/more',
    'http://localhost:80/auth/callback?query',
    'http://localhost:99999/auth/callback',
    'http://localhost.evil.example:80/auth/callback',
    'https://evil.example/auth/callback',
    'openziti://auth/callback#fragment',
    'javascript:alert(1)',
  ])('sends nobody to %s', async (redirect_uri) => {
    const mounted = await mount()
    const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), { redirect_uri })}`)
    expect(response.headers.get('location')).toBeNull()
    expect((await oauthError(response)).slice(0, 2)).toEqual([400, 'invalid_request'])
  })

  it('prompt=none is told to the client, because nobody is logged in by a cookie', async () => {
    const mounted = await mount()
    const response = await mounted.fetch(
      `/oidc/authorize?${authorizeQuery(proofKey(), { prompt: 'none', state: 's' })}`,
    )
    expect(response.headers.get('location')).toBe('http://localhost:8080/auth/callback?error=login_required&state=s')
  })
})

describe('errors of the token endpoint', () => {
  it.each<readonly [string, Parameters, string, string]>([
    ['no grant', { client_id: 'openziti' }, 'invalid_request', 'grant_type missing'],
    ['no client', { grant_type: 'refresh_token' }, 'invalid_request', 'client_id or client_assertion must be provided'],
    ['an unknown client', { grant_type: 'refresh_token', client_id: 'x' }, 'invalid_client', 'client not found'],
    ['passwords', { grant_type: 'password', client_id: 'native' }, 'unsupported_grant_type', 'password not supported'],
    ['no code', { grant_type: 'authorization_code', client_id: 'native' }, 'invalid_request', 'code missing'],
    [
      'no refresh token',
      { grant_type: 'refresh_token', client_id: 'native' },
      'invalid_request',
      'refresh_token missing',
    ],
  ])('%s', async (_name, parameters, error, description) => {
    const mounted = await mount()
    const response = await postForm(mounted, '/oidc/oauth/token', parameters)
    expect(await oauthError(response)).toEqual([400, error, description])
  })

  it('what a code is exchanged with', async () => {
    const mounted = await mount()
    const key = proofKey()
    const rows: readonly (readonly [Parameters, string, string])[] = [
      [{ code_verifier: undefined }, 'invalid_request', 'code_verifier required'],
      [{ redirect_uri: undefined }, 'invalid_request', 'redirect_uri missing'],
      [{ code: 'unknown' }, 'invalid_grant', 'invalid code'],
      [{ code_verifier: 'other' }, 'invalid_grant', 'invalid code_verifier'],
      [{ redirect_uri: 'openziti://auth/callback' }, 'invalid_grant', 'redirect_uri does not correspond'],
    ]
    for (const [change, error, description] of rows) {
      const id = await begin(mounted, key)
      await step(mounted, id, 'password', TEST_ADMIN)
      const response = await exchangeCode(mounted, await codeOf(mounted, id), key, change)
      expect(await oauthError(response)).toEqual([400, error, description])
    }
    const late = await begin(mounted, key)
    await step(mounted, late, 'password', TEST_ADMIN)
    const code = await codeOf(mounted, late)
    await mounted.controller.elapse(10 * 60_000)
    expect(await oauthError(await exchangeCode(mounted, code, key))).toEqual([400, 'invalid_grant', 'invalid code'])
  })

  it('what tokens are refreshed and exchanged with', async () => {
    const mounted = await mount()
    const { access_token, refresh_token, id_token } = await openIdTokens(mounted)
    const answers: readonly (readonly [Promise<Response>, string, string | undefined])[] = [
      [refresh(mounted, 'garbage'), 'invalid_grant', 'failed to parse refresh token'],
      [refresh(mounted, access_token), 'invalid_grant', 'invalid token type, expected refresh'],
      [refresh(mounted, id_token), 'invalid_grant', 'invalid token type, expected refresh'],
      [
        refresh(mounted, refresh_token, { client_id: 'native' }),
        'invalid_grant',
        'client_id does not match original grant',
      ],
      [refresh(mounted, refresh_token, { scope: 'profile' }), 'invalid_scope', undefined],
      [exchange(mounted, '', 'refresh_token'), 'invalid_request', 'subject_token missing'],
      [exchange(mounted, 'garbage', 'refresh_token'), 'invalid_request', 'subject_token is invalid'],
      [exchange(mounted, access_token, 'refresh_token'), 'invalid_request', 'subject_token is invalid'],
      [exchange(mounted, refresh_token, 'refresh_token', 'jwt'), 'invalid_request', 'requested_token_type is invalid'],
    ]
    for (const [answer, error, description] of answers)
      expect(await oauthError(await answer)).toEqual([400, error, description])
    mounted.clock.advance(24 * 60 * 60_000)
    expect(await oauthError(await refresh(mounted, refresh_token))).toEqual([
      400,
      'invalid_grant',
      'refresh token expired',
    ])
  })
})

it('administrators change where clients may be sent, at once, and go back to the configuration', async () => {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const path = '/controller-settings/controller/effective'
  const ask = async (redirect_uri: string) =>
    (await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), { redirect_uri })}`)).status
  const [own, loopback] = ['https://console.example/auth/callback', 'http://localhost:1/auth/callback']
  expect([await ask(own), await ask(loopback)]).toEqual([400, 302])
  expect((await admin.patch(path, { oidc: { redirectUris: [own] } })).status).toBe(200)
  expect([await ask(own), await ask(loopback)]).toEqual([302, 400])
  const { data } = (await admin.get(path)).body
  expect(data.effective.oidc.redirectUris).toEqual([own])
  expect(data.instance).toEqual({ oidc: { redirectUris: [own] } })
  expect((await admin.get('/controller-settings')).body.data).toMatchObject([
    { id: 'controller', oidc: { redirectUris: [own] } },
  ])
  for (const uri of ['https://*.example/x', 'javascript:alert(1)', 'no-uri', 'https://a.example/#x']) {
    const refused = await admin.put(path, { oidc: { redirectUris: [uri] } })
    expect([refused.status, refused.body.error.cause.field]).toEqual([400, 'oidc.redirectUris'])
  }
  expect((await foreignClient(mounted, MANAGEMENT).get(path)).status).toBe(401)
  expect((await admin.delete(path)).status).toBe(200)
  expect([await ask(own), await ask(loopback)]).toEqual([400, 302])
})
