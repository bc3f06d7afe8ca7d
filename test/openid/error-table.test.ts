import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mountOf } from '../support/mount.ts'
import {
  authorizeQuery,
  bearing,
  begin,
  claimsOf,
  exchange,
  FORM,
  oauthError,
  openIdTokens,
  type Parameters,
  postForm,
  proofKey,
  refresh,
  step,
  type Tokens,
  tokensIn,
} from '../support/openid.ts'
import { authPolicy, type Person, person } from '../support/people.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { totp } from '../support/totp.ts'

/** One controller for all rows: none of them leaves anything behind that another one sees. */
let mounted: MountedController
let tokens: Tokens

beforeAll(async () => {
  mounted = mountOf(await createTestController(await withSharedPki({ rateLimits: false })))
  tokens = await openIdTokens(mounted)
  return () => mounted.dispose()
})

const TYPE = 'urn:ietf:params:oauth:token-type:'
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const bare = async (response: Response) => [response.status, ((await response.json()) as { code?: string }).code]

describe('authorize', () => {
  it.each<readonly [string, Parameters]>([
    ['prompt=login', { prompt: 'login' }],
    ['an unknown prompt', { prompt: 'whatever' }],
    ['max_age=0', { max_age: '0' }],
    ['response_mode', { response_mode: 'form_post' }],
    ['an audience and what nobody knows', { audience: 'x', unknown: 'y' }],
    ['unknown scopes alone', { scope: 'foo' }],
    ['no state and no nonce', { state: undefined }],
  ])('goes on in spite of %s', async (_name, change) => {
    const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), change)}`)
    expect(response.status).toBe(302)
  })

  it.each<readonly [string, Parameters, readonly [number, string, string]]>([
    ['a request object', { request: 'no-jwt' }, [400, 'invalid_request', 'request objects are not supported']],
    [
      'an implicit flow',
      { response_type: 'id_token token' },
      [
        400,
        'unauthorized_client',
        'The requested response type is missing in the client configuration. If you have any questions, you may contact the administrator of the application.',
      ],
    ],
  ])('refuses %s', async (_name, change, expected) => {
    const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), change)}`)
    expect(await oauthError(response)).toEqual(expected)
  })
})

