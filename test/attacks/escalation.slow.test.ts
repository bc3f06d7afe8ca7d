import { describe, expect, it } from 'vitest'
import {
  type Answer,
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  read,
} from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { enrolled } from '../contract/http/scenario.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { pemOf } from '../support/certificates/certificates.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { apisOf, authPolicy, login, type Person, person } from '../support/people.ts'
import { PERMISSIONS } from '../support/permissions.ts'
import { CLAIM, clientOf, newAuthority, now, registered, TRUSTED } from '../support/third-party.ts'

const STOLEN = 'Stolen-Horse-1'
const ISSUER = 'https://mallory.example'

/** A network with an admin worth attacking, and what a delegate may have in mind with it. */
async function target() {
  const mounted = await mount({ now, allowPrivateJwks: true })
  const admin = await adminOf(mounted)
  const authPolicyId = await create(admin, '/auth-policies', authPolicy('of admins'))
  const soon = new Date(mounted.clock.now() + 86_400_000).toISOString()
  const boss = await person(mounted, admin, 'boss', { isAdmin: true, externalId: 'boss@idp', authPolicyId })
  await completeMfa(mounted, boss)
  const keeper = await enrolled(mounted, admin, { name: 'keeper', isAdmin: true })
  const enrollmentId = await create(admin, '/enrollments', { identityId: boss.id, method: 'ott', expiresAt: soon })
  const authority = await newAuthority('of the network')
  const caId = await registered(admin, authority)
  const signer = {
    name: 'idp',
    issuer: 'https://idp.example',
    audience: 'network',
    enabled: true,
    certPem: selfSigned(newKey()),
  }
  const signerId = await create(admin, '/external-jwt-signers', signer)
  const secrets = (await read(admin, `/identities/${boss.id}`)).enrollment.ott
  return { mounted, admin, boss, keeper, enrollmentId, authPolicyId, caId, signerId, soon, secrets }
}
type Target = Awaited<ReturnType<typeof target>>

/** The entities of a delegate to attack with. */
async function weapons() {
  const authority = await newAuthority('of mallory')
  return { authority, idp: await identityProvider(ISSUER), certPem: selfSigned(newKey(), '/CN=mallory') }
}
type Weapons = Awaited<ReturnType<typeof weapons>>

/** Every operation that touches credentials, aimed at the admins. */
async function attack(api: ForeignClient, own: Person, target: Target, weapons: Weapons): Promise<Answer[]> {
  const { boss, keeper, enrollmentId, authPolicyId, caId, signerId, soon, admin } = target
  const answers: Answer[] = []
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await api.send(method, path, { body })
    answers.push(answer)
    return answer
  }
  const [bossAuthenticator] = (await admin.get(`/identities/${boss.id}/authenticators`)).body.data
  const [keeperAuthenticator] = (await admin.get(`/identities/${keeper.id}/authenticators`)).body.data
  for (const [method, path, body] of [
    ['PATCH', `/identities/${own.id}`, { isAdmin: true }],
    ['PUT', `/identities/${own.id}`, { name: own.username, type: 'User', isAdmin: true }],
    [
      'POST',
      '/identities',
      { name: `double ${answers.length}`, type: 'User', isAdmin: true, enrollment: { ott: true } },
    ],
    ['PATCH', `/identities/${boss.id}`, { externalId: 'mallory@idp' }],
    ['PATCH', `/identities/${boss.id}`, { authPolicyId: 'default' }],
    ['PUT', `/identities/${boss.id}`, { name: 'boss', type: 'User', isAdmin: true, externalId: 'mallory@idp' }],
    ['DELETE', `/identities/${boss.id}/mfa`],
    ['POST', `/identities/${boss.id}/disable`, { durationMinutes: 0 }],
    ['DELETE', `/identities/${boss.id}`],
    ['POST', '/authenticators', { identityId: keeper.id, method: 'updb', username: 'stolen', password: STOLEN }],
    ['POST', '/authenticators', { identityId: boss.id, method: 'cert', certPem: weapons.certPem }],
    ['PATCH', `/authenticators/${bossAuthenticator.id}`, { password: STOLEN }],
    ['PUT', `/authenticators/${bossAuthenticator.id}`, { username: 'boss', password: STOLEN }],
    ['POST', `/authenticators/${bossAuthenticator.id}/re-enroll`, { expiresAt: soon }],
    ['POST', `/authenticators/${keeperAuthenticator.id}/re-enroll`, { expiresAt: soon }],
    ['POST', `/authenticators/${keeperAuthenticator.id}/request-extend`, { rollKeys: true }],
    ['DELETE', `/authenticators/${bossAuthenticator.id}`],
    ['POST', '/enrollments', { identityId: keeper.id, method: 'ott', expiresAt: soon }],
    ['POST', '/enrollments', { identityId: boss.id, method: 'updb', username: 'stolen', expiresAt: soon }],
    ['POST', '/enrollments', { identityId: boss.id, method: 'ottca', caId, expiresAt: soon }],
    ['POST', `/enrollments/${enrollmentId}/refresh`, { expiresAt: soon }],
    ['GET', `/enrollments/${enrollmentId}`],
    ['GET', '/enrollments?limit=500'],
    ['GET', `/identities/${boss.id}`],
    ['GET', `/identities/${boss.id}/enrollments`],
    ['GET', '/identities?limit=500'],
    ['PATCH', `/cas/${caId}`, { externalIdClaim: CLAIM, isAuthEnabled: true }],
    ['PATCH', `/external-jwt-signers/${signerId}`, { certPem: weapons.certPem, useExternalId: true }],
    ['PATCH', `/auth-policies/${authPolicyId}`, { secondary: { requireTotp: false } }],
    [
      'POST',
      '/external-jwt-signers',
      { name: 'mine', issuer: ISSUER, audience: 'network', enabled: true, jwksEndpoint: weapons.idp.endpoint },
    ],
  ] as const)
    await ask(method, path, body)
  const ca = await ask('POST', '/cas', {
    name: 'mine',
    certPem: pemOf(weapons.authority),
    ...TRUSTED,
    externalIdClaim: CLAIM,
  })
  if (ca.status === 201) {
    const verificationToken = (await read(admin, `/cas/${ca.body.data.id}`)).verificationToken
    const { cert } = await clientOf(weapons.authority, verificationToken)
    answers.push(
      await api.send('POST', `/cas/${ca.body.data.id}/verify`, {
        body: cert,
        headers: { 'content-type': 'text/plain' },
      }),
    )
  }
  return answers
}

