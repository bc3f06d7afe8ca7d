import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import { enroll } from '../contract/http/scenario.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import {
  authorizeQuery,
  bearing,
  begin,
  CALLBACK,
  callback,
  codeOf,
  exchangeCode,
  FORM,
  oauthError,
  openIdTokens,
  type Parameters,
  postForm,
  proofKey,
  step,
} from '../support/openid.ts'
import { authPolicy, person } from '../support/people.ts'

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
/** The id of the auth request with which a browser goes on after a step that completed the login. */
const idIn = (response: Response) => new URL(response.headers.get('location') ?? '').searchParams.get('id') ?? ''

describe('redirect URIs: a client is sent nowhere but where it is listed', () => {
  it.each([
    ['another case of the host', 'http://LOCALHOST:8080/auth/callback'],
    ['an encoded slash', 'http://localhost:8080/auth%2Fcallback'],
    ['a way out of the path', 'http://localhost:8080/auth/callback/../../evil'],
    ['a host behind the port', 'http://localhost:8080.evil.example/auth/callback'],
    ['credentials as host', 'http://localhost:80:80@evil.example/auth/callback'],
    ['a backslash', 'http://localhost:8080\\@evil.example/auth/callback'],
    ['a port of letters', 'http://localhost:*/auth/callback'],
    ['a tab', 'http://localhost:8080/auth/callback\t'],
    ['a fragment', 'http://localhost:8080/auth/callback#x'],
    ['another scheme of the app', 'openziti://auth/callback/../evil'],
    ['a page that runs', 'data:text/html,<script>alert(1)</script>'],
    ['a header', 'openziti://auth/callback\r\nset-cookie: a=b'],
  ])('%s', async (_name, redirect_uri) => {
    const mounted = await mount()
    const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), { redirect_uri })}`)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  it('nor by a second redirect_uri, an error that is redirected, or a URI that was taken off the list meanwhile', async () => {
    const mounted = await mount()
    const key = proofKey()
    const evil = `redirect_uri=${encodeURIComponent('https://evil.example/auth/callback')}`
    for (const query of [`${authorizeQuery(key)}&${evil}`, `${authorizeQuery(key, { prompt: 'none' })}&${evil}`]) {
      expect((await mounted.fetch(`/oidc/authorize?${query}`)).headers.get('location')).toBeNull()
    }
    const id = await begin(mounted, key)
    await step(mounted, id, 'password', TEST_ADMIN)
    const admin = await adminOf(mounted)
    const path = '/controller-settings/controller/effective'
    await admin.patch(path, { oidc: { redirectUris: ['https://console.example/auth/callback'] } })
    const response = await mounted.fetch(`/oidc/authorize/callback?id=${id}`)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })
})

describe('proof keys cannot be got around', () => {
  it.each<readonly [string, Parameters]>([
    ['none', { code_challenge: undefined, code_challenge_method: undefined }],
    ['another method', { code_challenge_method: 'PLAIN' }],
    ['the method twice, in another case', { code_challenge_method: 's256' }],
    ['an empty challenge', { code_challenge: '' }],
    ['a challenge with padding', { code_challenge: `${'A'.repeat(43)}=` }],
  ])('at authorize: %s', async (_name, change) => {
    const mounted = await mount()
    const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), change)}`)
    expect((await oauthError(response)).slice(0, 2)).toEqual([400, 'invalid_request'])
  })

  it('at the token endpoint: the challenge as verifier, another verifier, none; and a guess ends the code', async () => {
    const mounted = await mount()
    const key = proofKey()
    for (const code_verifier of [key.challenge, proofKey().verifier, ' ']) {
      const id = await begin(mounted, key)
      await step(mounted, id, 'password', TEST_ADMIN)
      const code = await codeOf(mounted, id)
      expect((await exchangeCode(mounted, code, key, { code_verifier })).status).toBe(400)
      expect((await exchangeCode(mounted, code, key)).status).toBe(400)
    }
  })
})