describe('a login', () => {
  it.each<readonly [string, string, RequestInit, number, string | undefined]>([
    ['no content type', 'password', {}, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['another content type', 'password', { headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'bad JSON',
      'password',
      { headers: { 'content-type': 'application/json' }, body: '{' },
      400,
      'COULD_NOT_PARSE_BODY',
    ],
    ['a bad escape', 'password', { headers: FORM, body: 'username=%E0%A4%A' }, 400, undefined],
    ['nothing', 'password', { headers: FORM, body: '' }, 400, 'COULD_NOT_VALIDATE'],
    ['no certificate', 'cert', { headers: FORM }, 401, 'INVALID_AUTH'],
    ['no token', 'ext-jwt', { headers: FORM }, 401, 'UNAUTHORIZED'],
    ['an answer that nobody gives', 'password', { headers: { ...FORM, accept: 'text/plain' } }, 406, 'NOT_ACCEPTABLE'],
  ])('with %s', async (_name, method, request, status, code) => {
    const id = await begin(mounted, proofKey())
    const { headers = {}, body } = request
    const response = await mounted.fetch(`/oidc/login/${method}?id=${id}`, {
      method: 'POST',
      headers: { ...(headers as Record<string, string>) },
      ...(typeof body === 'string' && { body }),
    })
    const answer = await bare(response)
    expect(answer).toEqual(code === undefined ? [status, expect.any(String)] : [status, code])
  })

  it('looks for the request before the credentials, and says nothing of users', async () => {
    const unknown = await step(mounted, 'unknown', 'password', TEST_ADMIN)
    expect(await bare(unknown)).toEqual([401, 'UNAUTHORIZED'])
    const id = await begin(mounted, proofKey())
    const [wrong, nobody] = [
      await step(mounted, id, 'password', { ...TEST_ADMIN, password: 'wrong' }),
      await step(mounted, id, 'password', { username: 'nobody', password: 'wrong' }),
    ]
    expect(await wrong.text()).toBe(await nobody.text())
    expect([wrong.status, nobody.status, wrong.headers.get('www-authenticate')]).toEqual([401, 401, null])
  })

  it.each([
    ['/oidc/login/unknown', 'POST', 404],
    ['/oidc/login/totp', 'GET', 405],
    ['/oidc/login/totp/enroll', 'GET', 405],
    ['/oidc/login/totp/enroll/verify', 'GET', 405],
    ['/oidc/oauth/revoke', 'POST', 404],
    ['/oidc/v1/keys', 'GET', 404],
    ['/oidc', 'GET', 404],
    ['/oidc/version', 'GET', 404],
  ])('is not at %s (%s): %d', async (path, method, status) => {
    const response = await mounted.fetch(path, { method, headers: FORM })
    expect(response.status).toBe(status)
    if (status === 405) expect(await response.text()).toBe('')
  })
})

describe('the second factor of a login', () => {
  let who: Person
  let fresh: Person
  let code: () => string
  let recoveryCodes: readonly string[]
  const PAGE = { accept: 'text/html' }

  beforeAll(async () => {
    const admin = await adminOf(mounted)
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
    who = await person(mounted, admin, 'with-app', { authPolicyId })
    fresh = await person(mounted, admin, 'without-app', { authPolicyId })
    const mfa = await completeMfa(mounted, who)
    code = mfa.code
    recoveryCodes = mfa.recoveryCodes
  })

  async function started({ username, password }: Person): Promise<string> {
    const id = await begin(mounted, proofKey())
    const pending = await step(mounted, id, 'password', { username, password })
    expect([pending.status, pending.headers.get('totp-required')]).toEqual([200, 'true'])
    return id
  }

  it('refuses wrong, empty, long and late codes, and those of nobody, alike', async () => {
    const id = await started(who)
    const unstarted = await begin(mounted, proofKey())
    const rows = [
      [id, '000000'],
      [id, ''],
      [id, '1'.repeat(14)],
      ['unknown', code()],
      [unstarted, code()],
      [await started(fresh), '000000'],
    ] as const
    for (const [at, text] of rows) {
      const response = await step(mounted, at, 'totp', { code: text })
      expect([response.status, await response.json()]).toEqual([
        400,
        { code: 'INVALID TOTP CODE', message: 'an invalid TOTP code was supplied' },
      ])
    }
    const page = await step(mounted, id, 'totp', { code: '000000' }, PAGE)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  })

  it('takes a code with blanks once, and a recovery code once', async () => {
    const id = await started(who)
    const shown = code()
    expect((await step(mounted, id, 'totp', { code: ` ${shown} ` })).status).toBe(302)
    expect((await step(mounted, await started(who), 'totp', { code: shown })).status).toBe(400)
    const [recovery = ''] = recoveryCodes
    expect((await step(mounted, await started(who), 'totp', { code: recovery })).status).toBe(302)
    expect((await step(mounted, await started(who), 'totp', { code: recovery })).status).toBe(400)
  })

  it('is enrolled in on the way: begun, refused, completed, and not begun twice', async () => {
    const unstarted = await begin(mounted, proofKey())
    for (const path of ['totp/enroll', 'totp/enroll/verify']) {
      expect(await bare(await step(mounted, 'unknown', path, { code: '000000' }))).toEqual([401, 'UNAUTHORIZED'])
      expect(await bare(await step(mounted, unstarted, path, { code: '000000' }))).toEqual([401, 'UNAUTHORIZED'])
    }
    const id = await started(fresh)
    expect(await bare(await step(mounted, id, 'totp/enroll/verify', { code: '000000' }))).toEqual([404, 'NOT_FOUND'])
    const begun = await step(mounted, id, 'totp/enroll')
    expect(begun.status).toBe(201)
    const shown = (await begun.json()) as { provisioningUrl: string; recoveryCodes: string[]; isVerified: boolean }
    expect(shown).toMatchObject({ _links: null, isVerified: false, recoveryCodes: expect.any(Array) })
    expect(shown.recoveryCodes).toHaveLength(20)
    expect(shown.provisioningUrl).toMatch(
      /^otpauth:\/\/totp\/openziti\.io:without-app\?secret=[A-Z2-7]{16,}&issuer=openziti\.io$/,
    )
    expect(await bare(await step(mounted, id, 'totp/enroll'))).toEqual([409, 'MFA_EXISTS'])
    for (const wrong of ['000000', '']) {
      const refused = await step(mounted, id, 'totp/enroll/verify', { code: wrong })
      expect(await bare(refused)).toEqual([400, 'MFA_INVALID_TOKEN'])
    }
    // Before it is complete it ends without a code, and begins anew.
    const ended = await mounted.fetch(`/oidc/login/totp/enroll?id=${id}`, { method: 'DELETE', headers: FORM })
    expect([ended.status, (await ended.text()).trim()]).toEqual([200, '{}'])
    const again = (await (await step(mounted, id, 'totp/enroll')).json()) as { provisioningUrl: string }
    const secret = new URL(again.provisioningUrl).searchParams.get('secret') ?? ''
    const right = totp(secret, mounted.clock.now())
    expect((await step(mounted, id, 'totp/enroll/verify', { code: right })).status).toBe(302)
    const refused = await mounted.fetch(`/oidc/login/totp/enroll?id=${id}&code=000000`, {
      method: 'DELETE',
      headers: FORM,
    })
    expect(await bare(refused)).toEqual([400, 'MFA_INVALID_TOKEN'])
  })
})

describe('the callback', () => {
  it.each([
    ['', 'auth request callback is missing id'],
    ['?id=unknown', 'request not found'],
  ])('%s', async (query, problem) => {
    const response = await mounted.fetch(`/oidc/authorize/callback${query}`)
    expect([response.status, await response.text()]).toEqual([400, problem])
  })
})

describe('the token endpoint', () => {
  const client_id = 'openziti'
  it.each<readonly [string, Parameters, Readonly<Record<string, string>>, string, string | undefined]>([
    ['client_credentials', { grant_type: 'client_credentials', client_id }, {}, 'unsupported_grant_type', undefined],
    ['implicit', { grant_type: 'implicit', client_id }, {}, 'unsupported_grant_type', 'implicit not supported'],
    [
      'jwt-bearer',
      { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', client_id },
      {},
      'unsupported_grant_type',
      undefined,
    ],
    [
      'a device code',
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id },
      {},
      'unauthorized_client',
      'grant_type "urn:ietf:params:oauth:grant-type:device_code" not allowed',
    ],
    [
      'Basic of an unknown client, which comes before the form',
      { grant_type: 'refresh_token', client_id },
      { authorization: `Basic ${btoa('nope:')}` },
      'invalid_client',
      'client not found',
    ],
    [
      'Basic that cannot be read, which is not looked at',
      { grant_type: 'refresh_token', client_id },
      { authorization: 'Basic %%%' },
      'invalid_request',
      'refresh_token missing',
    ],
    [
      'no kind of token',
      { grant_type: EXCHANGE, client_id, subject_token: 'x' },
      {},
      'invalid_request',
      'subject_token_type missing',
    ],
    [
      'an unknown kind of token',
      { grant_type: EXCHANGE, client_id, subject_token: 'x', subject_token_type: `${TYPE}saml2` },
      {},
      'invalid_request',
      'subject_token_type is not supported',
    ],
    [
      'an id token for another one',
      { grant_type: EXCHANGE, client_id, subject_token: 'x', subject_token_type: `${TYPE}id_token` },
      {},
      'invalid_request',
      'exchanging id_token for any token type is not supported',
    ],
  ])('%s', async (_name, parameters, headers, error, description) => {
    const [status, code, text] = await oauthError(await postForm(mounted, '/oidc/oauth/token', parameters, headers))
    expect([status, code]).toEqual([400, error])
    if (description !== undefined) expect(text).toBe(description)
  })

  it('JSON is not read', async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ grant_type: 'refresh_token', client_id })
    const response = await mounted.fetch('/oidc/oauth/token', { method: 'POST', headers, body })
    expect(await oauthError(response)).toEqual([400, 'invalid_request', 'grant_type missing'])
  })

  it('scopes may be narrowed, and not widened; another client may exchange and not refresh', async () => {
    const { refresh_token } = await openIdTokens(mounted)
    const narrow = await tokensIn(await refresh(mounted, refresh_token, { scope: 'openid' }))
    expect(claimsOf(narrow.access_token).scopes).toEqual(['openid'])
    expect(await oauthError(await refresh(mounted, narrow.refresh_token, { scope: 'openid profile' }))).toEqual([
      400,
      'invalid_scope',
      undefined,
    ])
    const other = { client_id: 'native' }
    expect((await exchange(mounted, narrow.refresh_token, 'refresh_token', 'access_token', other)).status).toBe(200)
    expect((await oauthError(await refresh(mounted, narrow.refresh_token, other)))[2]).toBe(
      'client_id does not match original grant',
    )
  })
})

