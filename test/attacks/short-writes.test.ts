import { describe, expect, it } from 'vitest'
import { memoryStorage } from '../../adapters/memory/index.ts'
import { servicePolicies } from '../../src/resources/access/policies.ts'
import { sessions } from '../../src/resources/access/sessions.ts'
import { apiSessions } from '../../src/resources/login/api-sessions.ts'
import { services } from '../../src/resources/services/services.ts'
import { expectDone } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { copyRecord, countedWrites } from '../support/counted-writes.ts'
import { mount } from '../support/mount.ts'
import { apisOf, login, person } from '../support/people.ts'

/** More than one write does of anything, and as much as a test can wait for. */
const MANY = 450
/** What one write changes at most: its part of something long, and what goes with the end of it. */
const MOST = 250

/** A device with a session for a service, and as many sessions more. */
async function scene() {
  const storage = countedWrites(memoryStorage())
  const mounted = await mount({ storage, limits: { apiSessionsPerIdentity: 2 } })
  const admin = await adminOf(mounted)
  const type = await create(admin, '/config-types', { name: 't', schema: {} })
  const config = await create(admin, '/configs', { name: 'c', configTypeId: type, data: {} })
  const service = await create(admin, '/services', { name: 'web', roleAttributes: ['red'], configs: [config] })
  await create(admin, '/edge-routers', { name: 'router' })
  const all = { semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'], serviceRoles: ['#all'] }
  await create(admin, '/edge-router-policies', { name: 'e', ...all })
  await create(admin, '/service-edge-router-policies', { name: 's', ...all })
  const device = await person(mounted, admin, 'device')
  const roles = { identityRoles: [`@${device.id}`], serviceRoles: ['#red'] }
  const policy = await create(admin, '/service-policies', { name: 'p', type: 'Dial', semantic: 'AnyOf', ...roles })
  const { api } = await apisOf(mounted, device)
  const session = await create(api, '/sessions', { serviceId: service, type: 'Dial' })
  await copyRecord(storage, sessions, session, MANY, () => ({}))
  storage.take()
  const left = async () => (await admin.get('/sessions')).body.meta.pagination.totalCount
  return { storage, mounted, admin, api, device, policy, service, config, session, left }
}

type Scene = Awaited<ReturnType<typeof scene>>

function expectShort({ storage }: Scene, changes = MANY): void {
  const writes = storage.take()
  expect(Math.max(...writes), writes.join(' ')).toBeLessThanOrEqual(MOST)
  expect(writes.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(changes)
}

describe('what touches much takes many short writes', () => {
  it('the deletion of an identity with its sessions', async () => {
    const here = await scene()
    expectDone(await here.admin.delete(`/identities/${here.device.id}`))
    expectShort(here)
    expect(await here.left()).toBe(0)
  })

  it('the deletion of a service that many use', async () => {
    const here = await scene()
    expectDone(await here.admin.delete(`/services/${here.service}`))
    expectShort(here)
    expect(await here.left()).toBe(0)
  })

  it('the deletion of a config that many services have', async () => {
    const here = await scene()
    await copyRecord(here.storage, services, here.service, MANY, (position) => ({ name: `web ${position}` }))
    here.storage.take()
    expectDone(await here.admin.delete(`/configs/${here.config}`))
    expectShort(here)
    const found = await here.admin.get(`/services?filter=${encodeURIComponent('not isEmpty(configs)')}`)
    expect(found.body.data).toEqual([])
  })

  it('the deletion of an identity that many policies name', async () => {
    const here = await scene()
    await copyRecord(here.storage, servicePolicies, here.policy, MANY, (position) => ({ name: `p ${position}` }))
    here.storage.take()
    expectDone(await here.admin.delete(`/identities/${here.device.id}`))
    expectShort(here, 2 * MANY)
    const filter = `anyOf(identityRoles) = "@${here.device.id}"`
    expect((await here.admin.get(`/service-policies?filter=${encodeURIComponent(filter)}`)).body.data).toEqual([])
  })

  it.each<[string, (here: Scene) => Promise<unknown>]>([
    ['the policy is deleted', ({ admin, policy }) => admin.delete(`/service-policies/${policy}`)],
    [
      'the policy selects others',
      ({ admin, policy }) => admin.patch(`/service-policies/${policy}`, { serviceRoles: [] }),
    ],
    [
      'the service loses its role attribute',
      ({ admin, service }) => admin.patch(`/services/${service}`, { roleAttributes: [] }),
    ],
  ])('the end of many sessions, when %s', async (_, change) => {
    const here = await scene()
    const lost: string[] = []
    here.mounted.controller.events.on('session.ended', ({ sessionId }) => lost.push(sessionId))
    await change(here)
    expectShort(here)
    expect(await here.left()).toBe(0)
    expect(new Set(lost).size).toBe(MANY + 1)
  })

  it('a login for which an API session with many sessions ends', async () => {
    const here = await scene()
    await here.mounted.clock.advance(1000)
    for (let count = 0; count < 2; count += 1) {
      const { body } = await login(here.mounted, here.device)
      expect((await foreignClient(here.mounted, CLIENT, body.data.token).get('/current-api-session')).status).toBe(200)
    }
    expectShort(here)
    expect(await here.left()).toBe(0)
  })

  it('the revocation of the tokens of an identity with many sessions', async () => {
    const here = await scene()
    const { apiSessionId } = await read(here.admin, `/sessions/${here.session}`)
    await here.storage.write(async (tx) => {
      const known = await tx.collection(apiSessions).get(apiSessionId)
      if (known === undefined) throw new Error('no API session')
      await tx.collection(apiSessions).update({ ...known, tokensExpireAt: here.mounted.clock.now() + 1000 })
    })
    await create(here.admin, '/revocations', { id: here.device.id, type: 'IDENTITY' })
    expectShort(here)
    expect(await here.left()).toBe(0)
  })

  it('the end of an API session with many sessions', async () => {
    const here = await scene()
    const { apiSessionId } = await read(here.admin, `/sessions/${here.session}`)
    expectDone(await here.admin.delete(`/api-sessions/${apiSessionId}`))
    expectShort(here)
    expect(await here.left()).toBe(0)
  })
})
