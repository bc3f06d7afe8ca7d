import { routerSide } from 'portcullis/fabric'
import { FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { times } from '../../support/property-runs.ts'
import { dial, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { pair, routesOf, TUNNELER, unroutesOf } from './linked-pair.ts'

const { CONTENT_TYPE, Fault } = routerSide

it('a service that nobody knows is refused to a router that dials for itself, whose later dials get through', async () => {
  const { client } = await pair()
  const refused = await dial(client, 'nobody-knows')
  expect(refused.refused).toBe('invalid service')
  expect((await dial(client)).refused).toBeUndefined()
})

it('a router that comes back while its former channel closes stays connected, each time', async () => {
  const world = await fabricWorld()
  const enrolled = await world.enroll('churning')
  const isOnline = async () => Object(await world.call('GET', `/edge-routers/${enrolled.id}`)).isOnline
  for (let round = 0; round < times(200, 50); round += 1) {
    const router = new FakeRouter(enrolled, world.listener)
    expect(await router.connect()).toMatchObject({ accepted: true })
    // Its end is not waited for: it comes while the next hello is under way.
    void router.close()
  }
  const last = new FakeRouter(enrolled, world.listener)
  expect(await last.connect()).toMatchObject({ accepted: true })
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(await isOnline()).toBe(true)
})

it('a router that goes is on no other way of the circuits that passed it', async () => {
  const world = await fabricWorld()
  const network = await tunnelNetwork(world)
  const [client, middle, server] = [
    await world.router('client', TUNNELER),
    await world.router('middle', TUNNELER),
    await world.router('server', TUNNELER),
  ]
  reportLinks(client, [
    ['client-middle', middle],
    ['client-middle-2', middle],
  ])
  reportLinks(middle, [
    ['middle-server', server],
    ['middle-server-2', server],
  ])
  await host(server, network.serviceId)
  const { circuitId, refused } = await dial(client)
  expect(refused).toBeUndefined()
  const before = routesOf(client).length
  await middle.close()
  await vi.waitFor(async () =>
    expect(await world.call('GET', `/edge-routers/${middle.id}`)).toMatchObject({ isOnline: false }),
  )
  expect(world.told('circuit.moved')).toEqual([])
  client.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'link', id: 'client-middle', iteration: 1 }))
  await vi.waitFor(() => expect(world.told('circuit.closed')).toMatchObject([{ circuitId, reason: 'no-path' }]))
  expect(routesOf(client)).toHaveLength(before)
})

it('a router that lost its channel just as a circuit ended is told again, and no more than for a minute', async () => {
  const world = await fabricWorld()
  const network = await tunnelNetwork(world)
  const enrolled = await world.enroll('client', TUNNELER.fields)
  const connected = async () => {
    const router = new FakeRouter(enrolled, world.listener)
    expect(await router.connect()).toMatchObject({ accepted: true })
    return router
  }
  const [client, server] = [await connected(), await world.router('server', TUNNELER)]
  reportLinks(client, [['link-1', server]])
  await host(server, network.serviceId)
  const { circuitId } = await dial(client)
  await world.call('DELETE', `/services/${network.serviceId}`)
  await vi.waitFor(() => expect(unroutesOf(client)).toMatchObject([{ circuitId, now: true }]))
  const again = async () => {
    const router = await connected()
    await vi.waitFor(() => expect(router.all(CONTENT_TYPE.updateControllerAddresses)).not.toEqual([]))
    const told = unroutesOf(router)
    await router.close()
    return told
  }
  await client.close()
  expect(await again()).toMatchObject([{ circuitId, now: true }])
  await world.controller.elapse(61_000)
  expect(await again()).toEqual([])
})
