import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { routerSide } from 'portcullis/fabric'
import { bodyOf, FakeRouter } from 'portcullis/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dial, type FabricWorld, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE, Fault } = routerSide
const TUNNELER = { fields: { isTunnelerEnabled: true } }

/** Two tunnelers with a link and a circuit over it, and a third one that is up to no good. */
async function trio() {
  const world = await fabricWorld()
  const network = await tunnelNetwork(world)
  const client = await world.router('client', TUNNELER)
  const server = await world.router('server', TUNNELER)
  const hostile = await world.router('hostile', TUNNELER)
  reportLinks(client, [['link-1', server]])
  await host(server, network.serviceId)
  const { circuitId } = await dial(client)
  return { world, network, client, server, hostile, circuitId }
}

async function idsOf(world: FabricWorld, path: string): Promise<readonly unknown[]> {
  return Object.values(await world.call('GET', path)).map((item) => Reflect.get(Object(item), 'id'))
}

describe('a router that lies about what belongs to others changes nothing, and an event tells it', () => {
  it.each([
    [
      'foreign-terminator',
      'that it costs something else',
      (router: FakeRouter) =>
        router.send(
          CONTENT_TYPE.updateTunnelTerminator,
          routerSide.UpdateTunnelTerminator.encode({ terminatorId: 'terminator-1', cost: 9, updateCost: true }),
        ),
    ],
    [
      'foreign-terminator',
      'that it is its own',
      (router: FakeRouter, serviceId: string) =>
        router.send(
          CONTENT_TYPE.createTunnelTerminator,
          routerSide.CreateTunnelTerminator.encode({ serviceId, address: 'terminator-1' }),
        ),
    ],
    [
      'foreign-link',
      'that it is slow',
      (router: FakeRouter) =>
        router.send(
          CONTENT_TYPE.metrics,
          routerSide.Metrics.encode({ histograms: new Map([['link.link-1.latency', { mean: 1e12 }]]) }),
        ),
    ],
    [
      'foreign-link',
      'that it consists of something else',
      (router: FakeRouter) =>
        router.send(
          CONTENT_TYPE.linkState,
          routerSide.LinkStateUpdate.encode({
            linkId: 'link-1',
            linkIteration: 1,
            connState: { stateIteration: 7, conns: [{ type: 'lie', localAddr: '', remoteAddr: '' }] },
          }),
        ),
    ],
  ] as const)('%s: %s', async (what, _said, lie) => {
    const { world, network, hostile } = await trio()
    const [link, terminator] = await Promise.all([
      world.call('GET', '/fabric/v1/links/link-1'),
      world.call('GET', '/terminators/terminator-1'),
    ])
    lie(hostile, network.serviceId)
    await vi.waitFor(() => expect(world.told('router.misbehaved')).toMatchObject([{ routerId: hostile.id, what }]))
    expect(await world.call('GET', '/fabric/v1/links/link-1')).toEqual(link)
    expect(await world.call('GET', '/terminators/terminator-1')).toEqual({ ...terminator, dynamicCost: 2 })
  })

  it('about what a circuit carried: it is told for routers on its way alone', async () => {
    const { world, client, hostile, circuitId } = await trio()
    const values = new Map([['ingress.rx', 42]])
    const report = (router: FakeRouter) =>
      router.send(
        CONTENT_TYPE.metrics,
        routerSide.Metrics.encode({
          usageCounters: [{ intervalStart: 60, intervalLength: 30, buckets: new Map([[circuitId, { values }]]) }],
        }),
      )
    report(hostile)
    report(client)
    await vi.waitFor(() => expect(world.told('circuit.usage')).toHaveLength(1))
    expect(world.told('circuit.usage')).toMatchObject([
      { circuitId, routerId: client.id, from: 60_000, lengthMs: 30_000, bytes: { 'ingress.rx': 42 } },
    ])
  })
})

