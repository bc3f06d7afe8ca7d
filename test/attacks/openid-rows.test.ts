import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, MANAGEMENT } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { ROWS } from '../support/api-rows.ts'
import { type Choices, choices, hostileText } from '../support/generated-requests.ts'
import { useAuthPolicy } from '../support/identity-state.ts'
import { mount } from '../support/mount.ts'
import { authorizeQuery, begin, codeOf, openIdTokens, proofKey, step } from '../support/openid.ts'
import { login, person } from '../support/people.ts'

/** How many requests are sent; the long form of `npm run test:fuzz` sends more. */
const REQUESTS = Math.ceil(Number(process.env.PORTCULLIS_FUZZ_REQUESTS ?? 50_000) / 50)
const SEED = Number(process.env.PORTCULLIS_FUZZ_SEED ?? 1)

/** Every operation of the provider, and what it answers to a request without anything. */
const OPERATIONS: readonly (readonly [string, number])[] = [
  ['GET /.well-known/openid-configuration', 200],
  ['GET /keys', 200],
  ['GET /healthz', 200],
  ['GET /ready', 200],
  ['GET /logged-out', 200],
  ['GET /authorize', 400],
  ['POST /authorize', 400],
  ['GET /authorize/callback', 400],
  ['POST /authorize/callback', 400],
  ['GET /login/style.css', 200],
  ['GET /login/username', 200],
  ['GET /login/password', 200],
  ['GET /login/cert', 200],
  ['GET /login/ext-jwt', 200],
  ['GET /login/signer', 401],
  ['GET /login/signer/unknown', 400],
  ['GET /login/auth-queries', 401],
  ['POST /login/username', 401],
  ['POST /login/password', 401],
  ['POST /login/cert', 401],
  ['POST /login/ext-jwt', 401],
  ['POST /login/totp', 400],
  ['POST /login/totp/enroll', 401],
  ['POST /login/totp/enroll/verify', 401],
  ['DELETE /login/totp/enroll', 401],
  ['POST /oauth/token', 400],
  ['POST /oauth/introspect', 400],
  ['POST /device_authorization', 400],
  ['POST /revoke', 400],
  ['GET /userinfo', 401],
  ['POST /userinfo', 401],
  ['GET /end_session', 302],
  ['POST /end_session', 302],
]

const FORM = 'application/x-www-form-urlencoded'

it('what the provider answers does not depend on the session of another kind that comes with a request', async () => {
  const mounted = await mount()
  const { token } = (await login(mounted)).body.data
  for (const [route, expected] of OPERATIONS) {
    const [method = '', path] = route.split(' ')
    const statuses: number[] = []
    for (const session of [undefined, 'garbage', token]) {
      const headers = { ...(session && { 'zt-session': session }), ...(method !== 'GET' && { 'content-type': FORM }) }
      statuses.push((await mounted.fetch(`/oidc${path}`, { method, headers })).status)
    }
    expect([route, ...statuses]).toEqual([route, expected, expected, expected])
  }
})

it('a bearer session may read exactly what a session of zt-session may, whoever it is and whatever is still to be proved', async () => {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const people = {
    plain: await person(mounted, admin, 'plain-one'),
    reader: await person(mounted, admin, 'reader', { permissions: ['admin_readonly'] }),
    service: await person(mounted, admin, 'service', { permissions: ['service'] }),
    pending: await person(mounted, admin, 'pending', { isAdmin: true }),
  }
  const reads = ROWS.filter(({ route }) => route.startsWith('GET ') && !route.includes('{'))
  expect(reads.length).toBeGreaterThan(60)
  for (const [name, who] of Object.entries({ admin: TEST_ADMIN, ...people })) {
    const { token } = (await login(mounted, who)).body.data
    const { access_token } = await openIdTokens(mounted, who)
    if (name === 'pending') await useAuthPolicy(mounted.controller, people.pending.id, { requireTotp: true })
    const ask = async (headers: Readonly<Record<string, string>>) => {
      const statuses: Record<string, number> = {}
      for (const { base, route } of reads) {
        const { status } = await mounted.fetch(`${base}${route.slice('GET '.length)}`, { headers })
        statuses[`${base} ${route}`] = status
      }
      return statuses
    }
    const bySession = await ask({ 'zt-session': token })
    expect(await ask({ authorization: `Bearer ${access_token}` }), name).toEqual(bySession)
    const isShut = name === 'pending'
    expect(bySession[`${CLIENT} GET /services`]).toBe(isShut ? 401 : 200)
    expect(bySession[`${MANAGEMENT} GET /identities`]).toBe(['admin', 'reader'].includes(name) ? 200 : 401)
  }
})

