import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { sqliteStorage } from 'portcullis/kysely'
import { FakeRouter } from 'portcullis/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fabricWorld, joinedProcesses } from './fabric-world.ts'

const FABRIC = '/fabric/v1'

it('services are made, changed and deleted, and keep what the fabric API does not know', async () => {
  const world = await fabricWorld()
  const id = await world.create(`${FABRIC}/services`, { name: 'web', terminatorStrategy: 'weighted' })
  await world.call('PATCH', `/services/${id}`, { roleAttributes: ['public'] })
  await world.call('PATCH', `${FABRIC}/services/${id}`, { maxIdleTimeMillis: 3000 })
  expect(await world.call('GET', `/services/${id}`)).toMatchObject({
    name: 'web',
    terminatorStrategy: 'weighted',
    maxIdleTimeMillis: 3000,
    roleAttributes: ['public'],
  })
  await world.call('PUT', `${FABRIC}/services/${id}`, { name: 'site' })
  expect(await world.call('GET', `${FABRIC}/services/${id}`)).toMatchObject({
    name: 'site',
    terminatorStrategy: 'smartrouting',
    maxIdleTimeMillis: 0,
    roleAttributes: ['public'],
  })
  await world.call('DELETE', `${FABRIC}/services/${id}`)
  await expect(world.call('GET', `${FABRIC}/services/${id}`)).rejects.toThrow('404')
})

it.each(['edge-routers', 'transit-routers'])('%s are changed and deleted', async (kind) => {
  const world = await fabricWorld()
  const id = await world.create(`/${kind}`, { name: 'r1' })
  await world.call('PATCH', `${FABRIC}/routers/${id}`, { cost: 7 })
  expect(await world.call('GET', `${FABRIC}/routers/${id}`)).toMatchObject({ name: 'r1', cost: 7, noTraversal: false })
  await world.call('PUT', `${FABRIC}/routers/${id}`, { name: 'r2', noTraversal: true })
  expect(await world.call('GET', `/${kind}/${id}`)).toMatchObject({ name: 'r2', cost: 0, noTraversal: true })
  await world.call('DELETE', `${FABRIC}/routers/${id}`)
  await expect(world.call('PATCH', `${FABRIC}/routers/${id}`, { cost: 1 })).rejects.toThrow('404')
})

it('a router that is made is a transit router, which enrolls by a token', async () => {
  const world = await fabricWorld()
  const id = await world.create(`${FABRIC}/routers`, { name: 'r1', tags: {}, cost: 9, noTraversal: true })
  expect(await world.call('GET', `${FABRIC}/routers/${id}`)).toMatchObject({
    name: 'r1',
    cost: 9,
    noTraversal: true,
    fingerprint: '',
  })
  expect(await world.call('GET', `/transit-routers/${id}`)).toMatchObject({
    isVerified: false,
    enrollmentJwt: expect.any(String),
  })
})

