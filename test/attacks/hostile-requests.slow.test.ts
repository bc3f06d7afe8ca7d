import { apiDocuments } from 'portcullis'
import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, MANAGEMENT, passwordLogin } from '../contract/http/foreign-client.ts'
import type { MountedController, RawRequest } from '../contract/http/mount.ts'
import { FABRIC, PORTCULLIS } from '../support/api-rows.ts'
import { asJson } from '../support/generated-requests.ts'
import { asText, plainOf, reshapedParts, SHAPES, told } from '../support/hostile-shapes.ts'
import { mount } from '../support/mount.ts'
import { authorizeQuery, begin, encoded, FORM, openIdTokens, proofKey } from '../support/openid.ts'
import { authPolicy } from '../support/people.ts'
import { IS_SHORT } from '../support/suite.ts'

/** One request in `EVERY` is sent; `npm run test:fuzz` sends all of them. */
const EVERY = process.env.PORTCULLIS_FUZZ_REQUESTS !== undefined ? 1 : IS_SHORT ? 31 : 5
const JSON_TYPE = { 'content-type': 'application/json' }
const TEXTS = SHAPES.filter((shape) => typeof shape !== 'symbol').map(asText)
/** Text that may be sent in a header: no controls, and nothing beyond Latin 1. */
const HEADER_TEXTS = [
  ...TEXTS.map((text) => text.replace(/[^\x20-\x7e]/g, '?')),
  '\xff\xfe',
  ';;==,,',
  ';'.repeat(500),
  'a=b; a=b; __Host-portcullis-login=[]',
  'Bearer',
  'Bearer ,Bearer a.b.c,Bearer',
  'Basic !!!!',
  'Basic /////w==',
  'Basic JTJmJQ==',
  'application/json; charset=utf-7; charset',
  'bytes=-1-,9e9',
  'https://[::1',
]
const HEADERS = [
  ...['accept', 'accept-language', 'accept-encoding', 'authorization', 'content-type', 'content-encoding', 'cookie'],
  ...['forwarded', 'if-match', 'if-modified-since', 'if-none-match', 'last-event-id', 'origin', 'prefer', 'range'],
  ...['referer', 'session-token', 'x-forwarded-for', 'x-http-method-override', 'x-request-id', 'ziti-token-issuer-id'],
  ...['zt-session', 'access-control-request-method', 'access-control-request-headers', 'traceparent'],
]

type Sent = readonly [path: string, request: RawRequest]

/** The outcome of requests: those that failed, and how many were answered by each status. */
class Outcome {
  readonly failed: string[] = []
  readonly statuses = new Map<number, number>()
  #count = 0

  /** Sends the requests whose turn it is. */
  async send(mounted: MountedController, all: Iterable<Sent>, every = EVERY): Promise<void> {
    for (const [path, request] of all) {
      this.#count += 1
      if (this.#count % every !== 0) continue
      const { status, body } = await mounted.fetch(path, request)
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
      // Streams have no end.
      await body?.cancel()
      // Copies of a storage that makes none.
      const isDeclared = status === 501 && path.includes('/database/')
      if (status >= 500 && !isDeclared) this.failed.push(`${status} ${path} ${JSON.stringify(request).slice(0, 400)}`)
    }
  }

  /** Nothing failed; and most requests were looked at, not turned away at the door. */
  expectWhole(mostTurnedAway: number): void {
    expect(this.failed.slice(0, 30)).toEqual([])
    const turnedAway = [401, 404, 405, 429].reduce((sum, status) => sum + (this.statuses.get(status) ?? 0), 0)
    const sent = [...this.statuses.values()].reduce((sum, count) => sum + count, 0)
    expect(turnedAway / sent, JSON.stringify([...this.statuses])).toBeLessThan(mostTurnedAway)
    if (process.env.PORTCULLIS_FUZZ_REQUESTS !== undefined)
      process.stdout.write(`${JSON.stringify([...this.statuses])}\n`)
  }
}

/** Every operation of the documents, its path filled with ids of what is there. */
async function operations(ids: ReadonlyMap<string, string>) {
  const { client, management, fabric, portcullis } = await apiDocuments('v0')
  const apis = [
    [CLIENT, client],
    [MANAGEMENT, management],
    [FABRIC, fabric],
    [PORTCULLIS, portcullis],
  ] as const
  return apis
    .flatMap(([base, { paths }]) =>
      Object.entries(asJson(paths)).flatMap(([path, methods]) =>
        Object.entries(asJson(methods)).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path: `${base}${path.replace(/^\/([\w-]+)\/\{\w+\}/, (_, kind) => `/${kind}/${ids.get(kind) ?? 'unknown'}`).replace(/\{\w+\}/g, 'unknown')}`,
          operation: asJson(operation),
        })),
      ),
    )
    .filter(({ method, path }) => method !== 'DELETE' || !path.endsWith('/current-api-session'))
}