describe('codes cannot be injected', () => {
  it('that of somebody else, under the proof key of the own login; with another client; with another redirect URI', async () => {
    const mounted = await mount()
    const [own, others] = [proofKey(), proofKey()]
    const codeFor = async (key: typeof own) => {
      const id = await begin(mounted, key)
      await step(mounted, id, 'password', TEST_ADMIN)
      return codeOf(mounted, id)
    }
    const stolen = await codeFor(others)
    expect(await oauthError(await exchangeCode(mounted, stolen, own))).toEqual([
      400,
      'invalid_grant',
      'invalid code_verifier',
    ])
    for (const change of [{ client_id: 'nobody' }, { client_id: 'native' }, { redirect_uri: `${CALLBACK}/` }]) {
      const code = await codeFor(own)
      expect((await exchangeCode(mounted, code, own, change)).status).toBe(400)
      // An unknown client is refused before its code is looked at; every other attempt uses the code up.
      expect((await exchangeCode(mounted, code, own)).status).toBe(change.client_id === 'nobody' ? 200 : 400)
    }
    // The id of a request alone, or with a made-up secret, is no code.
    const id = await begin(mounted, own)
    await step(mounted, id, 'password', TEST_ADMIN)
    const code = await codeOf(mounted, id)
    for (const guess of [id, `${id}.`, `${id}.${crypto.randomUUID()}`, `.${code}`, `${code}x`]) {
      expect((await exchangeCode(mounted, guess, own)).status).toBe(400)
    }
    expect((await exchangeCode(mounted, code, own)).status).toBe(200)
  })

  it('a code of a request on which somebody else logged in since is void', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const { username, password } = await person(mounted, admin, 'ann')
    const key = proofKey()
    const id = await begin(mounted, key)
    await step(mounted, id, 'password', TEST_ADMIN)
    const code = await codeOf(mounted, id)
    await step(mounted, id, 'password', { username, password })
    expect((await exchangeCode(mounted, code, key)).status).toBe(400)
  })
})

describe('a factor never counts for another identity', () => {
  async function two() {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const policy = authPolicy('totp', {}, { requireTotp: true })
    const authPolicyId = await create(admin, '/auth-policies', policy)
    const [first, second] = [
      await person(mounted, admin, 'first', { authPolicyId }),
      await person(mounted, admin, 'second', { authPolicyId }),
    ]
    const apps = { first: await completeMfa(mounted, first), second: await completeMfa(mounted, second) }
    const id = await begin(mounted, proofKey())
    const logIn = ({ username, password }: typeof first) => step(mounted, id, 'password', { username, password })
    const isPending = async () => (await callback(mounted, id)).get('error') === 'interaction_required'
    return { mounted, apps, first, second, id, logIn, isPending }
  }

  it('by logging in as A, proving, logging in as B, and as A again', async () => {
    const { mounted, apps, first, second, id, logIn, isPending } = await two()
    await logIn(first)
    await step(mounted, id, 'totp', { code: apps.first.code() })
    await logIn(second)
    expect(await isPending()).toBe(true)
    await logIn(first)
    expect(await isPending()).toBe(true)
  })

  it('by the code of A for B', async () => {
    const { mounted, apps, second, id, logIn, isPending } = await two()
    await logIn(second)
    expect((await step(mounted, id, 'totp', { code: apps.first.code() })).status).toBe(400)
    expect(await isPending()).toBe(true)
  })

  it('by a code that arrives while another identity logs in', async () => {
    const { mounted, apps, first, second, id, logIn, isPending } = await two()
    await logIn(first)
    await Promise.all([step(mounted, id, 'totp', { code: apps.first.code() }), logIn(second), logIn(second)])
    expect(await isPending()).toBe(true)
  })

  it('by enrolling for B on the request of A', async () => {
    const { mounted, first, id, logIn } = await two()
    await logIn(first)
    expect((await step(mounted, id, 'totp/enroll')).status).toBe(409)
    expect((await mounted.fetch(`/oidc/login/totp/enroll?id=${id}`, { method: 'DELETE', headers: FORM })).status).toBe(
      400,
    )
  })
})

