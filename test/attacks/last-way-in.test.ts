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
import { mount } from '../support/mount.ts'
import { apisOf, login, person } from '../support/people.ts'
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
  return { mounted, boss, management, closeFirst }
}

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
})