/** A controller with something of most kinds, and who may do everything there. */
async function scene() {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const all = { semantic: 'AnyOf', identityRoles: ['#all'] }
  const ids = new Map<string, string>()
  for (const [kind, body] of [
    ['services', { name: 'web', encryptionRequired: true }],
    ['edge-routers', { name: 'router' }],
    ['identities', { name: 'device', type: 'Device', isAdmin: false, enrollment: { ott: true } }],
    ['service-policies', { name: 'dial', type: 'Dial', serviceRoles: ['#all'], ...all }],
    ['edge-router-policies', { name: 'meet', edgeRouterRoles: ['#all'], ...all }],
    ['posture-checks', { name: 'check', typeId: 'MFA' }],
    ['config-types', { name: 'type', schema: {} }],
    ['auth-policies', authPolicy('policy')],
    ['transit-routers', { name: 'transit' }],
  ] as const) {
    ids.set(kind, await create(admin, `/${kind}`, body))
  }
  const session = async () => ({ 'zt-session': await passwordLogin(mounted, TEST_ADMIN) })
  return { mounted, operations: await operations(ids), session }
}

describe('every type of JSON in the place of every other', () => {
  it('in the bodies of the edge, fabric and own APIs breaks nothing', async () => {
    const { mounted, operations, session } = await scene()
    const outcome = new Outcome()
    for (const { method, path, operation } of operations) {
      const { schema } = asJson(asJson(asJson(operation.requestBody).content)['application/json'])
      if (schema === undefined || method === 'GET') continue
      const headers = { ...JSON_TYPE, ...(await session()) }
      const bodies = reshapedParts(plainOf(asJson(schema)))
      const sent = bodies.map(([, body]): Sent => [path, { method, headers, body: JSON.stringify(body) }])
      await outcome.send(mounted, sent)
    }
    outcome.expectWhole(0.5)
  }, 600_000)

  it('in their queries, once, twice, and by names that stand for lists, breaks nothing', async () => {
    const { mounted, operations, session } = await scene()
    const outcome = new Outcome()
    for (const { method, path, operation } of operations) {
      const headers = await session()
      const parameters = Array.isArray(operation.parameters) ? operation.parameters.map(asJson) : []
      const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => String(name))
      const queries = names.flatMap((name) =>
        TEXTS.flatMap((text): readonly (readonly [string, string])[][] => [
          [[name, text]],
          [
            [name, text],
            [name, '1'],
          ],
          [[`${name}[]`, text]],
          [[`${name}[__proto__]`, text]],
        ]),
      )
      const sent = queries.map(
        (query): Sent => [
          `${path}?${new URLSearchParams(query.map(([name, text]): [string, string] => [name, text]))}`,
          { method, headers },
        ],
      )
      await outcome.send(mounted, sent)
    }
    outcome.expectWhole(0.5)
  }, 600_000)

  it('in every header and cookie, at every API, probe and page, breaks nothing', async () => {
    const { mounted, session } = await scene()
    const own = await session()
    const id = await begin(mounted, proofKey())
    const body = JSON.stringify({ name: 'a', encryptionRequired: true })
    const requests: readonly Sent[] = [
      ...[`${CLIENT}/current-identity`, `${MANAGEMENT}/services?limit=1`, `${PORTCULLIS}/graph`, '/version'].map(
        (path): Sent => [path, { headers: own }],
      ),
      [`${MANAGEMENT}/services`, { method: 'POST', headers: { ...JSON_TYPE, ...own }, body }],
      [`${MANAGEMENT}/services`, { method: 'OPTIONS' }],
      [`${CLIENT}/enroll/token`, { method: 'POST', headers: JSON_TYPE, body: '{}' }],
      [`${CLIENT}/enroll?method=ott&token=a`, { method: 'POST', headers: JSON_TYPE, body: '{}' }],
      [`${CLIENT}/authenticate?method=cert`, { method: 'POST', headers: JSON_TYPE, body: '{}' }],
      [`${FABRIC}/routers`, { headers: own }],
      ['/health-checks', {}],
      ['/healthz', {}],
      ['/metrics', {}],
      ['/', {}],
      ['/portcullis/docs', {}],
      ['/portcullis/explorer/', {}],
      ['/oidc/.well-known/openid-configuration', {}],
      ['/oidc/keys', {}],
      [`/oidc/authorize?${authorizeQuery(proofKey())}`, {}],
      [`/oidc/login/username?authRequestID=${id}`, {}],
      ['/oidc/login/signer?state=a&code=b', {}],
      [`/oidc/login/password?id=${id}`, { method: 'POST', headers: FORM, body: 'username=a&password=b' }],
      ['/oidc/oauth/token', { method: 'POST', headers: FORM, body: 'grant_type=refresh_token&refresh_token=a' }],
      ['/oidc/userinfo', {}],
    ]
    const sent = requests.flatMap(([path, request]) =>
      HEADERS.flatMap((name) =>
        HEADER_TEXTS.map((text): Sent => [path, { ...request, headers: { ...request.headers, [name]: text } }]),
      ),
    )
    const outcome = new Outcome()
    await outcome.send(mounted, sent)
    outcome.expectWhole(0.5)
  }, 600_000)
})

