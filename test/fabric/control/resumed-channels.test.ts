import { routerSide } from 'portcullis/fabric'
import { FakeRouter } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { dial, fabricWorld, host, joinedProcesses, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { routesOf, TUNNELER } from './linked-pair.ts'

const { CONTENT_TYPE } = routerSide
const OUTDATED = 'the dial was asked for before the router was connected again'

describe('a router that goes on with the channel of before', () => {
  it('has the dials refused that waited until it answers a hello again, and the later ones laid', async () => {
    const world = await fabricWorld()
    const { serviceId } = await tunnelNetwork(world)
    const { fields } = TUNNELER
    const server = await world.router('server', { fields })
    await host(server, serviceId)
    const client = new FakeRouter(await world.enroll('client', fields), world.listener)
    const { accepted } = await client.connect({ connectionId: 'former-1', secret: new Uint8Array(16).fill(7) })
    expect(accepted).toBe(true)
    const waited = [dial(client)]
    reportLinks(client, [['l1', server]], true)
    waited.push(dial(client))
    client.send(CONTENT_TYPE.clientHello, routerSide.ClientHello.encode({ hostname: 'client.test' }))
    const fresh = dial(client)
    for (const { refused } of await Promise.all(waited)) {
      expect(refused).toBe(OUTDATED)
    }
    expect((await fresh).refused).toBeUndefined()
    expect(server.all(CONTENT_TYPE.route)).toHaveLength(1)
  })

  it('is on no path before it is heard, which may be long after its hello', async () => {
    const world = await fabricWorld()
    const { serviceId } = await tunnelNetwork(world)
    const { fields } = TUNNELER
    const client = await world.router('client', { fields })
    const enrolled = await world.enroll('server', fields)
    const before = new FakeRouter(enrolled, world.listener)
    const { connectionId, secret } = await before.connect()
    await host(before, serviceId)
    reportLinks(client, [['l1', before]])
    expect((await dial(client)).refused).toBeUndefined()
    before.close()
    await vi.waitFor(() => expect(world.told('router.connection').at(-1)).toMatchObject({ isOnline: false }))
    const server = new FakeRouter(enrolled, world.listener)
    expect((await server.connect({ connectionId, secret, hangs: true })).accepted).toBe(true)
    expect((await dial(client)).refused).toBe('service web has no terminators on connected routers')
    server.goOn()
    await vi.waitFor(async () => expect((await dial(client)).refused).toBeUndefined())
    expect(routesOf(server)).toHaveLength(1)
  })

  it('leaves the host free of dials that were given up while the controller was away, after its restart', async () => {
    const { processOf, restart } = await joinedProcesses(['here'])
    const before = processOf('here')
    const { serviceId } = await tunnelNetwork(before)
    const enrolled = {
      client: await before.enroll('client', TUNNELER.fields),
      server: await before.enroll('server', TUNNELER.fields),
    }
    const client = new FakeRouter(enrolled.client, before.listener)
    const server = new FakeRouter(enrolled.server, before.listener)
    const groups = { client: await client.connect(), server: await server.connect() }
    await host(server, serviceId)
    reportLinks(client, [['l1', server]])
    expect((await dial(client)).refused).toBeUndefined()

    await restart('here')
    const { listener } = processOf('here')
    const hosting = new FakeRouter(enrolled.server, listener)
    const dialing = new FakeRouter(enrolled.client, listener)
    expect((await hosting.connect(groups.server)).accepted).toBe(true)
    expect((await dialing.connect(groups.client)).accepted).toBe(true)
    hosting.send(CONTENT_TYPE.clientHello, routerSide.ClientHello.encode({ hostname: 'server.test' }))
    reportLinks(dialing, [['l1', hosting]], true)
    const waited = Array.from({ length: 20 }, () => dial(dialing))
    dialing.send(CONTENT_TYPE.clientHello, routerSide.ClientHello.encode({ hostname: 'client.test' }))
    for (const { refused } of await Promise.all(waited)) expect(refused).toBe(OUTDATED)
    expect(routesOf(hosting)).toEqual([])
    expect((await dial(dialing)).refused).toBeUndefined()
    expect(routesOf(hosting)).toHaveLength(1)
  })
})
