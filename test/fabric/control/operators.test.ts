import { routerSide } from 'portcullis/fabric'
import { bodyOf, type FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { dial, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE } = routerSide
const TUNNELER = { fields: { isTunnelerEnabled: true } }

async function twoLinks() {
  const world = await fabricWorld()
  const network = await tunnelNetwork(world)
  const client = await world.router('client', TUNNELER)
  const server = await world.router('server', TUNNELER)
  reportLinks(client, [
    ['link-1', server],
    ['link-2', server],
  ])
  await host(server, network.serviceId)
  const firstLink = () =>
    routerSide.Route.decode(bodyOf(client.all(CONTENT_TYPE.route).at(-1) ?? { ...NO_FRAME })).forwards[0]?.dstAddress
  return { world, client, server, firstLink }
}

const NO_FRAME = { contentType: 0, sequence: 0, headers: new Map(), body: [] }

it('an operator makes a link dear or takes it out of use: circuits take another one', async () => {
  const { world, client, firstLink } = await twoLinks()
  await world.call('PATCH', '/fabric/v1/links/link-1', { staticCost: 500 })
  expect(await world.call('GET', '/fabric/v1/links/link-1')).toMatchObject({ staticCost: 500, down: false })
  await dial(client)
  expect(firstLink()).toBe('link-2')
  await world.call('PATCH', '/fabric/v1/links/link-2', { down: true })
  await vi.waitFor(() => expect(firstLink()).toBe('link-1'))
  expect(await world.call('GET', '/fabric/v1/links/link-2')).toMatchObject({ staticCost: 1, down: true })
  await world.call('PATCH', '/fabric/v1/links/link-2', { down: false })
  await dial(client)
  expect(firstLink()).toBe('link-2')
})

it('terminators tell everywhere in the fabric API who hosts at which router', async () => {
  const world = await fabricWorld()
  const { serviceId } = await tunnelNetwork(world)
  const router = await world.router('server', TUNNELER)
  await host(router, serviceId)
  const routerId = String((await world.call('GET', '/terminators/terminator-1')).routerId)
  const made = { service: serviceId, router: routerId, binding: 'transport', address: 'tcp:a:1', identity: 'left' }
  const id = await world.create('/terminators', made)
  const _links = { self: { href: `./routers/${routerId}` } }
  const atRouter = { router: { _links, entity: 'routers', id: routerId, name: 'server' } }
  const byHand = { ...atRouter, id, hostId: '', identity: 'left', instanceId: 'left' }
  const byRouter = { ...atRouter, hostId: routerId, binding: 'tunnel' }
  expect(await world.call('GET', `/fabric/v1/terminators/${id}`)).toMatchObject(byHand)
  for (const above of ['', `/services/${serviceId}`, `/routers/${routerId}`]) {
    const listed = Object.values(await world.call('GET', `/fabric/v1${above}/terminators`))
    expect(listed).toHaveLength(2)
    expect(listed).toEqual(expect.arrayContaining([expect.objectContaining(byHand), expect.objectContaining(byRouter)]))
  }
})

it('a link that nobody knows is over already, and may be cut', async () => {
  const { world } = await twoLinks()
  await world.call('DELETE', '/fabric/v1/links/none')
  expect(Object.values(await world.call('GET', '/fabric/v1/links'))).toHaveLength(2)
})

it.each([
  ['a negative cost', '/fabric/v1/links/link-1', { staticCost: -1 }, '400'],
  ['what is no number', '/fabric/v1/links/link-1', { staticCost: '7' }, '400'],
  ['an unknown link', '/fabric/v1/links/none', { staticCost: 7 }, '404'],
])('refuses %s', async (_name, path, body, status) => {
  const { world } = await twoLinks()
  await expect(world.call('PATCH', path, body)).rejects.toThrow(`: ${status}`)
})

it('an identity that was disabled for a while is enabled at routers when that is over', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  const alice = await world.create('/identities', { name: 'alice', type: 'Device', isAdmin: false })
  await world.call('POST', `/identities/${alice}/disable`, { durationMinutes: 1 })
  const wish = routerSide.Subscribe.encode({ subscriptionDurationSeconds: 300, subscriptionId: 'mine' })
  router.send(CONTENT_TYPE.subscribeToModel, wish)
  const state = await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  const shown = (events: ReturnType<typeof routerSide.StateEvents.decode>['events']) =>
    events.flatMap(({ identity }) => (identity?.id === alice ? [identity.disabled] : []))
  expect(shown(routerSide.StateEvents.decode(bodyOf(state)).events)).toEqual([true])
  const changesOf = (to: FakeRouter) =>
    to
      .all(CONTENT_TYPE.modelChanges)
      .flatMap((frame) => shown(routerSide.ChangeSetEvents.decode(bodyOf(frame)).changes))
  await world.controller.elapse(58_000)
  expect(changesOf(router)).toEqual([])
  await world.controller.elapse(4000)
  await vi.waitFor(() => expect(changesOf(router)).toEqual([false]))
})
