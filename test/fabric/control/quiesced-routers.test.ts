import { routerSide } from 'portcullis/fabric'
import type { FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { dial, type FabricWorld, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { routesOf, TUNNELER, unroutesOf } from './linked-pair.ts'

const { CONTENT_TYPE, HEADER, readBool } = routerSide
/** The attempt number by which routers know that a circuit moves. */
const MOVING = 99_969_996

async function terminatorAt(world: FabricWorld, router: string, precedence: string): Promise<string> {
  const service = await world.create('/services', { name: `web ${precedence}`, encryptionRequired: false })
  return world.create('/terminators', { service, router, binding: 'transport', address: 'tcp:a:1', precedence })
}

it('terminators of a quiesced router are tried last, until it is dequiesced', async () => {
  const world = await fabricWorld()
  const [router, other] = [await world.router('r1'), await world.router('r2')]
  const ids = await Promise.all([
    terminatorAt(world, router.id, 'required'),
    terminatorAt(world, router.id, 'failed'),
    terminatorAt(world, other.id, 'default'),
  ])
  const precedences = () =>
    Promise.all(ids.map(async (id) => (await world.call('GET', `/terminators/${id}`)).precedence))
  // Asked twice, it is the same.
  for (const contentType of [CONTENT_TYPE.quiesce, CONTENT_TYPE.quiesce]) {
    expect(readBool((await router.request(contentType)).headers, HEADER.success)).toBe(true)
    expect(await precedences()).toEqual(['failed', 'failed', 'default'])
  }
  expect(readBool((await router.request(CONTENT_TYPE.dequiesce)).headers, HEADER.success)).toBe(true)
  await vi.waitFor(async () => expect(await precedences()).toEqual(['required', 'failed', 'default']))
})

/** Two ways from a client to a server: a cheap one by a router, and one by another. A circuit goes the cheap one. */
async function twoWays(onRoute?: (route: { readonly attempt: number }) => Promise<{ readonly success: true }>) {
  const world = await fabricWorld()
  const network = await tunnelNetwork(world)
  const client = await world.router('client', TUNNELER)
  const server = await world.router('server', TUNNELER)
  const middle = await world.router('middle')
  const spare = await world.router('spare', onRoute === undefined ? {} : { onRoute })
  reportLinks(client, [
    ['client-middle', middle],
    ['client-spare', spare],
  ])
  reportLinks(server, [
    ['server-middle', middle],
    ['server-spare', spare],
  ])
  await host(server, network.serviceId)
  for (const link of ['client-spare', 'server-spare']) {
    await vi.waitFor(() => world.call('PATCH', `/fabric/v1/links/${link}`, { staticCost: 1000 }))
  }
  const { circuitId, refused } = await dial(client)
  expect(refused).toBeUndefined()
  expect(routesOf(middle).map((route) => route.circuitId)).toEqual([circuitId])
  const wayOf = async () => {
    const { path } = await world.call('GET', `/fabric/v1/circuits/${circuitId}`)
    return Object.values(Object(path).nodes).map((node) => String(Object(node).name))
  }
  return { world, client, server, middle, spare, circuitId, wayOf }
}

const movesAt = (router: FakeRouter) => routesOf(router).filter(({ attempt }) => attempt === MOVING).length

it('circuits that pass a quiesced router move to another way, and none passes it until it is dequiesced', async () => {
  const { world, client, server, middle, spare, circuitId, wayOf } = await twoWays()
  await middle.request(CONTENT_TYPE.quiesce)
  await vi.waitFor(async () => expect(await wayOf()).toEqual(['client', 'spare', 'server']))
  expect([client, spare, server].map(movesAt)).toEqual([1, 1, 1])
  expect(unroutesOf(middle)).toEqual([{ circuitId, now: true }])
  expect(unroutesOf(client)).toEqual([])
  const second = await dial(client)
  expect(routesOf(middle).map((route) => route.circuitId)).not.toContain(second.circuitId)
  await middle.request(CONTENT_TYPE.dequiesce)
  const third = await dial(client)
  expect(routesOf(middle).map((route) => route.circuitId)).toContain(third.circuitId)
  expect(world.told('circuit.closed')).toEqual([])
})

it('a router that is decommissioned goes when the circuits that pass it have moved', async () => {
  let goOn: () => void = () => undefined
  const arrived = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const onRoute = async ({ attempt }: { readonly attempt: number }) => {
    if (attempt === MOVING) await arrived
    return { success: true } as const
  }
  const { world, middle, spare, wayOf } = await twoWays(onRoute)
  middle.send(CONTENT_TYPE.decommission)
  await vi.waitFor(() => expect(movesAt(spare)).toBe(1))
  expect(middle.isClosed).toBe(false)
  goOn()
  await vi.waitFor(() => expect(middle.isClosed).toBe(true))
  expect(await wayOf()).toEqual(['client', 'spare', 'server'])
  expect(world.told('circuit.closed')).toEqual([])
  await expect(world.call('GET', `/edge-routers/${middle.id}`)).rejects.toThrow('404')
})