describe('a router that says again what was said before', () => {
  it('registers a terminator once', async () => {
    const { world, network, server } = await trio()
    for (let count = 0; count < 3; count += 1) await host(server, network.serviceId)
    expect(await idsOf(world, '/terminators')).toEqual(['terminator-1'])
    expect(world.told('router.misbehaved')).toEqual([])
  })

  it('ends a circuit once, and brings none back by an old answer', async () => {
    const { world, client, server, circuitId } = await trio()
    const answer = new Map([
      [routerSide.HEADER.routeAttempt, routerSide.uint32Header(0)],
      [routerSide.HEADER.routeSuccess, routerSide.boolHeader(true)],
    ])
    for (let count = 0; count < 3; count += 1) {
      server.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'egress', id: circuitId }))
      server.send(CONTENT_TYPE.routeResult, new TextEncoder().encode(circuitId), answer)
    }
    await server.request(CONTENT_TYPE.ping)
    expect(world.told('circuit.closed')).toHaveLength(1)
    expect(await idsOf(world, '/fabric/v1/circuits')).toEqual([])
    expect((await dial(client)).refused).toBeUndefined()
  })

  it('does not bring back a link that is over, until it is dialed anew', async () => {
    const { world, client, server } = await trio()
    server.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'link', id: 'link-1', iteration: 1 }))
    await server.request(CONTENT_TYPE.ping)
    reportLinks(client, [['link-1', server]])
    await client.request(CONTENT_TYPE.ping)
    expect(await idsOf(world, '/fabric/v1/links')).toEqual([])
  })

  it('does not come back by the group that it had before it was deleted', async () => {
    const { world } = await trio()
    const enrolled = await world.enroll('gone')
    const gone = new FakeRouter(enrolled, world.listener)
    const { connectionId, secret } = await gone.connect()
    await world.call('DELETE', `/edge-routers/${gone.id}`)
    await vi.waitFor(() => expect(gone.isClosed).toBe(true))
    for (const isFirst of [true, false]) {
      expect(await gone.connect({ connectionId, secret, isFirst })).toMatchObject({
        accepted: false,
        reason: 'unknown',
      })
    }
  })
})

describe('a router that asks for more than it may have', () => {
  it('leaves others their circuits when it has so many in the making that nobody answers', async () => {
    const { world, network, client, server, hostile } = await trio()
    const silent = await world.router('silent', { ...TUNNELER, onRoute: () => undefined })
    const black = await world.create('/services', { name: 'black', encryptionRequired: false, roleAttributes: ['web'] })
    await host(silent, black, 'black-1')
    reportLinks(hostile, [['link-2', silent]])
    await hostile.request(CONTENT_TYPE.ping)
    const wish = routerSide.CreateTunnelCircuit.encode({ serviceName: 'black' })
    for (let count = 0; count < 2100; count += 1) hostile.send(CONTENT_TYPE.createTunnelCircuit, wish)
    const refused = await hostile.next(({ contentType }) => contentType === CONTENT_TYPE.error)
    expect(new TextDecoder().decode(bodyOf(refused))).toBe('too many circuits')
    expect((await dial(client)).refused).toBeUndefined()
    expect((await host(server, network.serviceId)).contentType).toBe(CONTENT_TYPE.tunnelTerminatorCreated)
  })

  it('fills neither memory nor store by what it says of itself', async () => {
    const { world, hostile } = await trio()
    const long = 'x'.repeat(10_000)
    const interfaces = Array.from({ length: 100 }, () => ({ name: long, addresses: [long] }))
    const reported = { mtu: 1, index: 1, flags: 0, hardwareAddress: long }
    await hostile.request(
      CONTENT_TYPE.updateInterfaces,
      routerSide.RouterInterfaces.encode({ interfaces: interfaces.map((one) => ({ ...reported, ...one })) }),
    )
    const shown = (await world.call('GET', `/edge-routers/${hostile.id}`)).interfaces
    expect(JSON.stringify(shown).length).toBeLessThan(200_000)
    hostile.send(
      CONTENT_TYPE.alerts,
      routerSide.Alerts.encode({ alerts: [{ severity: 'error', message: long, details: [long] }] }),
    )
    await vi.waitFor(() => expect(world.told('router.alert')).toHaveLength(1))
    expect(world.told('router.alert')).toMatchObject([
      { routerId: hostile.id, severity: 'error', message: long.slice(0, 1024) },
    ])
  })
})

