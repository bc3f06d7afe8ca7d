import { routerSide } from 'portcullis/fabric'
import type { FakeRouter, RouteReply } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { dial, reportLinks } from './fabric-world.ts'
import { pair, routesOf, TUNNELER, unroutesOf } from './linked-pair.ts'

const { CONTENT_TYPE } = routerSide
const FAILURE = { success: false, code: 0, message: 'invalid link destination link-1' } as const

/** Messages to a router about circuits, in order. */
const toldOf = (router: FakeRouter) =>
  router.received.flatMap(({ contentType }) => {
    if (contentType === CONTENT_TYPE.route) return 'route'
    return contentType === CONTENT_TYPE.unroute ? 'unroute' : []
  })

/** Replies that a test gives when it likes, in the order of what is asked. */
function heldReplies() {
  const held: ((reply: RouteReply) => void)[] = []
  const onRoute = () => new Promise<RouteReply>((give) => void held.push(give))
  return { held, onRoute }
}

it('a router that failed after it reached the host forgets the circuit too, and the next attempt has addresses of its own', async () => {
  const onRoute = vi.fn<() => RouteReply>(() => ({ success: true })).mockReturnValueOnce(FAILURE)
  const { client, server } = await pair({ server: { onRoute } })
  const { circuitId, refused } = await dial(client)
  expect(refused).toBeUndefined()
  for (const router of [client, server]) {
    expect(toldOf(router)).toEqual(['route', 'unroute', 'route'])
    expect(unroutesOf(router)).toEqual([{ circuitId, now: true }])
  }
  const [first, second] = routesOf(server)
  expect(second?.egress?.address).not.toBe(first?.egress?.address)
})

it('nothing is tried again before the router at the end said what became of the host', async () => {
  const { held, onRoute } = heldReplies()
  const near = vi.fn<() => RouteReply>(() => ({ success: true })).mockReturnValueOnce(FAILURE)
  const { world, client, server } = await pair({ client: { onRoute: near }, server: { onRoute } })
  const answer = dial(client)
  await vi.waitFor(() => expect(held).toHaveLength(1))
  // Whatever else the client says comes after its failure.
  await world.call('GET', '/fabric/v1/routers')
  expect([toldOf(client), toldOf(server)]).toEqual([['route'], ['route']])
  held[0]?.({ success: true })
  await vi.waitFor(() => expect(held).toHaveLength(2))
  expect(toldOf(server)).toEqual(['route', 'unroute', 'route'])
  held[1]?.({ success: true })
  expect((await answer).refused).toBeUndefined()
})

it('what a router did of an attempt that was given up, it forgets when it answers, unless it has a part in the next one', async () => {
  const { held, onRoute } = heldReplies()
  const { world, client, server } = await pair({ server: { onRoute } })
  const answer = dial(client)
  await vi.waitFor(() => expect(held).toHaveLength(1))
  await world.controller.elapse(10_000)
  await vi.waitFor(() => expect(held).toHaveLength(2))
  held[0]?.({ success: true })
  await world.call('GET', '/fabric/v1/routers')
  expect(toldOf(server)).toEqual(['route', 'unroute', 'route'])
  await world.controller.elapse(10_000)
  expect((await answer).refused).toBe('no answer in time')
  held[1]?.(FAILURE)
  await vi.waitFor(() => expect(toldOf(server)).toEqual(['route', 'unroute', 'route', 'unroute', 'unroute']))
})

it('a circuit whose move to a better path comes to nothing is laid again where it was', async () => {
  const { world, client, server } = await pair()
  const { circuitId } = await dial(client)
  const between = await world.router('between', { ...TUNNELER, onRoute: () => FAILURE })
  reportLinks(between, [
    ['link-2', client],
    ['link-3', server],
  ])
  await vi.waitFor(async () => expect(Object.keys(await world.call('GET', '/fabric/v1/links'))).toHaveLength(3))
  for (const link of ['link-2', 'link-3']) await world.call('PATCH', `/fabric/v1/links/${link}`, { staticCost: 1 })
  await world.call('PATCH', '/fabric/v1/links/link-1', { staticCost: 200_000 })
  await world.controller.elapse(60_000)
  await vi.waitFor(() => expect(unroutesOf(between)).toEqual([{ circuitId, now: true }]))
  await vi.waitFor(() => expect(routesOf(server)).toHaveLength(3))
  const [first, , third] = routesOf(server)
  expect(third?.forwards).toEqual(first?.forwards)
  expect(world.told('circuit.closed')).toEqual([])
  expect(world.told('circuit.moved')).toMatchObject([{ path: [client.id, server.id] }])
})

it.each([
  [
    'lists it as quiet',
    (router: FakeRouter, circuitId: string) =>
      router.send(
        CONTENT_TYPE.circuitConfirmation,
        routerSide.CircuitConfirmation.encode({ circuitIds: [circuitId], idleTimes: new Map() }),
      ),
  ],
  [
    'gets bytes of it before its route',
    (router: FakeRouter, circuitId: string) =>
      router.send(CONTENT_TYPE.fault, routerSide.Fault.encode({ subject: 'forward', id: circuitId })),
  ],
] as const)('a router of a circuit in the making keeps it when it %s', async (_, tell) => {
  const { held, onRoute } = heldReplies()
  const { world, client } = await pair({ server: { onRoute } })
  const answer = dial(client)
  await vi.waitFor(() => expect(held).toHaveLength(1))
  tell(client, routesOf(client)[0]?.circuitId ?? '')
  // The router learns of an unknown circuit that it must forget it: what it said before is answered then.
  tell(client, 'unknown-circuit')
  await vi.waitFor(() => expect(unroutesOf(client)).toEqual([{ circuitId: 'unknown-circuit', now: true }]))
  held[0]?.({ success: true })
  expect((await answer).refused).toBeUndefined()
  expect(world.told('router.misbehaved')).toEqual([])
  expect(toldOf(client)).toEqual(['route', 'unroute'])
})