describe('user info, introspection, revocation, logout and devices', () => {
  it.each<readonly [string, () => Promise<Response>, number, string, string]>([
    ['no token', () => mounted.fetch('/oidc/userinfo'), 401, 'invalid_request', 'access token missing'],
    ['garbage', () => bearing(mounted, 'garbage', '/oidc/userinfo'), 401, 'access_denied', 'access token invalid'],
    [
      'a refresh token',
      () => bearing(mounted, tokens.refresh_token, '/oidc/userinfo'),
      401,
      'access_denied',
      'access token invalid',
    ],
    [
      'introspection without client',
      () => postForm(mounted, '/oidc/oauth/introspect', {}),
      400,
      'invalid_request',
      'client_id or client_assertion must be provided',
    ],
    [
      'introspection',
      () => postForm(mounted, '/oidc/oauth/introspect', { client_id: 'openziti', token: tokens.access_token }),
      400,
      'invalid_client',
      'client must be authenticated',
    ],
    [
      'revocation without client',
      () => postForm(mounted, '/oidc/revoke', { token: 'x' }),
      400,
      'invalid_request',
      'client_id or client_assertion must be provided',
    ],
    [
      'revocation by an unknown client',
      () => postForm(mounted, '/oidc/revoke', { token: 'x', client_id: 'nope' }),
      400,
      'invalid_client',
      'client not found',
    ],
    [
      'revocation of nothing',
      () => postForm(mounted, '/oidc/revoke', { client_id: 'openziti' }),
      400,
      'invalid_request',
      'token missing',
    ],
    [
      'logout by a bad hint',
      () => mounted.fetch('/oidc/end_session?id_token_hint=x'),
      400,
      'invalid_request',
      'id_token_hint invalid',
    ],
    [
      'logout of an unknown client',
      () => mounted.fetch('/oidc/end_session?client_id=nope'),
      400,
      'invalid_client',
      'client not found',
    ],
    [
      'a device',
      () => postForm(mounted, '/oidc/device_authorization', { client_id: 'openziti' }),
      400,
      'unauthorized_client',
      'the device flow is not allowed for this client',
    ],
  ])('%s', async (_name, ask, status, error, description) => {
    expect(await oauthError(await ask())).toEqual([status, error, description])
  })

  it.each<readonly [string, string, number, string | null]>([
    ['nothing', '', 302, '/oidc/logged-out'],
    ['a client alone', '?client_id=openziti', 302, '/oidc/logged-out'],
    ['a state', '?client_id=openziti&state=s', 302, '/oidc/logged-out?state=s'],
    [
      'a listed place',
      '?client_id=openziti&state=s&post_logout_redirect_uri=openziti%3A%2F%2Fauth%2Flogout',
      302,
      'openziti://auth/logout?state=s',
    ],
    [
      'an entry with its port open',
      '?client_id=openziti&post_logout_redirect_uri=http%3A%2F%2Flocalhost%3A*%2Fauth%2Flogout',
      400,
      null,
    ],
    ['a place of others', '?client_id=openziti&post_logout_redirect_uri=https%3A%2F%2Fevil.example', 400, null],
    ['a place without client or hint', '?post_logout_redirect_uri=https%3A%2F%2Fevil.example', 302, '/oidc/logged-out'],
  ])('a logout with %s', async (_name, query, status, location) => {
    const response = await mounted.fetch(`/oidc/end_session${query}`)
    expect([response.status, response.headers.get('location')]).toEqual([status, location])
  })

  it('a logout by an id token that has expired still ends its session', async () => {
    const own = await openIdTokens(mounted)
    mounted.clock.advance(31 * 60_000)
    const renewed = await tokensIn(await refresh(mounted, own.refresh_token))
    expect((await mounted.fetch(`/oidc/end_session?id_token_hint=${own.id_token}`)).status).toBe(302)
    expect((await bearing(mounted, renewed.access_token)).status).toBe(401)
  })
})