it('a router behind a network that was cut without a word is gone when it was silent for too long', async () => {
  const world = await fabricWorld({ heartbeat: { everyMs: 50, silenceMs: 700 } })
  const cut = await world.router('cut')
  const bystander = await world.router('bystander')
  cut.pause()
  await vi.waitFor(
    async () => expect(await world.call('GET', `/edge-routers/${cut.id}`)).toMatchObject({ isOnline: false }),
    10_000,
  )
  expect(await world.call('GET', `/edge-routers/${bystander.id}`)).toMatchObject({ isOnline: true })
})

describe('a router with two sockets, of which one is silent for a minute', () => {
  const MINUTE = 60_000
  const BEAT = 10_000
  afterEach(() => vi.useRealTimers())

  /** Opens the sockets in order. The router answers heartbeats on the first of them alone. */
  async function grouped(types: readonly string[]) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const world = await fabricWorld()
    const sockets: Duplex[] = []
    const accept: typeof world.listener.accept = (socket, ...facts) => {
      sockets.push(socket)
      world.listener.accept(socket, ...facts)
    }
    const router = new FakeRouter(await world.enroll('r1'), { ...world.listener, accept })
    let group: { readonly connectionId?: string; readonly secret?: Uint8Array } = {}
    for (const type of types) {
      const welcome = await router.connect({ ...group, isFirst: sockets.length === 0, type })
      expect(welcome.accepted).toBe(true)
      group = welcome
    }
    /** Lets time pass by heartbeats, each of which may be answered. */
    const elapse = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += BEAT) {
        vi.advanceTimersByTime(BEAT)
        await delay(10)
      }
      return sockets.map(({ destroyed }) => destroyed)
    }
    return { world, router, elapse }
  }

  it.each([
    ['the urgent one', ['ctrl.default', 'ctrl.high']],
    ['the other one', ['ctrl.high', 'ctrl.default']],
  ])('keeps both: %s', async (_silent, types) => {
    const { world, router, elapse } = await grouped(types)
    expect(await elapse(MINUTE)).toEqual([false, false])
    expect(await world.call('GET', `/edge-routers/${router.id}`)).toMatchObject({ isOnline: true })
  })

  it('loses both when the other one falls silent too', async () => {
    const { world, router, elapse } = await grouped(['ctrl.default', 'ctrl.high'])
    expect(await elapse(MINUTE)).toEqual([false, false])
    router.pause()
    expect(await elapse(MINUTE)).toEqual([true, true])
    expect(await world.call('GET', `/edge-routers/${router.id}`)).toMatchObject({ isOnline: false })
  })
})

describe('what this controller does not do', () => {
  it.each([['terminators of no identity', CONTENT_TYPE.createFabricTerminator]])(
    'is answered clearly: %s',
    async (_name, contentType) => {
      const world = await fabricWorld()
      const router = await world.router('r1')
      const answer = await router.request(contentType)
      expect(routerSide.readBool(answer.headers, routerSide.HEADER.success)).toBe(false)
      expect(new TextDecoder().decode(bodyOf(answer))).toMatch(/^this controller does not /)
    },
  )

  it('is answered in the form of inspections where one is asked for', async () => {
    const world = await fabricWorld()
    const answer = await (await world.router('r1')).request(CONTENT_TYPE.inspect)
    expect(answer.contentType).toBe(CONTENT_TYPE.inspected)
    expect(routerSide.InspectResponse.decode(bodyOf(answer))).toEqual({
      success: false,
      errors: ['this controller does not answer inspections'],
      values: [],
    })
  })
})

it('a router hears again which controllers there are, and is deleted when it wishes so', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  router.forget()
  const answer = await router.request(CONTENT_TYPE.requestControllers)
  expect(answer.contentType).toBe(CONTENT_TYPE.updateControllerAddresses)
  router.send(CONTENT_TYPE.decommission)
  await vi.waitFor(() => expect(router.isClosed).toBe(true))
  await expect(world.call('GET', `/edge-routers/${router.id}`)).rejects.toThrow('404')
})