describe('generated requests to the provider', () => {
  it(`fail nothing: ${REQUESTS} of them (seed ${SEED})`, async () => {
    const choose = choices(SEED)
    const mounted = await mount()
    const words = await wordsOf(mounted)
    const statuses = new Map<number, number>()
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      if (sent % 100 === 99) {
        mounted.clock.advance(61_000)
        words.splice(0, words.length, ...(await wordsOf(mounted)))
      }
      const { path, request } = requestOf(choose, words)
      const response = await mounted.fetch(path, request)
      const text = await response.text()
      const told = `${request.method} ${path} ${request.body ?? ''} -> ${response.status} ${text.slice(0, 300)}`
      expect(response.status, told).toBeLessThan(500)
      if (/json/.test(response.headers.get('content-type') ?? '') && text !== '')
        expect(() => JSON.parse(text), told).not.toThrow()
      if (/html/.test(response.headers.get('content-type') ?? '')) expect(text, told).not.toMatch(/<script|<iframe/)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    }
    // Requests that nothing accepts would prove little.
    const accepted = (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) + (statuses.get(302) ?? 0)
    expect(accepted / REQUESTS, JSON.stringify([...statuses])).toBeGreaterThan(0.15)
  }, 600_000)
})

/** The parts of generated requests: ids of logins in several states, codes, tokens, and names of things. */
async function wordsOf(mounted: MountedController): Promise<string[]> {
  const key = proofKey()
  const [fresh, done] = [await begin(mounted, key), await begin(mounted, key)]
  await step(mounted, done, 'password', TEST_ADMIN)
  const { access_token, refresh_token, id_token } = await openIdTokens(mounted)
  const admin = await adminOf(mounted)
  const signer = await create(admin, '/external-jwt-signers', {
    name: `signer ${fresh}`,
    enabled: true,
    issuer: `https://${fresh}.test`,
    audience: 'network',
    jwksEndpoint: 'https://keys.example.com',
    externalAuthUrl: 'http://127.0.0.1:1',
    clientId: 'c',
  })
  const types = ['access_token', 'refresh_token', 'id_token'].map((type) => `urn:ietf:params:oauth:token-type:${type}`)
  const grants = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:token-exchange']
  const names = ['openziti', 'native', 'code', 'openid offline_access', 'S256', key.verifier, key.challenge, '000000']
  const uris = ['http://localhost:8080/auth/callback', 'openziti://auth/logout']
  const ids = [fresh, done, await codeOf(mounted, done), signer]
  return [...ids, access_token, refresh_token, id_token, ...types, ...grants, ...names, ...uris, TEST_ADMIN.username]
}

const FIELDS = [
  'id',
  'authRequestID',
  'username',
  'password',
  'code',
  'csrPem',
  'configTypes',
  'client_id',
  'grant_type',
  'code_verifier',
  'redirect_uri',
  'refresh_token',
  'subject_token',
  'subject_token_type',
  'requested_token_type',
  'audience',
  'scope',
  'token',
  'id_token_hint',
  'post_logout_redirect_uri',
  'state',
  'signer',
  'method',
  'prompt',
  'sdkType',
  'envOs',
] as const

function requestOf(choose: Choices, words: readonly string[]) {
  const mischief = choose.of([0, 0.05, 0.3])
  const word = () => (choose.chance(mischief) ? hostileText(choose) : (words[choose.below(words.length)] ?? ''))
  const [route = ''] = OPERATIONS[choose.below(OPERATIONS.length)] ?? []
  const [method = '', path = ''] = route.split(' ')
  const fields = FIELDS.filter(() => choose.chance(0.25)).map((name): [string, string] => [name, word().toWellFormed()])
  const written = new URLSearchParams(fields).toString()
  const query = choose.chance(0.3) ? `?${written}` : ''
  const isAuthorize = path === '/authorize' && choose.chance(0.7)
  const whole = `/oidc${path}${isAuthorize ? `?${authorizeQuery(proofKey())}&${written}` : query}`
  const isJson = choose.chance(0.3)
  const body = isJson ? JSON.stringify(Object.fromEntries(fields)) : written
  const headers = {
    'content-type': choose.chance(mischief) ? 'text/plain' : isJson ? 'application/json' : FORM,
    ...(choose.chance(0.3) && { accept: choose.of(['text/html', '*/*', 'application/json', ',;=', 'text/plain']) }),
    ...(choose.chance(0.3) && { authorization: `Bearer ${printable(word())}` }),
    ...(choose.chance(0.1) && { authorization: `Basic ${printable(word())}` }),
    ...(choose.chance(0.1) && { cookie: `__Host-portcullis-login=${printable(word())}` }),
  }
  const hasBody = method !== 'GET' && choose.chance(0.9)
  return {
    path: whole,
    request: { method, headers, ...(hasBody && { body: choose.chance(mischief / 5) ? '{' : body }) },
  }
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