/** Every way in that the attack may have opened; the names of those that are open. */
async function waysIn(mounted: MountedController, { boss, keeper }: Target, { authority, idp }: Weapons) {
  const open: string[] = []
  const expect200 = async (name: string, answer: Promise<Answer>) => {
    if ((await answer).status === 200) open.push(name)
  }
  const anybody = foreignClient(mounted, CLIENT)
  for (const username of ['boss', 'stolen']) await expect200(username, login(mounted, { username, password: STOLEN }))
  for (const name of ['boss@idp', 'mallory@idp', boss.id, keeper.id]) {
    const certificate = await clientOf(authority, name)
    await expect200(
      `certificate of ${name}`,
      foreignClient(mounted, CLIENT, undefined, certificate).post('/authenticate?method=cert'),
    )
    for (const iss of [ISSUER, 'https://idp.example']) {
      const token = await idp.token(mounted.clock.now(), { iss, sub: name })
      const headers = { authorization: `Bearer ${token}` }
      await expect200(`token of ${iss} for ${name}`, anybody.send('POST', '/authenticate?method=ext-jwt', { headers }))
    }
  }
  return open
}

describe('A9: the permission', () => {
  const entities = PERMISSIONS.filter((permission) => !permission.includes('.'))

  it.each([...entities, 'everything'])(
    '%s yields no credential of an admin, by two rounds of every operation',
    async (permission) => {
      const scene = await target()
      const { mounted, admin, boss, keeper, secrets } = scene
      const own = await person(mounted, admin, 'mallory', {
        permissions: permission === 'everything' ? PERMISSIONS : [permission],
      })
      const armed = await weapons()
      const stateOf = async (id: string) => {
        const {
          updatedAt: _updatedAt,
          hasApiSession: _hasApiSession,
          ...state
        } = await read(admin, `/identities/${id}`)
        return state
      }
      const before = [await stateOf(boss.id), await stateOf(keeper.id)]
      const admins = async () =>
        (await admin.get('/identities?filter=isAdmin=true')).body.data.map(({ name }: { name: string }) => name)
      const adminsBefore = await admins()
      for (const round of [1, 2]) {
        const { management } = await apisOf(mounted, own)
        for (const answer of await attack(management, own, scene, armed)) {
          expect(answer.status, answer.text).toBeLessThan(500)
          expect(answer.text.includes(secrets.token) || answer.text.includes(secrets.jwt), `round ${round}`).toBe(false)
        }
      }
      expect([await stateOf(boss.id), await stateOf(keeper.id)]).toEqual(before)
      expect(await admins()).toEqual(adminsBefore)
      expect(await waysIn(mounted, scene, armed)).toEqual([])
      const { management } = await apisOf(mounted, own)
      expect((await management.post('/revocations', { id: own.id, type: 'IDENTITY' })).status).toBe(401)
    },
  )

  it('of nobody is needed for the same by an admin, so that the attack is one', async () => {
    const scene = await target()
    const { mounted, admin, boss } = scene
    const armed = await weapons()
    const answers = await attack(admin, boss, scene, armed)
    expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThan(15)
    const open = await waysIn(mounted, scene, armed)
    expect(open).toEqual(expect.arrayContaining(['stolen', `token of ${ISSUER} for ${scene.keeper.id}`]))
  })
})
