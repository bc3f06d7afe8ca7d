import { createPrivateKey } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createPkiMaterial } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, MANAGEMENT } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { PORTCULLIS } from '../support/api-rows.ts'
import { compactJwt, reshaped, SHAPES, told } from '../support/hostile-shapes.ts'
import { mount } from '../support/mount.ts'
import {
  authorizeQuery,
  bearing,
  begin,
  exchange,
  openIdTokens,
  postForm,
  proofKey,
  refresh,
} from '../support/openid.ts'
import { authPolicy, login, person } from '../support/people.ts'
import { IS_SHORT } from '../support/suite.ts'

/** One token in `EVERY` is tried at a door, another one at each; `npm run test:fuzz` tries all of them. */
const EVERY = process.env.PORTCULLIS_FUZZ_REQUESTS !== undefined ? 1 : IS_SHORT ? 29 : 3
const HEADER = ['alg', 'kid', 'typ', 'cty', 'crit', 'b64', 'jwk', 'jku', 'x5c', 'x5u', 'x5t', 'zip', 'enc', 'iss']
const CLAIMS = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'cnf', 'act', 'z_t', 'z_asid', 'z_cfs', 'z_acf']
const WHO = '/current-identity'

type Door = (token: string) => Promise<Response>

/** Where a token lets somebody in: who is told nothing but 401 by every one of them. */
function apis(mounted: MountedController): Readonly<Record<string, Door>> {
  const at = (path: string) => (token: string) => bearing(mounted, token, path)
  return {
    management: at(`${MANAGEMENT}${WHO}`),
    client: at(`${CLIENT}${WHO}`),
    fabric: at('/fabric/v1/circuits'),
    portcullis: at(`${PORTCULLIS}/service-configs?service=none`),
    'user info': at('/oidc/userinfo'),
  }
}

