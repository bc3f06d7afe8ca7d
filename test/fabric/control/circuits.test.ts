import { routerSide } from 'portcullis/fabric'
import { bodyOf, type FakeRouter } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { dial, type FabricWorld, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { pair, routesOf, TUNNELER, unroutesOf } from './linked-pair.ts'

const { CONTENT_TYPE, Fault } = routerSide

async function circuits(world: FabricWorld): Promise<readonly Record<string, unknown>[]> {
  return Object.values(await world.call('GET', '/fabric/v1/circuits')) as Record<string, unknown>[]
}

describe('a circuit over a link', () => {
  it('is laid at both routers before the client hears of it, and shown', async () => {
    const { world, client, server, network } = await pair()
    const { circuitId, address, refused } = await dial(client)
    expect(refused).toBeUndefined()
    expect(routesOf(client)).toMatchObject([
      {
        circuitId,
        forwards: [
          { srcAddress: address, dstAddress: 'link-1', dstType: 'link' },
          { srcAddress: 'link-1', dstAddress: address, dstType: 'start' },
        ],
        egress: undefined,
      },
    ])
    expect(routesOf(server)).toMatchObject([{ circuitId, egress: { binding: 'tunnel', destination: 'terminator-1' } }])
    expect(await circuits(world)).toMatchObject([
      {
        id: circuitId,
        clientId: client.id,
        service: { id: network.serviceId, name: 'web' },
        terminator: { id: 'terminator-1' },
        path: { nodes: [{ id: client.id, name: 'client' }, { id: server.id }], links: [{ id: 'link-1' }] },
      },
    ])
    expect(await world.call('GET', '/fabric/v1/links/link-1')).toMatchObject({
      sourceRouter: { name: 'client' },
      destRouter: { name: 'server' },
      cost: 130_001,
    })
  })

  it('ends with a fault of one end, once', async () => {
    const { world, client, server } = await pair()
    const { circuitId } = await dial(client)
    for (const router of [client, server]) {
      router.send(
        CONTENT_TYPE.fault,
        Fault.encode({ subject: router === client ? 'ingress' : 'egress', id: circuitId }),
      )
    }
    await vi.waitFor(() => {
      expect(unroutesOf(client)).toEqual([{ circuitId, now: false }])
      expect(unroutesOf(server)).toEqual([{ circuitId, now: false }])
    })
    expect(await circuits(world)).toEqual([])
    expect(world.told('circuit.closed')).toMatchObject([{ circuitId, reason: 'client-closed' }])
  })

  it('is cut by an operator', async () => {
    const { world, client } = await pair()
    const { circuitId } = await dial(client)
    await world.call('DELETE', `/fabric/v1/circuits/${circuitId}`, { immediate: true })
    await vi.waitFor(() => expect(unroutesOf(client)).toEqual([{ circuitId, now: true }]))
    await expect(world.call('DELETE', `/fabric/v1/circuits/${circuitId}`)).rejects.toThrow('404')
  })

  it('takes another way when its link is cut, and ends where there is none', async () => {
    const { world, client, server } = await pair()
    const { circuitId } = await dial(client)
    const between = await world.router('between', TUNNELER)
    reportLinks(between, [
      ['link-2', client],
      ['link-3', server],
    ])
    await vi.waitFor(async () => expect(Object.keys(await world.call('GET', '/fabric/v1/links'))).toHaveLength(3))
    await world.call('DELETE', '/fabric/v1/links/link-1')
    await vi.waitFor(() => {
      expect(world.told('circuit.moved')).toMatchObject([{ circuitId, path: [client.id, between.id, server.id] }])
    })
    expect(routesOf(between)).toMatchObject([{ circuitId, attempt: 99_969_996, egress: undefined }])
    expect(client.all(CONTENT_TYPE.fault).map((frame) => Fault.decode(bodyOf(frame)).id)).toEqual(['link-1'])
    between.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'link', id: 'link-3', iteration: 1 }))
    await vi.waitFor(() => expect(world.told('circuit.closed')).toMatchObject([{ circuitId, reason: 'no-path' }]))
  })

  it('is unknown to a controller that was restarted: a router that asks is told to forget it', async () => {
    const { client } = await pair()
    client.send(CONTENT_TYPE.circuitConfirmation, routerSide.CircuitConfirmation.encode({ circuitIds: ['former'] }))
    await vi.waitFor(() => expect(unroutesOf(client)).toEqual([{ circuitId: 'former', now: true }]))
  })

  it('ends when it is idle for longer than its service allows', async () => {
    const { world, client } = await pair({ service: { maxIdleTimeMillis: 60_000 } })
    const { circuitId } = await dial(client)
    const report = (nanoseconds: number) =>
      client.send(
        CONTENT_TYPE.circuitConfirmation,
        routerSide.CircuitConfirmation.encode({
          circuitIds: [circuitId],
          idleTimes: new Map([[circuitId, nanoseconds]]),
        }),
      )
    report(59e9)
    report(60e9)
    await vi.waitFor(() => expect(world.told('circuit.closed')).toMatchObject([{ reason: 'idle' }]))
  })
})

