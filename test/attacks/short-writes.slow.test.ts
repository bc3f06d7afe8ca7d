import { decodeJwt } from 'jose'
import { memoryStorage } from 'portcullis/memory'
import type { RecordKind, StoredRecord } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { expectDone, expectFieldError } from '../contract/http/errors.ts'
import {
  type Answer,
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  read,
} from '../contract/http/foreign-client.ts'
import { copyRecord, countedWrites } from '../support/counted-writes.ts'
import { mount } from '../support/mount.ts'
import { openIdTokens, refresh, type Tokens } from '../support/openid.ts'
import { apisOf, login, person } from '../support/people.ts'
import { apiSessions, identities, servicePolicies, services, sessions } from '../support/stored-records.ts'

/** More than one write does of anything, and as much as a test can wait for. */
const MANY = 450
/** The most that one write changes: its part of something long, and what goes with the end of it. */
const MOST = 150

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
  const { apiSessionId }: { apiSessionId: string } = await read(admin, `/sessions/${session}`)
  return { storage, mounted, admin, api, apiSessionId, device, policy, service, config, session, left }
}

type Scene = Awaited<ReturnType<typeof scene>>

async function changeRecord<T extends StoredRecord>(
  { storage }: Pick<Scene, 'storage'>,
  kind: RecordKind<T>,
  id: string,
  change: Partial<T>,
): Promise<void> {
  await storage.write(async (tx) => {
    const known = await tx.collection(kind).get(id)
    if (known === undefined) throw new Error(`no ${kind.name} ${id}`)
    await tx.collection(kind).update({ ...known, ...change })
  })
  storage.take()
}

/** The API session of the device began by a token of a signer. */
function vouchedByThirdParty(here: Scene): Promise<void> {
  return changeRecord(here, apiSessions, here.apiSessionId, { authenticatorId: 'extJwtId:signer' })
}

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
    await changeRecord(here, apiSessions, here.apiSessionId, { tokensExpireAt: here.mounted.clock.now() + 1000 })
    await create(here.admin, '/revocations', { id: here.device.id, type: 'IDENTITY' })
    expectShort(here)
    expect(await here.left()).toBe(0)
  })

  it('the promotion of an identity for whose many sessions a third party vouched', async () => {
    const here = await scene()
    await vouchedByThirdParty(here)
    expectDone(await here.admin.patch(`/identities/${here.device.id}`, { isAdmin: true }))
    expectShort(here)
    expect(await here.left()).toBe(0)
  })

  it('the deletion of a service for which many identities have costs', async () => {
    const here = await scene()
    expectDone(await here.admin.patch(`/identities/${here.device.id}`, { serviceHostingCosts: { [here.service]: 7 } }))
    await copyRecord(here.storage, identities, here.device.id, MANY, (position) => ({ name: `host ${position}` }))
    here.storage.take()
    expectDone(await here.admin.delete(`/services/${here.service}`))
    expectShort(here, 2 * MANY)
    expect((await read(here.admin, `/identities/${here.device.id}-7`)).serviceHostingCosts).toEqual({})
  })

  it.each<[string, (here: Scene, router: string) => Promise<Answer>]>([
    [
      'taking the tunneler away',
      ({ admin }, router) => admin.patch(`/edge-routers/${router}`, { isTunnelerEnabled: false }),
    ],
    ['deletion', ({ admin }, router) => admin.delete(`/edge-routers/${router}`)],
  ])('the %s of an edge router whose identity has many sessions', async (_, change) => {
    const here = await scene()
    const router = await create(here.admin, '/edge-routers', { name: 'tunneler', isTunnelerEnabled: true })
    await changeRecord(here, apiSessions, here.apiSessionId, { identityId: router })
    await here.storage.write(async (tx) => {
      for (const session of (await tx.collection(sessions).find()).items) {
        await tx.collection(sessions).update({ ...session, identityId: router })
      }
    })
    here.storage.take()
    expectDone(await change(here, router))
    expectShort(here)
    expect(await here.left()).toBe(0)
    expect((await here.admin.get(`/identities/${router}`)).status).toBe(404)
  })

  it.each<[string, (mounted: Scene['mounted'], tokens: Tokens) => Promise<Response>]>([
    ['a logout', (mounted, { id_token }) => mounted.fetch(`/oidc/end_session?id_token_hint=${id_token}`)],
    [
      'the second use of a refresh token',
      async (mounted, { refresh_token }) => {
        expect((await refresh(mounted, refresh_token)).status).toBe(200)
        // Within the time of grace it is answered again.
        mounted.clock.advance(10_000)
        return refresh(mounted, refresh_token)
      },
    ],
  ])('%s of an API session made of tokens that has many sessions', async (_, end) => {
    const here = await scene()
    const tokens = await openIdTokens(here.mounted, here.device)
    const { z_asid: apiSessionId } = decodeJwt(tokens.access_token)
    await here.storage.write(async (tx) => {
      for (const session of (await tx.collection(sessions).find()).items) {
        await tx.collection(sessions).update({ ...session, apiSessionId: String(apiSessionId) })
      }
    })
    here.storage.take()
    await end(here.mounted, tokens)
    expectShort(here)
    expect(await here.left()).toBe(0)
  })

  it('the configs of an identity for many services', async () => {
    const here = await scene()
    await copyRecord(here.storage, services, here.service, MANY, (position) => ({ name: `web ${position}` }))
    here.storage.take()
    const configId = here.config
    const pairs = Array.from({ length: MANY }, (_, n) => ({ serviceId: `${here.service}-${n}`, configId }))
    const path = `/identities/${here.device.id}/service-configs`
    const headers = { 'content-type': 'application/json' }
    const remove = (list: readonly object[]) => here.admin.send('DELETE', path, { body: JSON.stringify(list), headers })
    expectDone(await here.admin.post(path, pairs))
    expectShort(here)
    expect((await remove([...pairs, { serviceId: here.service, configId: 'none' }])).status).toBe(404)
    expect(await read(here.admin, `${path}?limit=500`)).toHaveLength(MANY)
    expectDone(await remove(pairs))
    expectShort(here)
    expect(await read(here.admin, `${path}?limit=500`)).toEqual([])
  })

  it('the end of an API session with many sessions', async () => {
    const here = await scene()
    expectDone(await here.admin.delete(`/api-sessions/${here.apiSessionId}`))
    expectShort(here)
    expect(await here.left()).toBe(0)
  })
})