/** Every other place where a token is read. `session` is one of zt-session that waits for an external token. */
async function otherDoors({ mounted, session, service, kinds }: Awaited<ReturnType<typeof scene>>) {
  const [[, access]] = kinds
  const login = await begin(mounted, proofKey(), { method: 'ext-jwt' })
  const post = (path: string, authorization: string, body: string) => {
    const headers = { authorization, 'content-type': 'application/json' }
    return mounted.fetch(path, { method: 'POST', headers, body })
  }
  const query = (name: string, token: string) => `${name}=${encodeURIComponent(token)}`
  const doors: Readonly<Record<string, Door>> = {
    refreshing: (token) => refresh(mounted, token),
    'exchanging an access token': (token) => exchange(mounted, token, 'access_token', 'access_token'),
    'exchanging a refresh token': (token) => exchange(mounted, token, 'refresh_token', 'id_token'),
    revoking: (token) => postForm(mounted, '/oidc/revoke', { client_id: 'openziti', token }),
    'logging out': (token) => mounted.fetch(`/oidc/end_session?${query('id_token_hint', token)}`),
    'a hint': (token) => mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), { id_token_hint: token })}`),
    'logging in': (token) => post(`${CLIENT}/authenticate?method=ext-jwt`, `Bearer ${token}`, '{}'),
    'logging in to the management': (token) =>
      post(`${MANAGEMENT}/authenticate?method=ext-jwt`, `Bearer ${token}`, '{}'),
    'logging in for tokens': (token) => post(`/oidc/login/ext-jwt?id=${login}`, `Bearer ${token}`, '{}'),
    enrolling: (token) => post(`${CLIENT}/enroll/token`, `Bearer ${token}`, '{}'),
    'a second factor': (token) => bearing(mounted, token, `${CLIENT}/services`, { headers: { 'zt-session': session } }),
    'a session token': (token) =>
      bearing(mounted, access, `${CLIENT}/services/${service}/edge-routers`, { headers: { 'session-token': token } }),
    'zt-session': (token) => mounted.fetch(`${CLIENT}${WHO}`, { headers: { 'zt-session': token } }),
    'a host of probes': (token) => mounted.fetch('/health-checks', { headers: { authorization: `Bearer ${token}` } }),
  }
  return doors
}

/** A controller whose keys are at hand, its own and that of an external signer, and a good token of each kind. */
async function scene() {
  const hosts = ['controller.test']
  const pki = await createPkiMaterial({ hosts, trustDomain: 'shapes.test', now: Date.UTC(2026, 0) })
  const mounted = await mount({ pki })
  const admin = await adminOf(mounted)
  const key = createPrivateKey(pki.serverKeyPem)
  const external = newKey()
  const body = { name: 'idp', issuer: 'https://idp.example', audience: 'network', enabled: true, kid: 'key' }
  const certPem = selfSigned(external, '/CN=idp')
  const signer = await create(admin, '/external-jwt-signers', { ...body, certPem })
  const authPolicyId = await create(admin, '/auth-policies', authPolicy('both', {}, { requireExtJwtSigner: signer }))
  const who = await person(mounted, admin, 'alice', { authPolicyId })
  const answer = await login(mounted, who)
  const session: string = answer.body.data.token
  const service = await create(admin, '/services', { name: 'web', encryptionRequired: true })
  const all = { semantic: 'AnyOf' }
  const policy = { ...all, name: 'p', type: 'Dial', serviceRoles: ['#all'], identityRoles: ['#all'] }
  await create(admin, '/service-policies', policy)
  await create(admin, '/edge-routers', { name: 'router' })
  const meet = { ...all, name: 'm', edgeRouterRoles: ['#all'] }
  await create(admin, '/edge-router-policies', { ...meet, identityRoles: ['#all'] })
  await create(admin, '/service-edge-router-policies', { ...meet, serviceRoles: ['#all'] })
  const tokens = await openIdTokens(mounted)
  const json = { 'content-type': 'application/json' }
  const dial = { method: 'POST', headers: json, body: JSON.stringify({ serviceId: service, type: 'Dial' }) }
  const dialed = (await (await bearing(mounted, tokens.access_token, `${CLIENT}/sessions`, dial)).json()) as {
    readonly data: { readonly token: string }
  }
  const seconds = Math.floor(mounted.clock.now() / 1000)
  const claims = { iss: body.issuer, aud: 'network', sub: who.id, iat: seconds, exp: seconds + 3600 }
  const ofSigner = compactJwt({ alg: 'ES256', kid: 'key', typ: 'JWT' }, claims, createPrivateKey(external))
  const { access_token, refresh_token, id_token } = tokens
  const kinds = [
    ['access', access_token, key],
    ['refresh', refresh_token, key],
    ['id', id_token, key],
    ['session', dialed.data.token, key],
    ['external', ofSigner, createPrivateKey(external)],
  ] as const
  return { mounted, session, service, key, kinds }
}

/** The token with another shape in one place: of the header, of the claims, or in place of the one or the other as a whole. */
function hostileTokens(token: string, key: Parameters<typeof compactJwt>[2]) {
  const [header, claims] = [decodeProtectedHeader(token), decodeJwt(token)]
  return [
    ...reshaped(header, HEADER).map(([name, changed]) => [`header ${name}`, compactJwt(changed, claims, key)] as const),
    ...reshaped(claims, CLAIMS).map(([name, changed]) => [`claim ${name}`, compactJwt(header, changed, key)] as const),
    ...SHAPES.filter((shape) => typeof shape !== 'symbol').flatMap((shape) => [
      [`header as a whole ${told(shape)}`, compactJwt(shape, claims, key)] as const,
      [`claims as a whole ${told(shape)}`, compactJwt(header, shape, key)] as const,
    ]),
  ]
}

describe('a token with any shape in any place of its header and claims', () => {
  it('breaks nothing, signed or not, at any door; and unsigned it lets nobody in', async () => {
    const { kinds, ...world } = await scene()
    const [letIn, others] = [apis(world.mounted), await otherDoors({ kinds, ...world })]
    const failed: string[] = []
    let sent = 0
    for (const [kind, token, key] of kinds) {
      for (const isSigned of [false, true]) {
        for (const [what, hostile] of hostileTokens(token, isSigned ? key : undefined)) {
          for (const [door, present] of Object.entries({ ...letIn, ...others })) {
            sent += 1
            if (sent % EVERY !== 0) continue
            // A door that ends sessions would end the one that the next tokens are of.
            if (isSigned && /revoking|logging out/.test(door) && kind !== 'external') continue
            const { status } = await present(hostile)
            const isLetIn = !isSigned && door in letIn && status !== 401
            if (status >= 500 || isLetIn)
              failed.push(`${status} ${kind} ${isSigned ? 'signed' : ''} ${what} at ${door}`)
          }
        }
      }
    }
    expect(failed.slice(0, 50)).toEqual([])
  }, 600_000)

  it('is refused with 401 by every API where it names no key, or not the certificates that it is bound to', async () => {
    const { mounted, key, kinds } = await scene()
    const [, token] = kinds[0]
    const [header, claims] = [decodeProtectedHeader(token), decodeJwt(token)]
    const doors = Object.entries(apis(mounted))
    for (const [door, present] of doors) expect([door, (await present(token)).status]).toEqual([door, 200])
    const kids: readonly unknown[] = [null, 7, ['a'], [], {}, { toString: 1 }, true, '', 'text']
    const unnamed = kids.flatMap((kid) => [
      compactJwt({ ...header, kid }, claims),
      compactJwt({ ...header, kid }, claims, key),
    ])
    const bound = reshaped(claims)
      .filter(([name]) => name.startsWith('z_cfs') && !/ (null|\[\])$/.test(name))
      .map(([, changed]) => compactJwt(header, changed, key))
    for (const [door, present] of doors) {
      // Who holds a token is told without its certificate, as deployed controllers do.
      for (const hostile of door === 'user info' ? unnamed : [...unnamed, ...bound]) {
        expect([door, hostile.slice(0, 200), (await present(hostile)).status]).toEqual([
          door,
          hostile.slice(0, 200),
          401,
        ])
      }
    }
  })
})