describe('pages of others cannot log anybody in', () => {
  it.each(['https://evil.example', 'null', 'https://controller.test', 'http://controller.test:1280'])(
    'by a form or script of the origin %s, whatever the step',
    async (origin) => {
      const mounted = await mount()
      const { certificate } = await enroll(mounted, await adminOf(mounted), { name: 'device' })
      const id = await begin(mounted, proofKey())
      for (const path of ['cert', 'password', 'username', 'ext-jwt', 'totp', 'totp/enroll', 'totp/enroll/verify']) {
        const response = await step(mounted, id, path, TEST_ADMIN, { origin }, certificate)
        expect([path, response.status]).toEqual([path, 403])
      }
      const headers = { ...FORM, origin }
      expect((await mounted.fetch(`/oidc/login/totp/enroll?id=${id}`, { method: 'DELETE', headers })).status).toBe(403)
      expect((await callback(mounted, id)).get('error')).toBe('interaction_required')
    },
  )

  it('while the own pages, programs and listed origins can', async () => {
    const mounted = await mount({ cors: { origins: ['https://console.example'] } })
    for (const headers of [{ origin: mounted.url }, {}, { origin: 'https://console.example' }]) {
      const id = await begin(mounted, proofKey())
      expect((await step(mounted, id, 'password', TEST_ADMIN, headers)).status).toBe(302)
    }
  })
})

describe('a login that somebody else began cannot be taken over', () => {
  it('by waiting for whoever logs in on the page: the login goes on under another id', async () => {
    const mounted = await mount()
    const key = proofKey()
    const id = await begin(mounted, key)
    const victim = await step(mounted, id, 'username', TEST_ADMIN, PAGE)
    expect(victim.status).toBe(302)
    expect(idIn(victim)).not.toBe(id)
    expect((await mounted.fetch(`/oidc/authorize/callback?id=${id}`)).status).toBe(400)
    expect((await mounted.fetch(`/oidc/login/auth-queries?id=${id}`)).status).toBe(401)
    // A session that began before goes on.
    expect((await exchangeCode(mounted, await codeOf(mounted, idIn(victim)), key)).status).toBe(200)
  })

  it('by enrolling in the second factor of whoever logged in, or guessing its code', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
    const { username, password } = await person(mounted, admin, 'ann', { authPolicyId })
    const id = await begin(mounted, proofKey())
    expect((await step(mounted, id, 'username', { username, password }, PAGE)).status).toBe(200)
    for (const path of ['totp/enroll', 'totp/enroll/verify']) {
      expect((await step(mounted, id, path, { code: '123456' })).status).toBe(401)
    }
    expect((await step(mounted, id, 'totp', { code: '123456' })).status).toBe(400)
  })

  it('by choosing the id of a request, or bringing a cookie', async () => {
    const mounted = await mount()
    const chosen = '00000000-0000-4000-8000-000000000001'
    const query = `${authorizeQuery(proofKey())}&id=${chosen}&authRequestID=${chosen}`
    const cookie = `__Host-portcullis-login=${chosen}`
    const response = await mounted.fetch(`/oidc/authorize?${query}`, { headers: { cookie } })
    expect(response.headers.get('location')).not.toContain(chosen)
    expect((await step(mounted, chosen, 'password', TEST_ADMIN, { cookie })).status).toBe(401)
  })
})

