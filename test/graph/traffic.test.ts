import type { ServiceConnection } from 'portcullis/sdk'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const MODEL = {
  identities: [
    { name: 'anna', type: 'Device', isAdmin: false, roleAttributes: ['staff'] },
    { name: 'ben', type: 'Device', isAdmin: false, roleAttributes: ['staff'] },
    { name: 'host', type: 'Service', isAdmin: false },
  ],
  services: [{ name: 'wiki' }, { name: 'payroll' }],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['#all'] },
    { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@host'], serviceRoles: ['#all'] },
  ],
} as const

/** Connections that are cut say so; nobody listens here. */
const QUIET = () => undefined

/** A network in which anna has two circuits to the wiki, and ben one to payroll. */
async function scene() {
  const net = await createTestController(await withSharedPki({ router: true, model: MODEL }))
  onTestFinished(() => net.close())
  for (const service of ['wiki', 'payroll'])
    await net.as('host').host(service, (connection: ServiceConnection) => void connection.on('error', QUIET))
  for (const [who, service] of [
    ['anna', 'wiki'],
    ['anna', 'wiki'],
    ['ben', 'payroll'],
  ] as const) {
    ;(await net.as(who).dial(service)).on('error', QUIET)
    net.clock.advance(1000)
  }
  const idOf = async (route: 'GET /identities' | 'GET /services', name: string) =>
    (await net.admin.call(route, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
  const login = { query: { method: 'password' as const }, body: TEST_ADMIN }
  const { token } = (await net.management.call('POST /authenticate', login)).data
  return { net, idOf, api: ownApi(net, token) }
}

describe('GET /traffic', () => {
  it('shows routers and circuits as they are now, and who talks to whom', async () => {
    const { net, api } = await scene()
    const { data } = await api.call('GET /traffic')
    expect(data).toMatchObject({
      isOpen: true,
      counts: { routers: 1, routersOnline: 1, links: 0, circuits: 3 },
      routers: [{ name: 'router', kind: 'edge-routers', isOnline: true, isEnrolled: true, circuits: 3 }],
      links: [],
      flows: [
        { identity: { name: 'anna' }, service: { name: 'wiki' }, routers: [{ id: net.router.id }], circuits: 2 },
        { identity: { name: 'ben' }, service: { name: 'payroll' }, circuits: 1 },
      ],
      nextCursor: null,
    })
    expect(
      data.circuits.map(({ identity, service, host, path }) => [identity.name, service.name, host?.name, path.length]),
    ).toEqual([
      ['ben', 'payroll', 'host', 1],
      ['anna', 'wiki', 'host', 1],
      ['anna', 'wiki', 'host', 1],
    ])
  })

  it('shows those of one identity, service or router, page by page', async () => {
    const { api, idOf } = await scene()
    const counted = async (query: object) => (await api.call('GET /traffic', { query })).data.counts.circuits
    expect(await counted({ identity: await idOf('GET /identities', 'anna') })).toBe(2)
    // A host has the traffic of its clients.
    expect(await counted({ identity: await idOf('GET /identities', 'host') })).toBe(3)
    expect(await counted({ service: await idOf('GET /services', 'payroll') })).toBe(1)
    expect(await counted({ router: 'unknown' })).toBe(0)
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { limit: '1', ...(cursor !== undefined && { cursor }) }
      const { data } = await api.call('GET /traffic', { query })
      seen.push(...data.circuits.map(({ id }) => id))
      cursor = data.nextCursor
    }
    expect(new Set(seen).size).toBe(3)
    expect(seen).toHaveLength(3)
    await expect(api.call('GET /traffic', { query: { cursor: 'x' } })).rejects.toMatchObject({
      details: { field: 'cursor' },
    })
  })

  it('counts the bytes of circuits both ways, and says how many a second', async () => {
    const { net, api, idOf } = await scene()
    const connection = await net.as('anna').dial('wiki')
    connection.on('error', QUIET).write(Buffer.alloc(60_000))
    const anna = await idOf('GET /identities', 'anna')
    const read = async () => (await api.call('GET /traffic', { query: { identity: anna } })).data
    await vi.waitFor(
      async () => {
        await net.elapse(15_000)
        expect((await read()).circuits[0]?.bytes).toBe(60_000)
      },
      { timeout: 20_000, interval: 200 },
    )
    const { counts, circuits, flows, routers } = await read()
    expect(counts.history.reduce((sum, bytes) => sum + bytes, 0)).toBe(60_000)
    expect(circuits.map(({ bytes, latencyMs }) => [bytes, latencyMs])).toEqual([
      [60_000, 0],
      [0, 0],
      [0, 0],
    ])
    expect(counts.bytesPerSecond).toBeGreaterThan(0)
    expect([flows[0]?.bytesPerSecond, routers[0]?.bytesPerSecond]).toEqual([
      counts.bytesPerSecond,
      counts.bytesPerSecond,
    ])
    await net.elapse(120_000)
    expect((await read()).counts.bytesPerSecond).toBe(0)
    // The half hour goes on to count what has ended.
    connection.destroy()
    await vi.waitFor(async () => expect((await read()).circuits).toHaveLength(2))
    const carried = async () => (await read()).counts.history.reduce((sum, bytes) => sum + bytes, 0)
    expect(await carried()).toBe(60_000)
    for (const ms of [1_200_000, 900_000]) {
      await net.elapse(ms)
      await read()
    }
    expect(await carried()).toBe(0)
  })

  it('shows no circuit that was cut', async () => {
    const { api } = await scene()
    const [circuit] = (await api.call('GET /traffic')).data.circuits
    await api.call('DELETE /circuits/{id}', { params: { id: circuit?.id ?? '' }, body: { immediate: true } })
    expect((await api.call('GET /traffic')).data.counts.circuits).toBe(2)
  })
})
