import 'reflect-metadata'
import { importPKCS8, SignJWT } from 'jose'
import type { TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, create, type ForeignClient } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { completeMfa, pendingMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { apisOf, authPolicy, login, person } from '../support/people.ts'
import { CLAIM, newAuthority, registered } from '../support/third-party.ts'
import { wrongCode } from '../support/totp.ts'

type Seen = string | number
type Look<Answer = Seen> = (mounted: MountedController, admin: ForeignClient) => Promise<Answer>

const signer = (jwksEndpoint: string) => ({
  name: 'idp',
  issuer: 'https://idp.example',
  audience: 'network',
  enabled: true,
  jwksEndpoint,
})

/** What a client sees: option, its lenient value, by default, when loosened. */
const ROWS: readonly [TestControllerOptions, string, Seen, Seen, Look][] = [
  [
    { allowTotpReuse: true },
    'the status of a one-time code that is used again',
    400,
    200,
    async (mounted, admin) => {
      const { api, code } = await completeMfa(mounted, await person(mounted, admin, 'alice'))
      expect((await api.post('/authenticate/mfa', { code: code() })).status).toBe(200)
      return (await api.post('/authenticate/mfa', { code: code() })).status
    },
  ],
  [
    { allowUnlimitedCodes: true },
    'the status of a right code after 60 wrong ones',
    429,
    200,
    async (mounted, admin) => {
      const { api, secret, code } = await completeMfa(mounted, await person(mounted, admin, 'alice'))
      for (let tried = 0; tried < 60; tried += 1)
        await api.post('/authenticate/mfa', { code: wrongCode(secret, mounted.clock.now()) })
      return (await api.post('/authenticate/mfa', { code: code() })).status
    },
  ],
  [
    { allowUnlimitedLogins: true },
    'the status of a right password after 1,200 logins in a minute',
    429,
    200,
    async (mounted) => {
      for (let tried = 0; tried < 1_200; tried += 1) await login(mounted)
      return (await login(mounted)).status
    },
  ],
  [
    { allowPrivateJwks: true },
    'the status of a signer with keys at a private address',
    400,
    201,
    async (_mounted, admin) => (await admin.post('/external-jwt-signers', signer('https://10.0.0.1/keys'))).status,
  ],
  [
    { allowPrivateJwks: true },
    'the status of a signer with keys on this machine',
    400,
    201,
    async (_mounted, admin) => (await admin.post('/external-jwt-signers', signer('http://localhost:1/keys'))).status,
  ],
  [
    { allowWeakPasswords: true },
    'the status of a password that breaks the rules of its auth policy',
    400,
    201,
    async (_mounted, admin) => {
      const authPolicyId = await create(admin, '/auth-policies', authPolicy('strict', { requireNumberChar: true }))
      const identityId = await create(admin, '/identities', { name: 'a', type: 'User', isAdmin: false, authPolicyId })
      const credentials = { method: 'updb', username: 'alice', password: 'no-number' }
      return (await admin.post('/authenticators', { identityId, ...credentials })).status
    },
  ],
  [
    { allowSelfDeletion: true },
    'the status of an admin who deletes itself',
    409,
    200,
    async (mounted, admin) => {
      const who = await person(mounted, admin, 'boss', { isAdmin: true })
      return (await (await apisOf(mounted, who)).management.delete(`/identities/${who.id}`)).status
    },
  ],
  [
    { allowTokensOfOthers: true },
    'the status of a request whose second factor is the token of somebody else',
    401,
    200,
    async (mounted, admin) => {
      const key = newKey()
      const body = { ...signer(''), certPem: selfSigned(key), kid: 'key' }
      const requireExtJwtSigner = await create(admin, '/external-jwt-signers', body)
      const authPolicyId = await create(admin, '/auth-policies', authPolicy('strict', {}, { requireExtJwtSigner }))
      const { api } = await apisOf(mounted, await person(mounted, admin, 'alice', { authPolicyId }))
      const iat = mounted.clock.now() / 1000
      const token = new SignJWT({ iss: body.issuer, aud: body.audience, sub: 'bob', iat, exp: iat + 300 })
      token.setProtectedHeader({ alg: 'ES256', kid: 'key' })
      const authorization = `Bearer ${await token.sign(await importPKCS8(key, 'ES256'))}`
      return (await api.send('GET', '/services', { headers: { authorization } })).status
    },
  ],
  [
    { keepSessionsOnPasswordChange: true },
    'the status of the next request of who has changed the own password',
    401,
    200,
    async (mounted, admin) => {
      const who = await person(mounted, admin, 'alice')
      const { api } = await apisOf(mounted, who)
      const [own] = (await api.get('/current-identity/authenticators')).body.data
      const change = { currentPassword: who.password, password: 'another-password' }
      expect((await api.patch(`/current-identity/authenticators/${own.id}`, change)).status).toBe(200)
      return (await api.get('/current-identity')).status
    },
  ],
  [
    { recoveryCodeLength: 6 },
    'the length of a recovery code',
    10,
    6,
    async (mounted, admin) =>
      (await pendingMfa(mounted, await person(mounted, admin, 'alice'))).recoveryCodes[0].length,
  ],
]

describe.each(ROWS)('%j: %s', (option, _what, strict, lenient, look) => {
  it.each([
    ['by default', {}, strict],
    ['with the option', option, lenient],
    ['with compat', { compat: 'openziti' as const }, lenient],
  ])(`%s`, async (_how, options, expected) => {
    const mounted = await mount({ rateLimits: {}, ...options })
    expect(await look(mounted, await adminOf(mounted))).toBe(expected)
  })
})

/** What follows `compat` alone: by default, and with it. */
const PROFILE: readonly [string, unknown, unknown, Look<unknown>][] = [
  [
    'the status of posture responses that come together',
    200,
    201,
    async (mounted, admin) => {
      const { api } = await apisOf(mounted, await person(mounted, admin, 'alice'))
      const responses = [{ id: 'd', typeId: 'DOMAIN', domain: 'corp' }]
      return (await api.post('/posture-response-bulk', responses)).status
    },
  ],
  [
    'the external id claim of a CA of which a patch says nothing',
    'COMMON_NAME',
    undefined,
    async (_mounted, admin) => {
      const id = await registered(admin, await newAuthority('third party'), { externalIdClaim: CLAIM })
      expect((await admin.patch(`/cas/${id}`, { externalIdClaim: {}, isAuthEnabled: true })).status).toBe(200)
      return (await admin.get(`/cas/${id}`)).body.data.externalIdClaim?.location
    },
  ],
]

it.each(PROFILE)('%s is as deployed controllers have it with compat alone', async (_, strict, deployed, look) => {
  for (const [options, expected] of [
    [{}, strict],
    [{ compat: 'openziti' }, deployed],
  ] as const) {
    const mounted = await mount({ now: Date.now(), ...options })
    expect(await look(mounted, await adminOf(mounted))).toBe(expected)
  }
})

it('a rate of logins that is given limits them with compat too', async () => {
  const rateLimits = { passwordsByUsername: { limit: 1, windowMs: 60_000 } }
  const mounted = await mount({ compat: 'openziti', rateLimits })
  expect((await login(mounted)).status).toBe(200)
  expect((await login(mounted)).status).toBe(429)
})