describe('a dial that comes to nothing', () => {
  it('is tried at another terminator, and one that its router does not know goes', async () => {
    const world = await fabricWorld()
    const { serviceId } = await tunnelNetwork(world)
    const router = await world.router('r1', {
      ...TUNNELER,
      onRoute: ({ egress }) =>
        egress?.destination === 'a-dead'
          ? { success: false, code: 1, message: 'unknown terminator' }
          : { success: true },
    })
    await host(router, serviceId, 'a-dead')
    await host(router, serviceId, 'b-alive')
    expect(await dial(router)).toMatchObject({ refused: undefined })
    const left = Object.values(await world.call('GET', '/terminators')) as { readonly id: string }[]
    expect(left.map(({ id }) => id)).toEqual(['b-alive'])
    expect(routesOf(router).map(({ egress, attempt }) => [egress?.destination, attempt])).toEqual([
      ['a-dead', 0],
      ['b-alive', 1],
    ])
  })

  it('fails when a router does not answer in time, and what was laid is taken back', async () => {
    const world = await fabricWorld()
    const { serviceId } = await tunnelNetwork(world)
    const router = await world.router('r1', { ...TUNNELER, onRoute: () => undefined })
    await host(router, serviceId)
    const answer = dial(router)
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await vi.waitFor(() => expect(routesOf(router)).toHaveLength(attempt))
      await world.controller.elapse(10_000)
    }
    expect((await answer).refused).toBe('no answer in time')
    expect(unroutesOf(router).every(({ now }) => now)).toBe(true)
    expect(world.told('circuit.failed')).toMatchObject([{ reason: 'routers-failed' }])
  })

  it('is refused without terminators, without a way, and without a key where one is required', async () => {
    const { world, client, server } = await pair({ service: { encryptionRequired: true } })
    expect((await dial(client)).refused).toMatch('initiator did not send public header')
    const key = new Map([[1003, Uint8Array.of(1)]])
    expect((await dial(client, 'web', key)).refused).toMatch('terminator did not send public header')
    server.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'link', id: 'link-1', iteration: 1 }))
    await vi.waitFor(() => expect(world.told('link.connection')).toHaveLength(2))
    expect((await dial(client, 'web', key)).refused).toBe('no path to a terminator of service web')
    await world.call('DELETE', '/terminators/terminator-1')
    expect((await dial(client, 'web', key)).refused).toBe('service web has no terminators')
  })

  it('is refused without a policy that lets the router dial', async () => {
    const { world, client, network } = await pair()
    await world.call('DELETE', `/service-policies/${network.dial}`)
    expect((await dial(client)).refused).toBe('no policy lets the router dial the service')
    expect(world.told('circuit.opened')).toEqual([])
  })
})