describe('pages cannot be framed, extended, or kept', () => {
  it.each<readonly [string, Parameters, number]>([
    ['the login page', {}, 200],
    ['an error', { ...TEST_ADMIN, password: 'wrong' }, 401],
    ['what is missing', { username: 'admin' }, 400],
  ])('%s', async (_name, parameters, status) => {
    const mounted = await mount()
    const id = await begin(mounted, proofKey(), { state: '"><script>alert(1)</script>' })
    const path = `/oidc/login/username?authRequestID=${id}`
    const response = status === 200 ? await mounted.fetch(path) : await step(mounted, id, 'username', parameters, PAGE)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src data:; form-action 'self' http://localhost:8080; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await response.text()).not.toMatch(/<script|<iframe|javascript:|onerror|style=/)
  })

  it('nor written into', async () => {
    const mounted = await mount()
    const evil = '"><script>alert(1)</script>'
    const id = await begin(mounted, proofKey())
    const pages = [
      await mounted.fetch(`/oidc/login/username?authRequestID=${encodeURIComponent(evil)}`),
      await step(mounted, evil, 'username', TEST_ADMIN, PAGE),
      await step(mounted, id, 'username', { username: evil, password: 'wrong' }, PAGE),
      await step(mounted, evil, 'totp', { code: evil }, PAGE),
    ]
    for (const page of pages) expect(await page.text()).not.toContain('<script')
  })
})

describe('the host of a request says nothing but which issuer', () => {
  it.each(['evil.example', 'controller.test', 'controller.test:1281', 'controller.test.evil.example:1280'])(
    'there is no provider at %s',
    async (host) => {
      const { controller } = await mount()
      for (const path of ['.well-known/openid-configuration', `authorize?${authorizeQuery(proofKey())}`, 'keys']) {
        expect((await controller.fetch(new Request(`https://${host}/oidc/${path}`))).status).toBe(404)
      }
    },
  )

  it('whatever proxies are said to have been asked for', async () => {
    const mounted = await mount()
    const headers = {
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example;proto=http',
      'x-original-host': 'evil.example',
    }
    const discovery = await mounted.fetch('/oidc/.well-known/openid-configuration', { headers })
    expect(await discovery.text()).not.toContain('evil')
    const id = await begin(mounted, proofKey())
    expect((await step(mounted, id, 'password', TEST_ADMIN, headers)).headers.get('location')).not.toContain('evil')
  })
})

describe('what is presented as an access token is one, and of nobody else', () => {
  it('a service token, a TOTP token, an enrollment token and tokens of other issuers are none', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const { access_token, id_token, refresh_token } = await openIdTokens(mounted)
    const created = await create(admin, '/identities', {
      name: 'device',
      type: 'Device',
      isAdmin: false,
      enrollment: { ott: true },
    })
    const { data } = (await admin.get(`/identities/${created}`)).body
    const service = await create(admin, '/services', { name: 'web', encryptionRequired: true })
    const all = { semantic: 'AnyOf' }
    const policy = { ...all, name: 'p', type: 'Dial', serviceRoles: ['#all'], identityRoles: ['#all'] }
    await create(admin, '/service-policies', policy)
    await create(admin, '/edge-routers', { name: 'router' })
    const meet = { ...all, name: 'm', edgeRouterRoles: ['#all'] }
    await create(admin, '/edge-router-policies', { ...meet, identityRoles: ['#all'] })
    await create(admin, '/service-edge-router-policies', { ...meet, serviceRoles: ['#all'] })
    const body = JSON.stringify({ serviceId: service, type: 'Dial' })
    const headers = { 'content-type': 'application/json' }
    const session = await bearing(mounted, access_token, '/edge/client/v1/sessions', { method: 'POST', headers, body })
    const { data: dialed } = (await session.json()) as { readonly data: { readonly token: string } }
    expect(dialed.token).toMatch(/^ey/)
    for (const token of [id_token, refresh_token, data.enrollment.ott.jwt, dialed.token]) {
      expect((await bearing(mounted, token)).status).toBe(401)
      const info = await bearing(mounted, token, '/oidc/userinfo')
      expect(info.status).toBe(401)
      const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
      const type = 'urn:ietf:params:oauth:token-type:access_token'
      const exchange = { grant_type: grant, client_id: 'openziti', subject_token: token, subject_token_type: type }
      const given = await postForm(mounted, '/oidc/oauth/token', { ...exchange, requested_token_type: type })
      // A refresh token may be called an access token where it is exchanged, as deployed controllers take it.
      expect(given.status).toBe(token === refresh_token ? 200 : 400)
    }
  })
})
