import { routerSide } from 'portcullis/fabric'
import { bodyOf, type EnrolledRouter, FakeRouter } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { dial, type FabricWorld, fabricWorld, host, reportLinks, tunnelNetwork, twoProcesses } from './fabric-world.ts'
import { unroutes } from './sdk-world.ts'

const { CONTENT_TYPE, Fault, PeerStateChanges } = routerSide
const TUNNELER = { isTunnelerEnabled: true }
/** A change by another process is noticed within it, ms. */
const NOTICED_MS = 2000

type Ends = (world: FabricWorld, id: string) => Promise<unknown>
const SHUT_OUT: readonly (readonly [string, Ends])[] = [
  ['disabled', (world, id) => world.call('PATCH', `/edge-routers/${id}`, { disabled: true })],
  ['deleted', (world, id) => world.call('DELETE', `/edge-routers/${id}`)],
  ['to enroll anew', (world, id) => world.call('POST', `/edge-routers/${id}/re-enroll`)],
]

/** Routers that are connected to a process: a client and a server with a router between them, and a circuit over it. */
async function connected(operators: FabricWorld, world: FabricWorld) {
  const { serviceId, dial: dialPolicy } = await tunnelNetwork(operators)
  const enrolled = new Map<string, EnrolledRouter>()
  const connect = async (name: string) => {
    const known = enrolled.get(name) ?? (await operators.enroll(name, TUNNELER))
    enrolled.set(name, known)
    const router = new FakeRouter(known, world.listener)
    expect(await router.connect()).toMatchObject({ accepted: true })
    return router
  }
  const [client, between, server] = [await connect('client'), await connect('between'), await connect('server')]
  reportLinks(between, [
    ['to-client', client],
    ['to-server', server],
  ])
  await host(server, serviceId)
  await links(world, 2)
  const { circuitId, refused } = await dial(client)
  expect(refused).toBeUndefined()
  return { client, between, server, circuitId, dialPolicy, connect }
}

const links = (world: FabricWorld, count: number) =>
  vi.waitFor(async () => expect(Object.keys(await world.call('GET', '/fabric/v1/links'))).toHaveLength(count))

const removedAt = (router: FakeRouter) =>
  router
    .all(CONTENT_TYPE.peerStateChange)
    .flatMap((frame) => PeerStateChanges.decode(bodyOf(frame)).changes)
    .filter((change) => change?.state === 'removed')
    .map((change) => change?.id)

/** The links that a router was told are over. */
const faultsAt = (router: FakeRouter) => router.all(CONTENT_TYPE.fault).map((frame) => Fault.decode(bodyOf(frame)).id)

/** Whether a router heard that another one is gone before it heard that the link to it is over. */
function isToldOfLossFirst(router: FakeRouter): boolean {
  const isLoss = (frame: routerSide.Frame) =>
    frame.contentType === CONTENT_TYPE.peerStateChange &&
    PeerStateChanges.decode(bodyOf(frame)).changes.some((change) => change?.state === 'removed')
  const fault = router.received.findIndex(({ contentType }) => contentType === CONTENT_TYPE.fault)
  return router.received.slice(0, fault).some(isLoss)
}