/** The requests of the provider, as forms and queries: each goes well, to be changed in one place. */
async function providerForms(mounted: MountedController) {
  const { access_token, refresh_token, id_token } = await openIdTokens(mounted)
  const id = await begin(mounted, proofKey())
  const client_id = 'openziti'
  const type = 'urn:ietf:params:oauth:token-type:access_token'
  const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
  const login = {
    ...{ id, username: 'somebody', password: 'wrong', code: '123456', csrPem: 'a', configTypes: 'all' },
    ...{ sdkType: 'a', sdkAppId: 'a', envOs: 'a', envArch: 'a', authRequestID: id },
  }
  const steps = ['password', 'username', 'cert', 'ext-jwt', 'totp', 'totp/enroll', 'totp/enroll/verify', 'auth-queries']
  return [
    [
      'authorize',
      {
        ...Object.fromEntries(new URLSearchParams(authorizeQuery(proofKey()))),
        method: 'cert',
        prompt: 'a',
        max_age: '1',
        id_token_hint: 'a',
        request: 'a',
        configTypes: 'a',
        nonce: 'a',
        response_mode: 'query',
        claims: '{}',
        ui_locales: 'en',
        audience: 'a',
      },
    ],
    ['authorize/callback', { id }],
    [
      'oauth/token',
      { grant_type: 'authorization_code', client_id, code: `${id}.a`, code_verifier: 'a', redirect_uri: 'a' },
    ],
    ['oauth/token', { grant_type: 'refresh_token', client_id, refresh_token: 'a', scope: 'openid', csr_pem: 'a' }],
    ['oauth/token', { grant_type: 'refresh_token', client_id, refresh_token, scope: 'profile', csr_pem: 'a' }],
    [
      'oauth/token',
      {
        grant_type: grant,
        client_id,
        subject_token: access_token,
        subject_token_type: type,
        requested_token_type: type,
        audience: client_id,
        scope: 'openid',
        csr_pem: 'a',
        actor_token: 'a',
        actor_token_type: type,
      },
    ],
    ['revoke', { client_id, token: 'a', token_type_hint: 'access_token' }],
    ['oauth/introspect', { client_id, token: access_token }],
    ['device_authorization', { client_id, scope: 'openid' }],
    [
      'end_session',
      {
        client_id,
        id_token_hint: `${id_token}x`,
        post_logout_redirect_uri: 'openziti://auth/logout',
        state: 'a',
        logout_hint: 'a',
      },
    ],
    ['userinfo', { access_token }],
    ['login/signer', { id, state: 'a', code: 'b', error: 'a', iss: 'a' }],
    ['login/signer/unknown', { id, authRequestID: id }],
    ['logged-out', { state: 'a' }],
    ...steps.map((step) => [`login/${step}`, login] as const),
  ] as const
}