describe('access that is lost ends the circuits that it carried, and no others', () => {
  interface Ids {
    readonly dial: string
    readonly bind: string
    readonly client: string
    readonly server: string
    readonly third: string
    readonly serviceId: string
    readonly meeting: string
  }
  const losses: readonly (readonly [string, (world: FabricWorld, ids: Ids) => Promise<unknown>])[] = [
    ['the Dial policy is deleted', (world, { dial: id }) => world.call('DELETE', `/service-policies/${id}`)],
    ['the Bind policy is deleted', (world, { bind }) => world.call('DELETE', `/service-policies/${bind}`)],
    [
      'the identity is disabled',
      (world, { client }) => world.call('POST', `/identities/${client}/disable`, { durationMinutes: 0 }),
    ],
    ['the service is deleted', (world, { serviceId }) => world.call('DELETE', `/services/${serviceId}`)],
    [
      'the router may not be used for the service any more',
      (world, { meeting, server, third }) =>
        world.call('PATCH', `/service-edge-router-policies/${meeting}`, {
          edgeRouterRoles: [`@${server}`, `@${third}`],
        }),
    ],
  ]

  it.each(losses)('%s', async (_name, lose) => {
    const { world, client, server, network } = await pair()
    const other = await world.create('/services', {
      name: 'other',
      encryptionRequired: false,
      roleAttributes: ['other'],
    })
    const third = await world.router('third', TUNNELER)
    for (const type of ['Dial', 'Bind']) {
      await world.create('/service-policies', {
        name: `other-${type}`,
        type,
        semantic: 'AnyOf',
        serviceRoles: ['#other'],
        identityRoles: [`@${third.id}`],
      })
    }
    await host(third, other, 'other-terminator')
    const kept = await dial(third, 'other')
    const { circuitId } = await dial(client)
    await lose(world, { ...network, client: client.id, server: server.id, third: third.id })
    await vi.waitFor(() => expect(unroutesOf(client)).toEqual([{ circuitId, now: true }]))
    expect((await circuits(world)).map(({ id }) => id)).toEqual([kept.circuitId])
  })
})

describe('a router that speaks for others changes nothing, and it is told', () => {
  it.each([
    [
      'foreign-circuit',
      (router: FakeRouter, circuitId: string) =>
        router.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'ingress', id: circuitId })),
    ],
    [
      'foreign-link',
      (router: FakeRouter) =>
        router.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'link', id: 'link-1', iteration: 1 })),
    ],
    ['foreign-link', (router: FakeRouter) => reportLinks(router, [['link-1', router]])],
    [
      'foreign-terminator',
      (router: FakeRouter) =>
        router.send(
          CONTENT_TYPE.removeTerminators,
          routerSide.TerminatorIds.encode({ terminatorIds: ['terminator-1'] }),
        ),
    ],
  ] as const)('%s', async (what, lie) => {
    const { world, client } = await pair()
    const liar = await world.router('liar', TUNNELER)
    const { circuitId } = await dial(client)
    lie(liar, circuitId)
    await vi.waitFor(() => expect(world.told('router.misbehaved')).toMatchObject([{ routerId: liar.id, what }]))
    expect(await circuits(world)).toHaveLength(1)
    expect(await world.call('GET', '/fabric/v1/links/link-1')).toMatchObject({ sourceRouter: { id: client.id } })
    expect(await world.call('GET', '/terminators/terminator-1')).toMatchObject({ id: 'terminator-1' })
  })

  it('and takes no terminator of another one over', async () => {
    const { world, network } = await pair()
    const liar = await world.router('liar', TUNNELER)
    const answer = routerSide.TerminatorCreated.decode(bodyOf(await host(liar, network.serviceId)))
    expect(answer.terminatorId).toBe('terminator-1')
    expect(await world.call('GET', '/terminators/terminator-1')).not.toMatchObject({ routerId: liar.id })
  })
})

describe('links', () => {
  it('of a router that reconnects are those that it lists, and latency makes the way', async () => {
    const { world, client, server } = await pair()
    reportLinks(client, [['link-2', server]], true)
    await vi.waitFor(async () => {
      expect(
        Object.values(await world.call('GET', '/fabric/v1/links')).map((link) => Reflect.get(Object(link), 'id')),
      ).toEqual(['link-2'])
    })
    reportLinks(client, [['link-3', server]])
    const measure = (router: FakeRouter, link: string, ms: number) =>
      router.send(
        CONTENT_TYPE.metrics,
        routerSide.Metrics.encode({ histograms: new Map([[`link.${link}.latency`, { mean: ms * 1e6 }]]) }),
      )
    for (const router of [client, server]) {
      measure(router, 'link-2', 20)
      measure(router, 'link-3', 10)
    }
    await vi.waitFor(async () => expect(await world.call('GET', '/fabric/v1/links/link-3')).toMatchObject({ cost: 21 }))
    await dial(client)
    expect(routesOf(client).at(-1)?.forwards[0]).toMatchObject({ dstAddress: 'link-3' })
  })
})
