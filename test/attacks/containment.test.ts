import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, type ForeignClient, foreignClient, read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, selfSigned, signingRequest } from '../contract/http/signing-request.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { apisOf, authPolicy, login, type Person, person } from '../support/people.ts'

const PORTCULLIS = '/portcullis/v1'

/** A network with an administrator, a strong delegate and a plain device, each with an enrollment that is outstanding. */
async function scene(permissions: readonly string[]) {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const soon = new Date(mounted.clock.now() + 86_400_000).toISOString()
  const boss = await person(mounted, admin, 'boss', { isAdmin: true })
  const strong = await person(mounted, admin, 'strong', { permissions: ['identity', 'ca', 'auth-policy'] })
  const device = await create(admin, '/identities', { name: 'device', type: 'Device', isAdmin: false })
  const invite = (identityId: string) => create(admin, '/enrollments', { identityId, method: 'ott', expiresAt: soon })
  const invited = { boss: await invite(boss.id), strong: await invite(strong.id), device: await invite(device) }
  const router = await create(admin, '/edge-routers', { name: 'router' })
  const mallory = await person(mounted, admin, 'mallory', { permissions })
  const { management } = await apisOf(mounted, mallory)
  return { mounted, admin, boss, strong, device, invited, router, mallory, management, soon }
}

type Scene = Awaited<ReturnType<typeof scene>>

/** All that an API answers about enrollments, as one text. */
async function everythingAbout(api: ForeignClient, { device, invited, router }: Scene) {
  const paths = [
    '/enrollments?limit=500',
    `/enrollments/${invited.device}`,
    `/identities/${device}/enrollments`,
    `/identities/${device}`,
    '/identities?limit=500',
    `/edge-routers/${router}`,
    '/edge-routers?limit=500',
  ]
  const answers = await Promise.all(paths.map((path) => api.get(path)))
  return answers.map(({ text }) => text).join('\n')
}

async function secretsOf(admin: ForeignClient, { invited, router }: Scene) {
  const { token, jwt } = await read(admin, `/enrollments/${invited.device}`)
  const strong = await read(admin, `/enrollments/${invited.strong}`)
  const boss = await read(admin, `/enrollments/${invited.boss}`)
  const { enrollmentToken, enrollmentJwt } = await read(admin, `/edge-routers/${router}`)
  return {
    device: [token, jwt],
    strong: [strong.token, strong.jwt],
    boss: [boss.token, boss.jwt],
    router: [enrollmentToken, enrollmentJwt],
  }
}

describe('reading is not acting', () => {
  it.each([
    ['admin_readonly'],
    ['identity.read', 'enrollment.read', 'router.read'],
    ['identity.update', 'enrollment.delete', 'router.read'],
  ])('%s sees that there are enrollments, and none of their secrets', async (...permissions) => {
    const here = await scene([...permissions, 'identity.read', 'enrollment.read'])
    const secrets = Object.values(await secretsOf(here.admin, here)).flat()
    // Answers are kept: an earlier reader must not matter.
    const seen = await everythingAbout(here.admin, here)
    expect(secrets.every((secret) => seen.includes(secret))).toBe(true)
    const text = await everythingAbout(here.management, here)
    expect(text).toContain(here.invited.device)
    expect(secrets.filter((secret) => secret.length < 8 || text.includes(secret))).toEqual([])
  })

  it.each([['identity'], ['enrollment.create', 'enrollment.read'], ['enrollment.update', 'enrollment.read']])(
    '%s sees the secrets of who has no more rights, and of nobody else',
    async (...permissions) => {
      const here = await scene(permissions)
      const secrets = await secretsOf(here.admin, here)
      await everythingAbout(here.admin, here)
      const text = await everythingAbout(here.management, here)
      expect(secrets.device.every((secret) => text.includes(secret))).toBe(true)
      const hidden = [...secrets.strong, ...secrets.boss, ...secrets.router]
      expect(hidden.filter((secret) => text.includes(secret))).toEqual([])
    },
  )

  it.each([
    'token > "a"',
    'token contains "a"',
    'jwt != ""',
    'not (token = "x")',
    'true sort by token',
    'true sort by jwt desc',
  ])('a secret cannot be asked for piece by piece: %s', async (question) => {
    const { management, admin } = await scene(['enrollment'])
    const path = `/enrollments?filter=${encodeURIComponent(question)}`
    expect((await management.get(path)).status).toBe(400)
    expect((await admin.get(path)).status).toBe(200)
  })
})