describe.each(SHUT_OUT)('a router that is %s', (_name, end) => {
  it('forgets its circuits before its channel is closed, and those on their way through it take another', async () => {
    const world = await fabricWorld()
    const { client, between, server, circuitId } = await connected(world, world)
    reportLinks(client, [['direct', server]])
    await links(world, 3)
    await end(world, between.id)
    await vi.waitFor(() => {
      expect(world.told('circuit.moved')).toMatchObject([{ circuitId, path: [client.id, server.id] }])
      expect(between.isClosed).toBe(true)
    })
    expect(unroutes(between)).toContainEqual({ circuitId, now: true })
    expect(unroutes(client)).toEqual([])
    for (const peer of [client, server]) {
      await vi.waitFor(() => expect(new Set(removedAt(peer))).toEqual(new Set([between.id])))
    }
    // Real routers close a link for its fault, and dial again whom they do not know to be gone by then.
    expect([faultsAt(client), faultsAt(server)]).toEqual([['to-client'], ['to-server']])
    expect(isToldOfLossFirst(client)).toBe(true)
    expect(isToldOfLossFirst(server)).toBe(true)
    await links(world, 1)
  })

  it('takes the circuits with it for which there is no other way, and those that end there', async () => {
    const world = await fabricWorld()
    const { client, between, circuitId } = await connected(world, world)
    await end(world, between.id)
    await vi.waitFor(() => expect(unroutes(client)).toEqual([{ circuitId, now: true }]))
    const again = await fabricWorld()
    const ends = await connected(again, again)
    await end(again, ends.server.id)
    await vi.waitFor(() => expect(unroutes(ends.client)).toEqual([{ circuitId: ends.circuitId, now: true }]))
    expect(unroutes(ends.server)).toEqual([{ circuitId: ends.circuitId, now: true }])
    expect(await again.call('GET', '/fabric/v1/circuits')).toEqual([])
  })

  it('carries nothing new of another process at once, and nothing at all two seconds later', async () => {
    const { here, there } = await twoProcesses()
    const { client, between, circuitId } = await connected(here, there)
    await end(here, between.id)
    // Nobody has told the other process by now: what it reads is what counts.
    expect((await dial(client)).refused).toBe('no path to a terminator of service web')
    await there.controller.elapse(NOTICED_MS)
    await vi.waitFor(() => {
      expect(between.isClosed).toBe(true)
      expect(unroutes(client)).toContainEqual({ circuitId, now: true })
    })
    expect(unroutes(between)).toContainEqual({ circuitId, now: true })
  })

  it('carries nothing for others while it is not connected either', async () => {
    const world = await fabricWorld()
    const { client, between, server, circuitId } = await connected(world, world)
    between.close()
    await vi.waitFor(() => expect(world.told('router.connection')).toHaveLength(4))
    await end(world, between.id)
    for (const router of [client, server]) {
      await vi.waitFor(() => expect(unroutes(router)).toContainEqual({ circuitId, now: true }))
      await vi.waitFor(() => expect(removedAt(router)).toContain(between.id))
    }
  })
})

it('what a circuit loses while one of its routers is away reaches the router when it comes back', async () => {
  const world = await fabricWorld()
  const { client, server, between, circuitId, dialPolicy, connect } = await connected(world, world)
  between.close()
  await vi.waitFor(() => expect(world.told('router.connection')).toHaveLength(4))
  await world.call('DELETE', `/service-policies/${dialPolicy}`)
  await vi.waitFor(() => expect(unroutes(server)).toEqual([{ circuitId, now: true }]))
  expect(unroutes(client)).toEqual([{ circuitId, now: true }])
  const again = await connect('between')
  await vi.waitFor(() => expect(unroutes(again)).toEqual([{ circuitId, now: true }]))
})

it('a router hears as it connects which others are disabled, and again where it reports a link to one', async () => {
  const world = await fabricWorld()
  await tunnelNetwork(world)
  const { id } = await world.enroll('disabled', TUNNELER)
  await world.call('PATCH', `/edge-routers/${id}`, { disabled: true })
  const router = await world.router('r1')
  await vi.waitFor(() => expect(removedAt(router)).toEqual([id]))
  router.forget()
  const conn = { linkProtocol: 'tls', dialAddress: 'tls:d:1', iteration: 1, connState: undefined }
  const report = { links: [{ id: 'l1', destRouterId: id, ...conn }], fullRefresh: true }
  router.send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode(report))
  await vi.waitFor(() => expect(removedAt(router)).toContain(id))
  await vi.waitFor(() => expect(faultsAt(router)).toEqual(['l1']))
  expect(isToldOfLossFirst(router)).toBe(true)
  await links(world, 0)
})
