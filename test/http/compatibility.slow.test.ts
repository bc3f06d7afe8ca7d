import 'reflect-metadata'
import { importPKCS8, SignJWT } from 'jose'
import { TEST_ADMIN, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectFieldError } from '../contract/http/errors.ts'
import { adminOf, create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { completeMfa, pendingMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { openIdTokens, refresh } from '../support/openid.ts'
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

/** The answers that a client sees: option, its lenient value, by default, when loosened. */
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
  [
    { refreshTokenGraceMs: 60_000 },
    'the status of a refresh token that is presented again after 59 seconds',
    400,
    200,
    async (mounted) => {
      const { refresh_token } = await openIdTokens(mounted)
      expect((await refresh(mounted, refresh_token)).status).toBe(200)
      mounted.clock.advance(59_000)
      return (await refresh(mounted, refresh_token)).status
    },
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

/** Options that follow `compat` alone: by default, and with it. */
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
    'the external id claim of a CA of which a patch says nothing, null, or no member',
    ['COMMON_NAME', 'COMMON_NAME', 'COMMON_NAME', 'COMMON_NAME'],
    [undefined, undefined, 'COMMON_NAME', 'COMMON_NAME'],
    async (_mounted, admin) => {
      const id = await registered(admin, await newAuthority('third party'), { externalIdClaim: CLAIM })
      const nulls = Object.fromEntries(Object.keys(CLAIM).map((member) => [member, null]))
      const left: unknown[] = []
      for (const sent of [{}, { externalIdClaim: null }, { externalIdClaim: {} }, { externalIdClaim: nulls }]) {
        expect((await admin.patch(`/cas/${id}`, { externalIdClaim: CLAIM })).status).toBe(200)
        expect((await admin.patch(`/cas/${id}`, { isAuthEnabled: true, ...sent })).status).toBe(200)
        left.push((await admin.get(`/cas/${id}`)).body.data.externalIdClaim?.location)
      }
      return left
    },
  ],
  [
    'the hashes and fingerprints of a process, as they are shown',
    ['ab'.repeat(32), 'abcdef'],
    ['AB'.repeat(32), 'AB:CD:ef'],
    async (mounted, admin) => {
      const process = { osType: 'Linux', path: '/bin/a', hashes: ['AB'.repeat(32)], signerFingerprint: 'AB:CD:ef' }
      const id = await create(admin, '/posture-checks', {
        name: 'p',
        typeId: 'PROCESS',
        roleAttributes: ['p'],
        process,
      })
      await admitted(mounted, admin, { id, typeId: 'PROCESS', path: '/bin/a', isRunning: true }, [
        { hash: 'ab'.repeat(32), signerFingerprints: ['ABCDEF'] },
        { hash: 'Ab'.repeat(32), signerFingerprints: ['ab-cd-EF'] },
      ])
      const shown = (await read(admin, `/posture-checks/${id}`)).process
      return [shown.hashes[0], shown.signerFingerprint]
    },
  ],
  [
    'the hashes and fingerprints of several processes, as they are shown',
    ['ab'.repeat(64), '0a1b'],
    ['aB'.repeat(64), '0A-1b'],
    async (_mounted, admin) => {
      const process = { osType: 'Linux', path: '/bin/a', hashes: ['aB'.repeat(64)], signerFingerprints: ['0A-1b'] }
      const body = { name: 'p', typeId: 'PROCESS_MULTI', semantic: 'AllOf', processes: [process] }
      const [shown] = (await read(admin, `/posture-checks/${await create(admin, '/posture-checks', body)}`)).processes
      return [shown.hashes[0], shown.signerFingerprints[0]]
    },
  ],
  [
    'an identity whose password was guessed too often, until its time is over and somebody enables it',
    { disabled: false, hasEnd: false, session: 200, over: 200, again: false },
    { disabled: true, hasEnd: true, session: 401, over: 200, again: true },
    async (mounted, admin) => {
      const rules = { maxAttempts: 2, lockoutDurationMinutes: 5 }
      const authPolicyId = await create(admin, '/auth-policies', authPolicy('locking', rules))
      const who = await person(mounted, admin, 'alice', { authPolicyId })
      const { api } = await apisOf(mounted, who)
      const guess = async () => {
        for (let tried = 0; tried < 3; tried += 1) await login(mounted, { ...who, password: 'a-wrong-one' })
      }
      await guess()
      const { disabled, disabledUntil } = await read(admin, `/identities/${who.id}`)
      const session = (await api.get('/current-identity')).status
      await mounted.controller.elapse(5 * 60_000)
      const over = (await login(mounted, who)).status
      await guess()
      const again = (await read(admin, `/identities/${who.id}`)).disabled
      expect((await admin.post(`/identities/${who.id}/enable`)).status).toBe(200)
      expect((await read(admin, `/identities/${who.id}`)).disabled).toBe(false)
      expect((await login(mounted, who)).status).toBe(200)
      return { disabled, hasEnd: disabledUntil !== null, session, over, again }
    },
  ],
  [
    'the policies that grant a service, in its posture queries and in a session',
    { shown: ['checked a', 'free a'], carrying: ['free a'] },
    { shown: ['checked a', 'checked b', 'free a', 'free b'], carrying: ['free a', 'free b'] },
    async (mounted, admin) => {
      const who = await person(mounted, admin, 'alice')
      const { api } = await apisOf(mounted, who)
      const anyOf = { semantic: 'AnyOf' }
      const routers = { ...anyOf, edgeRouterRoles: ['#all'] }
      const serviceId = await create(admin, '/services', { name: 's', encryptionRequired: true })
      await create(admin, '/edge-routers', { name: 'r' })
      await create(admin, '/edge-router-policies', { name: 'e', ...routers, identityRoles: ['#all'] })
      await create(admin, '/service-edge-router-policies', { name: 'd', ...routers, serviceRoles: ['#all'] })
      await create(admin, '/posture-checks', { name: 'c', typeId: 'DOMAIN', domains: ['x'], roleAttributes: ['c'] })
      const names = new Map<string, string>()
      const all = { ...anyOf, type: 'Dial', identityRoles: ['#all'], serviceRoles: ['#all'] }
      for (const [name, postureCheckRoles] of [
        ['free', []],
        ['checked', ['#c']],
      ] as const) {
        const ids = [
          await create(admin, '/service-policies', { name: `${name} 1`, ...all, postureCheckRoles }),
          await create(admin, '/service-policies', { name: `${name} 2`, ...all, postureCheckRoles }),
        ].sort()
        for (const [at, id] of ids.entries()) names.set(id, `${name} ${'ab'[at]}`)
      }
      const nameOf = (id: string) => names.get(id) ?? id
      const { postureQueries } = await read(api, `/services/${serviceId}`)
      const shown = postureQueries.map(({ policyId }: { policyId: string }) => nameOf(policyId)).sort()
      expect((await api.post('/sessions', { serviceId, type: 'Dial' })).status).toBe(201)
      const [{ servicePolicies }] = (await admin.get('/sessions')).body.data
      return { shown, carrying: servicePolicies.map(({ id }: { id: string }) => nameOf(id)).sort() }
    },
  ],
  [
    'lists that nobody filled',
    Array.from({ length: 13 }, () => []),
    Array.from({ length: 13 }, () => null),
    async (_mounted, admin) => {
      const lists: unknown[] = []
      const look = async (path: string, body: object, fields: readonly string[]) => {
        const id = await create(admin, path, body)
        const shown = await read(admin, `${path}/${id}`)
        const [listed] = (await admin.get(`${path}?filter=id="${id}"`)).body.data
        for (const field of fields) {
          expect(listed[field]).toEqual(shown[field])
          lists.push(shown[field])
        }
      }
      const semantic = 'AnyOf'
      await look('/services', { name: 'a', encryptionRequired: true }, ['configs', 'roleAttributes'])
      await look('/edge-routers', { name: 'a', roleAttributes: [] }, ['configs', 'roleAttributes'])
      await look('/routers', { name: 'b' }, ['configs'])
      await look('/identities', { name: 'a', type: 'User', isAdmin: false }, ['permissions'])
      const roles = ['identityRoles', 'serviceRoles', 'postureCheckRoles']
      await look('/service-policies', { name: 'a', semantic, type: 'Dial', serviceRoles: [] }, roles)
      await look('/edge-router-policies', { name: 'a', semantic }, ['edgeRouterRoles', 'identityRoles'])
      await look('/service-edge-router-policies', { name: 'a', semantic }, ['edgeRouterRoles', 'serviceRoles'])
      // Those of identities are a list on every controller.
      const [{ id }] = (await admin.get('/identities?filter=name="a"')).body.data
      expect((await read(admin, `/identities/${id}`)).roleAttributes).toEqual([])
      return lists
    },
  ],
  [
    'the listeners of a router for control channels that nobody gave it, where it is shown and where it is listed',
    [{}, {}, {}, {}, {}, {}, { 'tls:a:1': [] }],
    [null, null, null, null, null, null, { 'tls:a:1': [] }],
    async (_mounted, admin) => {
      const shown: unknown[] = []
      for (const [at, path] of ['/edge-routers', '/transit-routers', '/routers'].entries()) {
        const id = await create(admin, path, { name: `r${at}`, ctrlChanListeners: {} })
        const [listed] = (await admin.get(`${path}?filter=id="${id}"`)).body.data
        for (const form of [await read(admin, `${path}/${id}`), listed])
          shown.push('ctrlChanListeners' in form ? form.ctrlChanListeners : null)
      }
      const id = await create(admin, '/routers', { name: 'told', ctrlChanListeners: { 'tls:a:1': null } })
      return [...shown, (await read(admin, `/routers/${id}`)).ctrlChanListeners]
    },
  ],
  [
    'routers, of which two are edge routers: by name, in pages, by filters and by what time decides',
    ['a c', 'a c', 'c a', 'c', 2, 'c a', ''],
    ['a b c d', 'a b c d', 'd c b a', 'b c', 4, 'd c b a', 'd'],
    async (_mounted, admin) => {
      for (const [path, names] of [
        ['/edge-routers', ['d', 'b']],
        ['/routers', ['c', 'a']],
      ] as const)
        for (const name of names) await create(admin, path, { name, cost: name.charCodeAt(0) - 96 })
      const names = async (path: string) =>
        (await admin.get(path)).body.data.map(({ name }: { name: string }) => name).join(' ')
      const list = '/transit-routers?filter='
      return [
        await names('/routers?sort=name'),
        await names(`${list}true sort by cost asc`),
        await names(`${list}true sort by isSystem, name desc`),
        await names(`${list}true sort by name skip 1 limit 2`),
        (await admin.get(`${list}true skip 1 limit 1`)).body.meta.pagination.totalCount,
        await names(`${list}not connected sort by connected, name desc`),
        await names(`${list}cost > 3`),
      ]
    },
  ],
  [
    'what is empty elsewhere: common routers, configs of a service outside of its list, versions of an operating system',
    [[], {}, {}, {}, {}, [[], [], []]],
    [null, {}, null, null, null, [null, null, null]],
    async (mounted, admin) => {
      const service = await create(admin, '/services', { name: 'a', encryptionRequired: true })
      const who = await person(mounted, admin, 'reader')
      const { api } = await apisOf(mounted, who)
      const { id } = who
      const roles = { semantic: 'AnyOf', identityRoles: [`@${id}`], serviceRoles: [`@${service}`] }
      const policy = await create(admin, '/service-policies', { name: 'a', type: 'Dial', ...roles })
      const { commonRouters } = await read(admin, `/identities/${id}/policy-advice/${service}`)
      const [{ config: inList }] = (await api.get('/services?configTypes=all')).body.data
      const [{ config: belowPolicy }] = (await admin.get(`/service-policies/${policy}/services`)).body.data
      const single = [await read(admin, `/services/${service}`), await read(api, `/services/${service}`)]
      const { operatingSystems } = await read(admin, '/posture-check-types/PROCESS_MULTI')
      const versions = operatingSystems.map((system: { versions: unknown }) => system.versions)
      return [commonRouters, inList, belowPolicy, ...single.map(({ config }) => config), versions]
    },
  ],
  [
    'a new service that says nothing of encryption',
    [201, 201],
    [400, 400],
    async (_mounted, admin) => {
      const bodies = [{ name: 'a' }, { name: 'b', encryptionRequired: null }]
      const answers = [await admin.post('/services', bodies[0]), await admin.post('/services', bodies[1])]
      for (const answer of answers.filter(({ status }) => status === 400)) {
        expectFieldError(answer, 'encryptionRequired', 'encryptionRequired in body is required')
      }
      return answers.map(({ status }) => status)
    },
  ],
  [
    'lists below a service that is not there',
    Array.from({ length: 6 }, () => 404),
    Array.from({ length: 6 }, () => []),
    async (_mounted, admin) => {
      const shown: unknown[] = []
      for (const list of [
        'configs',
        'edge-routers',
        'identities',
        'service-edge-router-policies',
        'service-policies',
        'terminators',
      ]) {
        const { status, body } = await admin.get(`/services/unknown/${list}`)
        shown.push(status === 200 ? body.data : status)
      }
      return shown
    },
  ],
  [
    'the types of identities',
    ['User', 'User', 'Device', ['Default', 'Device', 'Router', 'Service', 'User']],
    ['Default', 'Default', 'Default', ['Default', 'Router']],
    async (_mounted, admin) => {
      const id = await create(admin, '/identities', { name: 'a', type: 'User', isAdmin: false })
      const { typeId, type } = await read(admin, `/identities/${id}`)
      expect((await admin.patch(`/identities/${id}`, { type: 'Device' })).status).toBe(200)
      const changed = (await read(admin, `/identities/${id}`)).typeId
      const listed = (await admin.get('/identity-types?sort=name')).body.data
      return [typeId, type.name, changed, listed.map(({ name }: { name: string }) => name)]
    },
  ],
]

/** Expects every one of some reports to make a person pass a posture check. */
async function admitted(
  mounted: MountedController,
  admin: ForeignClient,
  response: object,
  reports: readonly object[],
): Promise<void> {
  const { id, api } = await (async () => {
    const who = await person(mounted, admin, 'reporter')
    return { id: who.id, api: (await apisOf(mounted, who)).api }
  })()
  const serviceId = await create(admin, '/services', { name: 'guarded', encryptionRequired: true })
  await create(admin, '/service-policies', {
    name: 'guarded',
    semantic: 'AnyOf',
    type: 'Dial',
    identityRoles: [`@${id}`],
    serviceRoles: [`@${serviceId}`],
    postureCheckRoles: ['#p'],
  })
  const isPassing = async () => (await read(api, `/services/${serviceId}`)).postureQueries[0].isPassing
  expect(await isPassing()).toBe(false)
  for (const report of reports) {
    await api.post('/posture-response', { ...response, ...report })
    expect(await isPassing()).toBe(true)
  }
  await api.post('/posture-response', { ...response, ...reports[0], hash: '00' })
  expect(await isPassing()).toBe(false)
}

it.each(PROFILE)('%s is as deployed controllers have it with compat alone', async (_, strict, deployed, look) => {
  for (const [options, expected] of [
    [{}, strict],
    [{ compat: 'openziti' }, deployed],
  ] as const) {
    const mounted = await mount({ now: Date.now(), ...options })
    expect(await look(mounted, await adminOf(mounted))).toEqual(expected)
  }
})

describe('with compat', () => {
  const compat = 'openziti' as const

  it('wrong passwords do not shut out the last administrator who can log in', async () => {
    const mounted = await mount({ compat })
    const admin = await adminOf(mounted)
    const locking = authPolicy('locking', { maxAttempts: 2, lockoutDurationMinutes: 0 })
    const authPolicyId = await create(admin, '/auth-policies', locking)
    const { id } = await read(admin, '/current-identity')
    expect((await admin.patch(`/identities/${id}`, { authPolicyId })).status).toBe(200)
    for (let tried = 0; tried < 4; tried += 1) await login(mounted, { ...TEST_ADMIN, password: 'a-wrong-one' })
    expect(await read(admin, `/identities/${id}`)).toMatchObject({ disabled: false })
  })

  it.each([
    'http://169.254.169.254/latest',
    'http://[fe80::1]/keys',
    'http://[fd00:ec2::254]/keys',
    'http://[::ffff:169.254.169.254]/keys',
    'http://224.0.0.5/keys',
    'http://[ff02::1]/keys',
    'http://0.0.0.0:8080/keys',
    'http://[::]/keys',
    'ftp://idp.example/keys',
  ])('a signer is refused with keys at %s, as deployed controllers do', async (jwksEndpoint) => {
    const admin = await adminOf(await mount({ compat }))
    const answer = await admin.post('/external-jwt-signers', signer(jwksEndpoint))
    expect(answer.body.error).toMatchObject({ code: 'INVALID_FIELD', cause: { field: 'jwksEndpoint' } })
    expect(answer.status).toBe(400)
  })
})

it('a rate of logins that is given limits them with compat too', async () => {
  const rateLimits = { passwordsByUsername: { limit: 1, windowMs: 60_000 } }
  const mounted = await mount({ compat: 'openziti', rateLimits })
  expect((await login(mounted)).status).toBe(200)
  expect((await login(mounted)).status).toBe(429)
})