describe('a delegate does not become more than it is', () => {
  it.each([
    ['roleAttributes', ['confidential']],
    ['authPolicyId', 'weak'],
    ['externalId', 'boss@idp'],
  ])('by changing its own %s', async (field, value) => {
    const { admin, mallory, management } = await scene(['identity'])
    const weak = await create(admin, '/auth-policies', authPolicy('weak'))
    const before = await read(admin, `/identities/${mallory.id}`)
    const change = { [field]: value === 'weak' ? weak : value }
    expect((await management.patch(`/identities/${mallory.id}`, change)).status).toBe(401)
    expect((await read(admin, `/identities/${mallory.id}`))[field]).toEqual(before[field])
    expect((await management.patch(`/identities/${mallory.id}`, { appData: { a: 1 } })).status).toBe(200)
  })

  it('by removing its own second factor without a code', async () => {
    const { mounted, mallory } = await scene(['identity'])
    const { management } = await completeMfa(mounted, mallory).then(() => apisOf(mounted, mallory))
    expect((await management.delete(`/identities/${mallory.id}/mfa`)).status).toBe(401)
  })

  it('by a signer of its own, for an identity that is promoted later', async () => {
    const { management, mounted, admin } = await scene(['external-jwt-signer'])
    const signerId = await create(management, '/external-jwt-signers', {
      name: 'mine',
      issuer: 'https://mallory.example',
      audience: 'network',
      enabled: true,
      certPem: selfSigned(newKey(), '/CN=mallory'),
    })
    const anchors = await foreignClient(mounted, PORTCULLIS, admin.token).get('/trust-anchors')
    expect(anchors.body.data).toEqual([
      { id: signerId, name: 'mine', kind: 'external-jwt-signer', mayAuthenticateAdmins: false },
    ])
  })
})