/** Paths that are asked for by GET, and by nothing else. */
const IS_SHOWN =
  /^(authorize|end_session|userinfo|logged-out|login\/(username|password|cert|ext-jwt|auth-queries|signer))/
const IS_ONLY_SHOWN = /^(logged-out|login\/(auth-queries|signer))/

describe('the OpenID provider', () => {
  it('is broken by no shape of any parameter, in a query, a form or JSON, once or twice', async () => {
    const { mounted } = await scene()
    const sent: Sent[] = []
    for (const [path, form] of await providerForms(mounted)) {
      for (const [name, right] of Object.entries(form)) {
        const { [name]: _left, ...others } = Object.fromEntries(Object.entries(form))
        for (const text of TEXTS) {
          const once = encoded({ ...others, [name]: text })
          const twice = `${encoded({ ...others, [name]: right })}&${encoded({ [name]: text })}`
          for (const query of [once, twice, `${encoded(others)}&${name}[]=${encodeURIComponent(text)}`]) {
            if (IS_SHOWN.test(path)) sent.push([`/oidc/${path}?${query}`, {}])
            if (!IS_ONLY_SHOWN.test(path)) sent.push([`/oidc/${path}`, { method: 'POST', headers: FORM, body: query }])
          }
        }
        if (IS_SHOWN.test(path)) sent.push([`/oidc/${path}?${encoded(others)}`, {}])
      }
      if (IS_ONLY_SHOWN.test(path)) continue
      const whole = { ...form, configTypes: ['all'], sdkInfo: { type: 'a', version: 'b' }, envInfo: { os: 'a' } }
      for (const [, body] of reshapedParts(whole)) {
        sent.push([`/oidc/${path}`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }])
        if (path !== 'login/totp/enroll') continue
        sent.push([`/oidc/${path}`, { method: 'DELETE', headers: JSON_TYPE, body: JSON.stringify(body) }])
      }
    }
    const outcome = new Outcome()
    await outcome.send(mounted, sent)
    outcome.expectWhole(0.5)
  }, 600_000)

  it('nor by a body that is no form, no JSON, or not the one that its type says', async () => {
    const { mounted } = await scene()
    const bodies = [
      '{',
      '[',
      'null',
      '"',
      '%',
      '%ff%fe=%',
      '=&=&==',
      'a'.repeat(5000),
      '\ufeff{}',
      `${'['.repeat(5000)}`,
    ]
    const types = [FORM['content-type'], 'application/json', 'text/plain', 'multipart/form-data; boundary=a', '']
    const all = (await providerForms(mounted)).map(([path]) => path)
    const paths = all.filter((path) => !IS_ONLY_SHOWN.test(path))
    const sent = [...new Set(paths)].flatMap((path) =>
      types.flatMap((type) =>
        bodies.map((body): Sent => [`/oidc/${path}`, { method: 'POST', headers: { 'content-type': type }, body }]),
      ),
    )
    const outcome = new Outcome()
    await outcome.send(mounted, sent, 1)
    outcome.expectWhole(0.5)
  }, 120_000)

  it('tells of shapes as one word each, so that a failure says what was sent', () => {
    expect(new Set(SHAPES.map(told)).size).toBe(SHAPES.length)
  })
})
