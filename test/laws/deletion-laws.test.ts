import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectUnknown } from '../contract/http/errors.ts'
import { CLIENT, create, type ForeignClient, foreignClient, read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { network } from '../support/network.ts'
import { login, person } from '../support/people.ts'

const HOUR_MS = 3_600_000

/** A session of somebody who may dial a service, with the API session that it belongs to. */
async function session(mounted: MountedController, admin: ForeignClient) {
  const all = { semantic: 'AnyOf', identityRoles: ['#all'] }
  const serviceId = await create(admin, '/services', { name: 'web', encryptionRequired: true })
  await create(admin, '/service-policies', { name: 'all', type: 'Dial', serviceRoles: ['#all'], ...all })
  await create(admin, '/edge-routers', { name: 'router' })
  await create(admin, '/edge-router-policies', { name: 'all', edgeRouterRoles: ['#all'], ...all })
  const routers = { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#all'] }
  await create(admin, '/service-edge-router-policies', routers)
  const { username, password } = await person(mounted, admin, 'alice')
  const { body } = await login(mounted, { username, password })
  const own = foreignClient(mounted, CLIENT, body.data.token)
  return { own, apiSessionId: String(body.data.id), id: await create(own, '/sessions', { serviceId, type: 'Dial' }) }
}

async function ofSession() {
  const here = await network()
  return { ...here, ...(await session(here.mounted, here.admin)) }
}

describe('what only authentication and use make', () => {
  it('a session is gone once it is deleted', async () => {
    const { admin, id, own } = await ofSession()
    expect(await read(admin, `/sessions/${id}`)).toMatchObject({ id })
    expectDone(await admin.delete(`/sessions/${id}`))
    expectUnknown(await admin.get(`/sessions/${id}`), 'session', id)
    expectUnknown(await admin.delete(`/sessions/${id}`), 'session', id)
    expectUnknown(await own.get(`/sessions/${id}`), 'session', id)
  })

  it('an API session is gone once it is deleted, with its sessions and its rights', async () => {
    const { admin, apiSessionId, id, own } = await ofSession()
    expect(await read(admin, `/api-sessions/${apiSessionId}`)).toMatchObject({ id: apiSessionId })
    expectDone(await admin.delete(`/api-sessions/${apiSessionId}`))
    expectUnknown(await admin.get(`/api-sessions/${apiSessionId}`), 'api session', apiSessionId)
    expectUnknown(await admin.delete(`/api-sessions/${apiSessionId}`), 'api session', apiSessionId)
    expectUnknown(await admin.get(`/sessions/${id}`), 'session', id)
    expectError(await own.get('/current-api-session'), 'UNAUTHORIZED')
  })

  it('an enrollment is gone once it is deleted', async () => {
    const { admin, mounted } = await ofSession()
    const identityId = await create(admin, '/identities', { name: 'bob', type: 'User', isAdmin: false })
    const expiresAt = new Date(mounted.clock.now() + HOUR_MS).toISOString()
    const id = await create(admin, '/enrollments', { identityId, method: 'ott', expiresAt })
    expectDone(await admin.delete(`/enrollments/${id}`))
    expectUnknown(await admin.get(`/enrollments/${id}`), 'enrollment', id)
    expectUnknown(await admin.delete(`/enrollments/${id}`), 'enrollment', id)
    expectUnknown(await admin.post(`/enrollments/${id}/refresh`, { expiresAt }), 'enrollment', id)
  })

  it('a revocation outlasts everything but its time: it knows no other verb than GET', async () => {
    const { admin } = await ofSession()
    const id = await create(admin, '/revocations', { id: randomUUID(), type: 'JTI' })
    const before = await read(admin, `/revocations/${id}`)
    for (const verb of ['PUT', 'PATCH', 'DELETE']) {
      expectError(await admin.send(verb, `/revocations/${id}`, { body: { type: 'JTI' } }), 'METHOD_NOT_ALLOWED')
    }
    expect(await read(admin, `/revocations/${id}`)).toEqual(before)
    expectUnknown(await admin.get('/revocations/unknown'), 'revocation', 'unknown')
  })
})

describe('an enrollment that is refreshed', () => {
  it('changes in its time and its token only', async () => {
    const { admin, mounted } = await ofSession()
    const identityId = await create(admin, '/identities', { name: 'bob', type: 'User', isAdmin: false })
    const expiresAt = new Date(mounted.clock.now() + HOUR_MS).toISOString()
    const id = await create(admin, '/enrollments', { identityId, method: 'ott', expiresAt })
    const before = await read(admin, `/enrollments/${id}`)
    const later = new Date(mounted.clock.advance(60_000) + 2 * HOUR_MS).toISOString()
    const forged = { id: 'forged', method: 'updb', token: 'forged', identityId: 'forged', createdAt: expiresAt }
    const answer = await admin.post(`/enrollments/${id}/refresh`, { expiresAt: later, ...forged })
    expect([answer.status, answer.body.data.id]).toEqual([200, id])
    const after = await read(admin, `/enrollments/${id}`)
    expect(after).toMatchObject({ id, expiresAt: later, method: 'ott', identityId })
    const { expiresAt: _e, updatedAt: _u, token: _t, jwt: _j, ...others } = after
    expect(before).toMatchObject(others)
    expect(after.token).not.toBe('forged')
  })
})