describe('an enrollment that is outstanding when its identity gains rights', () => {
  const LATER = { name: 'later', type: 'Device', isAdmin: false, enrollment: { ott: true } }
  const invite = async (api: ForeignClient) => {
    const id = await create(api, '/identities', LATER)
    return { id, token: (await read(api, `/identities/${id}`)).enrollment.ott.token }
  }
  const redeem = (mounted: MountedController, token: string) =>
    foreignClient(mounted, CLIENT).post('/enroll/ott', { token, clientCsr: signingRequest(newKey()) })

  it.each([
    ['made by a delegate', 'management', { isAdmin: true }],
    ['made by a delegate, for a stronger one', 'management', { permissions: ['ca'] }],
    ['made by an administrator, that a delegate could read', 'admin', { isAdmin: true }],
  ] as const)('is void: %s', async (_, maker, rights) => {
    const here = await scene(['identity'])
    const { id, token } = await invite(here[maker])
    expect((await here.admin.patch(`/identities/${id}`, rights)).status).toBe(200)
    const answer = await redeem(here.mounted, token)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_ENROLLMENT_TOKEN'])
    expect(await read(here.admin, `/identities/${id}/enrollments`)).toEqual([])
  })

  it.each<[string, (mounted: MountedController, admin: ForeignClient) => Promise<() => Promise<unknown>>]>([
    [
      'was deleted',
      async (mounted, admin) => {
        const { id } = await person(mounted, admin, 'delegate', { permissions: ['identity'] })
        return () => admin.delete(`/identities/${id}`)
      },
    ],
    [
      'lost the right',
      async (mounted, admin) => {
        const { id } = await person(mounted, admin, 'delegate', { permissions: ['identity', 'ca'] })
        return () => admin.patch(`/identities/${id}`, { permissions: ['ca'] })
      },
    ],
    [
      'had the right for a time',
      async (mounted, admin) => {
        const rightsUntil = new Date(mounted.clock.now() + 60_000).toISOString()
        await person(mounted, admin, 'delegate', { permissions: ['identity'], rightsUntil })
        return async () => {
          mounted.clock.advance(61_000)
        }
      },
    ],
    [
      'was an administrator',
      async (mounted, admin) => {
        const { id } = await person(mounted, admin, 'boss', { isAdmin: true })
        return () => admin.patch(`/identities/${id}`, { isAdmin: false })
      },
    ],
  ])('is void where somebody who %s could read it', async (_, make) => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const endRight = await make(mounted, admin)
    const { id, token } = await invite(admin)
    await endRight()
    expect((await admin.patch(`/identities/${id}`, { isAdmin: true })).status).toBe(200)
    const answer = await redeem(mounted, token)
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'INVALID_ENROLLMENT_TOKEN'])
  })

  it('stays good where it was made or refreshed after the last such identity had gone', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const { id: delegate } = await person(mounted, admin, 'delegate', { permissions: ['identity'] })
    const refreshed = await invite(admin)
    await admin.delete(`/identities/${delegate}`)
    // The clock of another process may be ahead by a minute.
    mounted.clock.advance(61_000)
    const made = await create(admin, '/identities', { ...LATER, name: 'latest' })
    const [{ id: enrollment }] = await read(admin, `/identities/${refreshed.id}/enrollments`)
    const expiresAt = new Date(mounted.clock.now() + 3_600_000).toISOString()
    expect((await admin.post(`/enrollments/${enrollment}/refresh`, { expiresAt })).status).toBe(200)
    for (const id of [made, refreshed.id]) {
      expect((await admin.patch(`/identities/${id}`, { isAdmin: true })).status).toBe(200)
      const { token } = (await read(admin, `/identities/${id}`)).enrollment.ott
      expect((await redeem(mounted, token)).status).toBe(200)
    }
  })

  it.each([
    ['nobody with fewer rights could read it', ['service'], { isAdmin: true }],
    ['who could read it has these rights', ['identity'], { permissions: ['identity.read'] }],
  ] as const)('stays good where %s', async (_, permissions, rights) => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    await person(mounted, admin, 'delegate', { permissions })
    const { id, token } = await invite(admin)
    expect((await admin.patch(`/identities/${id}`, rights)).status).toBe(200)
    expect((await redeem(mounted, token)).status).toBe(200)
  })
})