describe('what is refused in the end takes nothing away before', () => {
  const STRONGER = { permissions: ['service', 'router'] }

  it.each<[string, string[], (here: Scene, management: ForeignClient) => Promise<Answer>]>([
    ['deleting an identity', ['identity'], (here, api) => api.delete(`/identities/${here.device.id}`)],
    [
      'changing its password',
      ['identity'],
      async (here, api) => {
        const [{ id }] = await read(here.admin, `/identities/${here.device.id}/authenticators`)
        return api.patch(`/authenticators/${id}`, { password: 'Other-Horse-2' })
      },
    ],
    [
      'inviting it anew',
      ['identity', 'enrollment'],
      async (here, api) => {
        const [{ id }] = await read(here.admin, `/identities/${here.device.id}/authenticators`)
        const expiresAt = new Date(here.mounted.clock.now() + 60_000).toISOString()
        return api.post(`/authenticators/${id}/re-enroll`, { expiresAt })
      },
    ],
  ])('%s that has more rights', async (_, permissions, act) => {
    const here = await scene()
    expectDone(await here.admin.patch(`/identities/${here.device.id}`, STRONGER))
    const delegate = await person(here.mounted, here.admin, 'delegate', { permissions })
    const { management } = await apisOf(here.mounted, delegate)
    const before = await here.left()
    expect((await act(here, management)).status).toBe(401)
    expect(await here.left()).toBe(before)
  })

  it('promoting an identity under a name that is taken', async () => {
    const here = await scene()
    await vouchedByThirdParty(here)
    await person(here.mounted, here.admin, 'somebody')
    const before = await here.left()
    const refused = await here.admin.patch(`/identities/${here.device.id}`, { isAdmin: true, name: 'somebody' })
    expectFieldError(refused, 'name')
    expect(await here.left()).toBe(before)
  })
})