describe('a router that is made for a certificate, as `ziti fabric create router` asks', () => {
  /** A world, and a router that enrolled, with the fingerprint of its certificate. */
  const enrolled = async () => {
    const world = await fabricWorld()
    const router = await world.enroll('lost')
    const { fingerprint = '' } = await world.call('GET', `${FABRIC}/routers/${router.id}`)
    return {
      world,
      router,
      fingerprint: String(fingerprint),
      forget: () => world.call('DELETE', `/edge-routers/${router.id}`),
    }
  }

  it('connects by it under the given id, without an enrollment', async () => {
    const { world, router, fingerprint, forget } = await enrolled()
    await forget()
    expect(await new FakeRouter(router, world.listener).connect()).toMatchObject({ reason: 'unknown' })
    const asked = {
      id: router.id,
      name: 'lost',
      fingerprint: fingerprint.toUpperCase(),
      tags: {},
      cost: 9,
      disabled: false,
    }
    expect(await world.create(`${FABRIC}/routers`, asked)).toBe(router.id)
    expect(await new FakeRouter(router, world.listener).connect()).toMatchObject({ accepted: true })
    expect(await world.call('GET', `/transit-routers/${router.id}`)).toMatchObject({
      isOnline: true,
      fingerprint,
      cost: 9,
    })
    expect(
      await world.call('GET', `/enrollments?filter=${encodeURIComponent(`transitRouter = "${router.id}"`)}`),
    ).toEqual([])
  })

  it('does not connect by another certificate', async () => {
    const { world, router, forget } = await enrolled()
    await forget()
    await world.create(`${FABRIC}/routers`, { id: router.id, name: 'r1', fingerprint: 'ab'.repeat(20) })
    expect(await new FakeRouter(router, world.listener).connect()).toMatchObject({ reason: 'wrong-fingerprint' })
  })

  it('is refused by the name of the field where another router has the id, the certificate or the name, and half named', async () => {
    const { world, router, fingerprint } = await enrolled()
    const refused = (asked: object, field: string) =>
      expect(world.create(`${FABRIC}/routers`, { name: 'r1', ...asked })).rejects.toThrow(
        new RegExp(`400.*"field":"${field}"`, 's'),
      )
    await refused({ id: router.id, fingerprint: 'ab'.repeat(20) }, 'id')
    await refused({ id: 'other', fingerprint }, 'fingerprint')
    await refused({ id: 'other', fingerprint: 'ab'.repeat(20), name: 'lost' }, 'name')
    await refused({ id: 'other' }, 'fingerprint')
    await refused({ fingerprint }, 'id')
    await refused({ id: 'other', fingerprint: 'not one' }, 'fingerprint')
    await refused({ id: '../other', fingerprint }, 'id')
    await world.create(`${FABRIC}/routers`, { id: 'other', fingerprint: 'ab'.repeat(20), name: 'r1' })
    await refused({ id: 'other', fingerprint: 'cd'.repeat(20), name: 'r2' }, 'id')
    await refused({ id: 'another', fingerprint: 'ab'.repeat(20), name: 'r2' }, 'fingerprint')
    expect(await world.call('GET', `${FABRIC}/routers`)).toHaveLength(2)
  })

  it('keeps its certificate: a change to another one is refused', async () => {
    const { world, router, fingerprint } = await enrolled()
    const patch = (change: object) => world.call('PATCH', `${FABRIC}/routers/${router.id}`, change)
    await expect(patch({ fingerprint: 'ab'.repeat(20) })).rejects.toThrow(/400.*fingerprint/s)
    await patch({ fingerprint, cost: 7 })
    expect(await world.call('GET', `${FABRIC}/routers/${router.id}`)).toMatchObject({ fingerprint, cost: 7 })
  })
})

it('terminators are made, changed and deleted; nobody says of another that it hosts', async () => {
  const world = await fabricWorld()
  const service = await world.create('/services', { name: 'web', encryptionRequired: false })
  const router = await world.create('/edge-routers', { name: 'r1' })
  const facts = { service, router, binding: 'transport', address: 'tcp:127.0.0.1:80' }
  const id = await world.create(`${FABRIC}/terminators`, { ...facts, instanceId: 'a', cost: 3 })
  await world.call('PATCH', `${FABRIC}/terminators/${id}`, { precedence: 'required' })
  expect(await world.call('GET', `${FABRIC}/terminators/${id}`)).toMatchObject({
    address: 'tcp:127.0.0.1:80',
    cost: 3,
    precedence: 'required',
    instanceId: 'a',
  })
  await expect(world.create(`${FABRIC}/terminators`, { ...facts, hostId: 'somebody' })).rejects.toThrow('hostId')
  await world.call('DELETE', `${FABRIC}/terminators/${id}`)
  await expect(world.call('GET', `${FABRIC}/terminators/${id}`)).rejects.toThrow('404')
})

it.each(['cluster/list-members', 'raft/list-members', 'raft/members'])(
  'the processes over the store are its members: %s',
  async (path) => {
    const world = await fabricWorld()
    const members = await world.call('GET', `${FABRIC}/${path}`)
    expect(members).toMatchObject([{ address: 'tls:controller.test:6262', voter: true, leader: true, connected: true }])
  },
)

it('one of several processes is the leader, whichever is asked', async () => {
  const { processOf, elapse } = await joinedProcesses(['here', 'there'])
  for (const name of ['here', 'there'] as const) await processOf(name).router(`router of ${name}`)
  await vi.waitFor(async () => {
    await elapse(1000)
    for (const name of ['here', 'there'] as const) {
      expect(await processOf(name).call('GET', `${FABRIC}/cluster/list-members`)).toHaveLength(2)
    }
  })
  const leaders = async (name: 'here' | 'there') => {
    const members = await processOf(name).call('GET', `${FABRIC}/cluster/list-members`)
    return Object.values(members).filter((member) => Object(member).leader)
  }
  expect(await leaders('here')).toHaveLength(1)
  expect(await leaders('there')).toEqual(await leaders('here'))
})

it('snapshots lie where the storage puts them, which is told', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-snapshot-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const world = await fabricWorld({}, { storage: await sqliteStorage(join(folder, 'live.db')) })
  const { path } = await world.call('POST', `${FABRIC}/database/snapshot`)
  expect(readdirSync(folder)).toContain(basename(String(path)))
  await expect(world.call('POST', `${FABRIC}/database/snapshot`, { path: '/etc/passwd' })).rejects.toThrow('path')
})