describe('a delegate does not weaken others', () => {
  const attacks: readonly (readonly [string, readonly string[], (here: Scene, victim: Person) => Promise<number>])[] = [
    [
      'renaming',
      ['identity'],
      async (here, { id }) => (await here.management.patch(`/identities/${id}`, { name: 'x' })).status,
    ],
    [
      'regrouping',
      ['identity'],
      async (here, { id }) => (await here.management.patch(`/identities/${id}`, { roleAttributes: ['x'] })).status,
    ],
    [
      'disabling',
      ['identity'],
      async (here, { id }) => (await here.management.post(`/identities/${id}/disable`, { durationMinutes: 0 })).status,
    ],
    ['enabling', ['identity'], async (here, { id }) => (await here.management.post(`/identities/${id}/enable`)).status],
    ['deleting', ['identity'], async (here, { id }) => (await here.management.delete(`/identities/${id}`)).status],
    [
      'tracing',
      ['identity'],
      async (here, { id }) =>
        (await here.management.put(`/identities/${id}/trace`, { enabled: true, duration: '1m' })).status,
    ],
    [
      'inviting',
      ['enrollment'],
      async (here, { id }) =>
        (
          await here.management.post('/enrollments', {
            identityId: id,
            method: 'updb',
            username: 'stolen',
            expiresAt: here.soon,
          })
        ).status,
    ],
    [
      'refreshing the enrollment of',
      ['enrollment'],
      async (here, { username }) =>
        (
          await here.management.post(
            `/enrollments/${username === 'boss' ? here.invited.boss : here.invited.strong}/refresh`,
            { expiresAt: here.soon },
          )
        ).status,
    ],
    [
      'deleting the enrollment of',
      ['enrollment'],
      async (here, { username }) =>
        (await here.management.delete(`/enrollments/${username === 'boss' ? here.invited.boss : here.invited.strong}`))
          .status,
    ],
  ]
  const victims = ['boss', 'strong'] as const
  it.each(
    victims.flatMap((victim) =>
      attacks.map(([name, permissions, attack]) => [name, victim, permissions, attack] as const),
    ),
  )('%s %s is refused', async (_name, victim, permissions, attack) => {
    const here = await scene(permissions)
    const before = await read(here.admin, `/identities/${here[victim].id}`)
    expect([401, 404]).toContain(await attack(here, here[victim]))
    const { updatedAt } = await read(here.admin, `/identities/${here[victim].id}`)
    expect(updatedAt).toBe(before.updatedAt)
  })

  it.each(victims)(
    'changing or deleting the auth policy of %s is refused; of who has no rights it is not',
    async (victim) => {
      const here = await scene(['auth-policy'])
      const id = await create(here.admin, '/auth-policies', authPolicy('strict', {}, { requireTotp: true }))
      const weaken = () => here.management.patch(`/auth-policies/${id}`, { secondary: { requireTotp: false } })
      await here.admin.patch(`/identities/${here.device}`, { authPolicyId: id })
      expect((await weaken()).status).toBe(200)
      await here.admin.patch(`/identities/${here[victim].id}`, { authPolicyId: id })
      expect((await weaken()).status).toBe(401)
      const closed = authPolicy('closed', { allowed: false })
      expect((await here.management.put(`/auth-policies/${id}`, closed)).status).toBe(401)
      expect((await here.management.patch('/auth-policies/default', { secondary: { requireTotp: true } })).status).toBe(
        401,
      )
    },
  )
})

describe('the last way in stays open', () => {
  it.each([
    [
      'disabling for ever',
      (id: string) => ({ method: 'POST', path: `/identities/${id}/disable`, body: { durationMinutes: 0 } }),
    ],
    [
      'taking away that it is one',
      (id: string) => ({ method: 'PATCH', path: `/identities/${id}`, body: { isAdmin: false } }),
    ],
    [
      'closing its auth policy',
      () => ({ method: 'PATCH', path: '/auth-policies/default', body: { primary: { updb: { allowed: false } } } }),
    ],
  ] as const)('%s the last administrator is refused, also to itself', async (_name, attack) => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const root = await read(admin, '/current-identity')
    const { method, path, body } = attack(root.id)
    const answer = await admin.send(method, path, { body })
    // The default admin stays one whatever is asked for.
    if (path.startsWith('/identities') && method === 'PATCH') expect(answer.status).toBe(200)
    else expect(answer.status).toBe(400)
    expect((await login(mounted)).status).toBe(200)
  })

  it('deleting its last authenticator is refused; with another administrator it is not', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const { id } = await read(admin, '/current-identity')
    const [authenticator] = (await admin.get(`/identities/${id}/authenticators`)).body.data
    const refused = await admin.delete(`/authenticators/${authenticator.id}`)
    expect(refused.status).toBe(400)
    expect(refused.body.error.cause.message).toBe('no administrator could log in any more')
    await person(mounted, admin, 'second', { isAdmin: true })
    expect((await admin.delete(`/authenticators/${authenticator.id}`)).status).toBe(200)
  })
})
