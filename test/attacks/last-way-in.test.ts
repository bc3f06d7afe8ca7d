import 'reflect-metadata'
import type { TestControllerOptions } from 'portcullis/testing'
import { expect, it } from 'vitest'
import {
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  MANAGEMENT,
  read,
} from '../contract/http/foreign-client.ts'
import { issueAuthority, pemOf } from '../support/certificates/certificates.ts'
import { mount } from '../support/mount.ts'
import { apisOf, authPolicy, login, person } from '../support/people.ts'
import { CLAIM, clientOf, newAuthority, now, registered } from '../support/third-party.ts'

/** A network whose only administrator, beside the default one that has lost its password, is the boss. */
async function soleAdministrator(options: TestControllerOptions = {}) {
  const mounted = await mount({ now, ...options })
  const first = await adminOf(mounted)
  const root = await read(first, '/current-identity')
  const boss = await person(mounted, first, 'boss', { isAdmin: true })
  const { management } = await apisOf(mounted, boss)
  const closeFirst = async (api: ForeignClient) => {
    const [password] = await read(api, `/identities/${root.id}/authenticators`)
    expect((await api.delete(`/authenticators/${password.id}`)).status).toBe(200)
  }
  return { mounted, boss, root: root.id, management, closeFirst }
}

const HOUR_MS = 3_600_000
const HUNDRED_YEARS = 52_560_000

it.each([1, 60, HUNDRED_YEARS])('the only administrator is not disabled for %s minutes', async (durationMinutes) => {
  const { mounted, boss, management, closeFirst } = await soleAdministrator()
  await closeFirst(management)
  const answer = await management.post(`/identities/${boss.id}/disable`, { durationMinutes })
  expect(answer.body.error, answer.text).toMatchObject({ code: 'ENTITY_CAN_NOT_BE_UPDATED' })
  expect((await login(mounted, boss)).status).toBe(200)
})

it('of administrators who are disabled for a minute one after the other, the last one stays', async () => {
  const { mounted, boss, root, management } = await soleAdministrator()
  const second = await person(mounted, management, 'second', { isAdmin: true })
  const disabled = []
  for (const id of [root, second.id, boss.id])
    disabled.push((await management.post(`/identities/${id}/disable`, { durationMinutes: 1 })).status)
  expect(disabled).toEqual([200, 200, 400])
  expect((await login(mounted, boss)).status).toBe(200)
})

it('who is disabled until later is no way in when the next administrator goes', async () => {
  const { mounted, boss, root, management } = await soleAdministrator()
  expect((await management.post(`/identities/${root}/disable`, { durationMinutes: HUNDRED_YEARS })).status).toBe(200)
  const closed = await create(management, '/auth-policies', authPolicy('closed', { allowed: false }))
  for (const [method, path, body] of [
    ['PATCH', `/identities/${boss.id}`, { isAdmin: false }],
    ['PATCH', '/auth-policies/default', { primary: { updb: { allowed: false } } }],
    ['PATCH', `/identities/${boss.id}`, { authPolicyId: closed }],
  ] as const) {
    const answer = await management.send(method, path, { body })
    expect(answer.body.error, `${method} ${path} ${answer.text}`).toMatchObject({ code: 'ENTITY_CAN_NOT_BE_UPDATED' })
  }
  expect((await login(mounted, boss)).status).toBe(200)
})

it.each([HUNDRED_YEARS, Number.MAX_SAFE_INTEGER])(
  'wrong passwords lock the last administrator for a minute where the policy says %s of them',
  async (lockoutDurationMinutes) => {
    for (const options of [{}, { compat: 'openziti' as const }]) {
      const { mounted, boss, management, closeFirst } = await soleAdministrator(options)
      await closeFirst(management)
      const forLong = { primary: { updb: { maxAttempts: 2, lockoutDurationMinutes } } }
      expect((await management.patch('/auth-policies/default', forLong)).status).toBe(200)
      for (const password of ['wrong 1', 'wrong 2']) await login(mounted, { username: 'boss', password })
      expect((await login(mounted, boss)).status).toBe(401)
      mounted.clock.advance(60_000)
      expect((await login(mounted, boss)).status).toBe(200)
    }
  },
)

it('a password that wrong ones locked for a short time keeps an administrator from nothing', async () => {
  const { mounted, management, closeFirst } = await soleAdministrator()
  await closeFirst(management)
  const forMinutes = { primary: { updb: { maxAttempts: 2, lockoutDurationMinutes: 30 } } }
  expect((await management.patch('/auth-policies/default', forMinutes)).status).toBe(200)
  for (const password of ['wrong 1', 'wrong 2']) await login(mounted, { username: 'boss', password })
  expect((await management.patch('/auth-policies/default', { primary: { updb: { maxAttempts: 9 } } })).status).toBe(200)
})

/** A signer with a pinned certificate that ends the given milliseconds from now. */
async function pinnedSigner(management: ForeignClient, endsInMs: number): Promise<string> {
  const certificate = await issueAuthority({ subject: `CN=signer ${endsInMs}`, notAfter: now + endsInMs })
  const signer = { audience: 'portcullis', enabled: true, useExternalId: true, certPem: pemOf(certificate) }
  const name = `signer for ${endsInMs} ms`
  return create(management, '/external-jwt-signers', { ...signer, name, issuer: name })
}

