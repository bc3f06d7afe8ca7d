import { describe, expect, it } from 'vitest'
import { type Answer, adminOf, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { network } from '../support/network.ts'
import { begin, codeOf, exchangeCode, openIdTokens, proofKey, refresh, step } from '../support/openid.ts'
import { apisOf, authPolicy, login, person } from '../support/people.ts'
import { totp } from '../support/totp.ts'

const DAY_MS = 86_400_000

/** A delegate with some permissions, an administrator and somebody with more rights than the delegate. */
async function delegated(permissions: readonly string[]) {
  const strong = { permissions: ['service', 'config', 'router', 'identity'] }
  const here = await network({ people: { boss: { isAdmin: true }, strong, mallory: { permissions } } })
  const { management, api, token } = await apisOf(here.mounted, here.mallory)
  return { ...here, management, api, own: foreignClient(here.mounted, '/portcullis/v1', token) }
}

type Scene = Awaited<ReturnType<typeof delegated>>

describe('a delegate', () => {
  it.each<[string, readonly string[], (here: Scene) => Promise<Answer>]>([
    [
      'trusts its own signer',
      ['external-jwt-signer'],
      async ({ management, own }) => {
        const certPem = selfSigned(newKey(), '/CN=mallory')
        const signer = { name: 'm', issuer: 'https://m.example', audience: 'network', enabled: true, certPem }
        const id = await create(management, '/external-jwt-signers', signer)
        return own.send('PUT', `/trust-anchors/${id}`, { body: { mayAuthenticateAdmins: true } })
      },
    ],
    ...(['externalAuthUrl', 'clientId'] as const).map(
      (field): [string, readonly string[], (here: Scene) => Promise<Answer>] => [
        `sends those who log in by a signer of administrators elsewhere (${field})`,
        ['external-jwt-signer'],
        async ({ admin, management, boss }) => {
          const certPem = selfSigned(newKey(), '/CN=idp')
          const facts = {
            issuer: 'https://idp.example',
            audience: 'network',
            enabled: true,
            useExternalId: true,
            certPem,
          }
          const id = await create(admin, '/external-jwt-signers', { name: 'idp', ...facts })
          await admin.patch(`/identities/${boss.id}`, { externalId: 'boss@idp' })
          return management.patch(`/external-jwt-signers/${id}`, { [field]: 'https://mallory.example' })
        },
      ],
    ),
    [
      'gives an administrator a policy of its own',
      ['auth-policy', 'identity'],
      async ({ management, boss }) => {
        const id = await create(management, '/auth-policies', authPolicy('weak'))
        return management.patch(`/identities/${boss.id}`, { authPolicyId: id })
      },
    ],
    [
      'promotes a device that it made',
      ['identity'],
      async ({ management }) => {
        const id = await create(management, '/identities', { name: 'd', type: 'Device', isAdmin: false })
        return management.patch(`/identities/${id}`, { permissions: ['ops'] })
      },
    ],
    [
      'traces an administrator',
      ['identity'],
      ({ management, boss }) =>
        management.send('PUT', `/identities/${boss.id}/trace`, {
          body: { enabled: true, duration: '10m', channels: ['all'] },
        }),
    ],
    [
      'gives a stronger one other configs',
      ['identity', 'config', 'config-type', 'service'],
      async ({ management, strong }) => {
        const configTypeId = await create(management, '/config-types', { name: 't', schema: {} })
        const service = await create(management, '/services', { name: 's', encryptionRequired: true })
        const configId = await create(management, '/configs', { name: 'c', configTypeId, data: {} })
        return management.post(`/identities/${strong.id}/service-configs`, [{ serviceId: service, configId }])
      },
    ],
    [
      'removes the factor of a stronger one',
      ['identity'],
      async ({ mounted, management, strong }) => {
        await completeMfa(mounted, strong)
        return management.delete(`/identities/${strong.id}/mfa`)
      },
    ],
    [
      'disables a stronger one',
      ['identity'],
      ({ management, strong }) => management.post(`/identities/${strong.id}/disable`, { durationMinutes: 1 }),
    ],
  ])('that %s is refused', async (_, permissions, attack) => {
    const here = await delegated(permissions)
    const answer = await attack(here)
    expect(answer.status, answer.text).toBe(401)
  })

  it('with a permission of routers takes no router whose identity has more rights', async () => {
    const { admin, management } = await delegated(['router'])
    const id = await create(admin, '/edge-routers', { name: 'r', isTunnelerEnabled: true })
    expect((await admin.patch(`/identities/${id}`, { permissions: ['service'] })).status).toBe(200)
    expect((await management.delete(`/edge-routers/${id}`)).status).toBe(401)
    expect((await management.patch(`/edge-routers/${id}`, { isTunnelerEnabled: false })).status).toBe(401)
    expect((await admin.get(`/identities/${id}`)).status).toBe(200)
  })
})

describe('who only reads', () => {
  it('finds no secret of an invitation in any list of the management API', async () => {
    const { admin, management, mounted } = await delegated(['admin_readonly'])
    const id = await create(admin, '/identities', {
      name: 'd',
      type: 'Device',
      isAdmin: false,
      enrollment: { ott: true },
    })
    await create(admin, '/edge-routers', { name: 'r' })
    await create(admin, '/transit-routers', { name: 't' })
    const [invited] = await read(admin, `/identities/${id}/enrollments`)
    const router = (await read(admin, '/edge-routers'))[0]
    const transit = (await read(admin, '/transit-routers'))[0]
    const secrets = [invited.token, invited.jwt, router.enrollmentToken, router.enrollmentJwt, transit.enrollmentToken]
    expect(secrets.every((secret) => typeof secret === 'string' && secret !== '')).toBe(true)
    const paths = ['/enrollments', '/identities', `/identities/${id}`, `/identities/${id}/enrollments`, '/edge-routers']
    const more = [
      '/transit-routers',
      '/routers',
      '/enrollments?sort=token',
      '/enrollments?filter=token>"a"',
      '/summary',
    ]
    const qr = [`/enrollments/${invited.id}`, '/fabric/v1/routers']
    for (const path of [...paths, ...more, ...qr]) {
      const { text } = await management.get(path)
      expect(
        secrets.filter((secret) => text.includes(secret)),
        path,
      ).toEqual([])
    }
    expect(mounted.url).toContain('test')
  })
})

describe('the last way in stays open', () => {
  it.each<[string, (signer: string, policy: string) => readonly [string, string, object]]>([
    ['the signer is switched off', (signer) => ['PATCH', `/external-jwt-signers/${signer}`, { enabled: false }]],
    [
      'the policy asks for another signer',
      (_, policy) => ['PATCH', `/auth-policies/${policy}`, { primary: { extJwt: { allowed: false } } }],
    ],
    ['the external id goes', () => ['PATCH', '/identities/{boss}', { externalId: null }]],
  ])('when %s by which alone an administrator logs in', async (_, attack) => {
    const { mounted, admin, boss } = await delegated([])
    const certPem = selfSigned(newKey(), '/CN=idp')
    const facts = { issuer: 'https://idp.example', audience: 'network', enabled: true, useExternalId: true }
    const signer = await create(admin, '/external-jwt-signers', { name: 'idp', ...facts, certPem })
    const only = authPolicy('tokens', { allowed: false }, {}, { allowedSigners: [signer] })
    const policy = await create(admin, '/auth-policies', {
      ...only,
      primary: { ...only.primary, cert: { allowed: false, allowExpiredCerts: false } },
    })
    expect((await admin.patch(`/identities/${boss.id}`, { authPolicyId: policy, externalId: 'boss@idp' })).status).toBe(
      200,
    )
    const root = await read(admin, '/current-identity')
    expect((await admin.post(`/identities/${root.id}/disable`, { durationMinutes: 1 })).status).toBe(200)
    expect((await login(mounted)).status).toBe(401)
    mounted.clock.advance(61_000)
    const again = await adminOf(mounted)
    const [password] = await read(again, `/identities/${root.id}/authenticators`)
    expect((await again.delete(`/authenticators/${password.id}`)).status).toBe(200)
    const [method, path, body] = attack(signer, policy)
    const last = await again.send(method, path.replace('{boss}', boss.id), { body })
    expect([400, 401], last.text).toContain(last.status)
  })
})

describe('a clock that goes back', () => {
  it('makes no code good again that was used, or that a later one made void', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const alice = await person(mounted, admin, 'alice')
    const { secret } = await completeMfa(mounted, alice)
    const { api } = await apisOf(mounted, alice)
    const code = totp(secret, mounted.clock.now())
    expect((await api.post('/authenticate/mfa', { code })).status).toBe(200)
    mounted.clock.advance(-60_000)
    const second = (await apisOf(mounted, alice)).api
    for (const used of [code, totp(secret, mounted.clock.now())]) {
      expect((await second.post('/authenticate/mfa', { code: used })).status).not.toBe(200)
    }
  })

  it('makes neither codes nor refresh tokens of the OpenID provider good again', async () => {
    const mounted = await mount()
    const key = proofKey()
    const id = await begin(mounted, key)
    await step(mounted, id, 'password', { username: 'admin', password: 'admin-password' })
    const code = await codeOf(mounted, id)
    const { refresh_token } = await openIdTokens(mounted)
    await mounted.clock.advance(40 * DAY_MS)
    await new Promise((resolve) => setTimeout(resolve, 50))
    mounted.clock.advance(-40 * DAY_MS)
    expect((await exchangeCode(mounted, code, key)).status).toBe(400)
    expect((await refresh(mounted, refresh_token)).status).toBe(400)
  })
})

describe('guesses of a code', () => {
  it('are counted together, at whichever door they are made', async () => {
    const mounted = await mount()
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const { api: proven } = await completeMfa(mounted, alice)
    const { api } = await apisOf(mounted, alice)
    const doors = [
      (code: string) => api.post('/authenticate/mfa', { code }),
      (code: string) => proven.send('DELETE', '/current-identity/mfa', { headers: { 'mfa-validation-code': code } }),
      (code: string) => proven.get(`/current-identity/mfa/recovery-codes?mfa-validation-code=${code}`),
      (code: string) => proven.post('/current-identity/mfa/recovery-codes', { code }),
    ]
    const told: number[] = []
    for (let n = 0; n < 24; n += 1) told.push((await doors[n % doors.length]?.(`00000${n}`))?.status ?? 0)
    expect(told.filter((status) => status < 400)).toEqual([])
    expect(told.slice(10)).toEqual(Array.from({ length: 14 }, () => 429))
  })
})