it('a signer whose certificate ends soon is no way in, one that is good for longer is', async () => {
  const { boss, management, closeFirst } = await soleAdministrator()
  await closeFirst(management)
  expect((await management.patch(`/identities/${boss.id}`, { externalId: 'boss' })).status).toBe(200)
  const noPasswords = { primary: { updb: { allowed: false } } }
  const forbid = async () => (await management.patch('/auth-policies/default', noPasswords)).status
  await pinnedSigner(management, -1)
  await pinnedSigner(management, HOUR_MS)
  expect(await forbid()).toBe(400)
  await pinnedSigner(management, HOUR_MS + 60_000)
  expect(await forbid()).toBe(200)
})

it('a second factor by a signer whose certificate ends soon, or that names nobody, shuts out', async () => {
  const { boss, management, closeFirst } = await soleAdministrator()
  await closeFirst(management)
  const [ended, good] = [await pinnedSigner(management, 1000), await pinnedSigner(management, 10 * HOUR_MS)]
  const demand = async (requireExtJwtSigner: string) =>
    (await management.patch('/auth-policies/default', { secondary: { requireExtJwtSigner } })).status
  expect(await demand(good)).toBe(400)
  expect((await management.patch(`/identities/${boss.id}`, { externalId: 'boss' })).status).toBe(200)
  expect(await demand(ended)).toBe(400)
  expect(await demand(good)).toBe(200)
})

it.each([
  ['as the host wants it', {}],
  ['with compat', { compat: 'openziti' as const }],
])('wrong passwords never lock the last administrator out for good, %s', async (_, options) => {
  const { mounted, boss, management, closeFirst } = await soleAdministrator(options)
  await closeFirst(management)
  const forGood = { primary: { updb: { maxAttempts: 2, lockoutDurationMinutes: 0 } } }
  expect((await management.patch('/auth-policies/default', forGood)).status).toBe(200)
  for (const password of ['wrong 1', 'wrong 2']) await login(mounted, { username: 'boss', password })
  expect((await login(mounted, boss)).status).toBe(401)
  mounted.clock.advance(60_000)
  expect((await login(mounted, boss)).status).toBe(200)
})

it('wrong passwords lock other administrators for good, and who is locked is no way in when the next one goes', async () => {
  const { mounted, boss, management, closeFirst } = await soleAdministrator()
  const forGood = { primary: { updb: { maxAttempts: 2, lockoutDurationMinutes: 0 } } }
  expect((await management.patch('/auth-policies/default', forGood)).status).toBe(200)
  for (const password of ['wrong 1', 'wrong 2']) await login(mounted, { username: 'boss', password })
  mounted.clock.advance(600_000)
  expect((await login(mounted, boss)).status).toBe(401)
  await expect(closeFirst(await adminOf(mounted))).rejects.toThrow()
  await adminOf(mounted)
})

it('the authority of the certificate by which alone an administrator logs in stays', async () => {
  const { mounted, boss, management, closeFirst } = await soleAdministrator()
  const authority = await newAuthority('of the keeper')
  const ca = await registered(management, authority)
  const invited = { name: 'keeper', type: 'User', isAdmin: true, enrollment: { ottca: ca } }
  const id = await create(management, '/identities', invited)
  const { token } = (await read(management, `/identities/${id}`)).enrollment.ottca
  const certificate = await clientOf(authority, 'keeper')
  const anybody = foreignClient(mounted, CLIENT, undefined, certificate)
  expect((await anybody.post(`/enroll?method=ottca&token=${token}`, {})).status).toBe(200)
  const loggedIn = () => anybody.post('/authenticate?method=cert', {})
  const keeper = foreignClient(mounted, MANAGEMENT, (await loggedIn()).body.data.token, certificate)
  await closeFirst(keeper)
  expect((await keeper.delete(`/identities/${boss.id}`)).status).toBe(200)
  for (const [method, body] of [
    ['PATCH', { isAuthEnabled: false }],
    ['PATCH', { externalIdClaim: CLAIM }],
    ['DELETE', undefined],
  ] as const) {
    const answer = await keeper.send(method, `/cas/${ca}`, { body })
    expect([400, 409], answer.text).toContain(answer.status)
    expect((await loggedIn()).status).toBe(200)
  }
  const own = foreignClient(mounted, '/portcullis/v1', keeper.token, certificate)
  expect((await own.put(`/trust-anchors/${ca}`, { mayAuthenticateAdmins: false })).status).toBe(400)
})

it.each([
  ['an authority that ends soon', HOUR_MS, {}],
  ['a certificate that has ended, under a policy that does not take it', 100 * HOUR_MS, { allowExpiredCerts: false }],
])('%s is no way in', async (_, endsInMs, cert) => {
  const { mounted, boss, management, closeFirst } = await soleAdministrator()
  const authority = await issueAuthority({ subject: 'CN=of the keeper', notAfter: now + endsInMs })
  const ca = await registered(management, authority)
  const invited = { name: 'keeper', type: 'User', isAdmin: true, enrollment: { ottca: ca } }
  const { token } = (await read(management, `/identities/${await create(management, '/identities', invited)}`))
    .enrollment.ottca
  const certificate = await clientOf(authority, 'keeper')
  const anybody = foreignClient(mounted, CLIENT, undefined, certificate)
  expect((await anybody.post(`/enroll?method=ottca&token=${token}`, {})).status).toBe(200)
  expect((await management.patch('/auth-policies/default', { primary: { cert } })).status).toBe(200)
  await closeFirst(management)
  mounted.clock.advance(endsInMs > HOUR_MS ? 50 * HOUR_MS : 0)
  const { management: again } = await apisOf(mounted, boss)
  expect((await again.patch(`/identities/${boss.id}`, { isAdmin: false })).status).toBe(400)
})
