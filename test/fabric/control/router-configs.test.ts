import { routerSide } from 'portcullis/fabric'
import { bodyOf, type FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { type FabricWorld, fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE, StateEvents, StateFacts, ChangeSetEvents, ChangeSetFacts, Subscribe, ValidateModel } = routerSide
type Event = ReturnType<typeof StateEvents.decode>['events'][number]

/** The configs of routers that a router was told of, each as it was told last, by their ids. */
function told(router: FakeRouter): ReadonlyMap<string, string> {
  const types = new Map<string, string>()
  const configs = new Map<string, string>()
  for (const event of router.received.flatMap(eventsIn)) {
    if (event.configType !== undefined) types.set(event.configType.id, event.configType.target)
    const { config } = event
    if (config !== undefined && types.get(config.typeId) === 'router') configs.set(config.id, config.dataJson)
  }
  return configs
}

function eventsIn(frame: routerSide.Frame): readonly Event[] {
  if (frame.contentType === CONTENT_TYPE.modelState) return StateEvents.decode(bodyOf(frame)).events
  return frame.contentType === CONTENT_TYPE.modelChanges ? ChangeSetEvents.decode(bodyOf(frame)).changes : []
}

/** Whether each change that a router was sent leads on from the one before. */
function hasNoGap(router: FakeRouter): boolean {
  let index = 0
  for (const frame of router.received) {
    if (frame.contentType === CONTENT_TYPE.modelState) index = StateFacts.decode(bodyOf(frame)).endIndex
    if (frame.contentType !== CONTENT_TYPE.modelChanges) continue
    const facts = ChangeSetFacts.decode(bodyOf(frame))
    if (facts.previousIndex !== index) return false
    index = facts.index
  }
  return true
}

async function follow(router: FakeRouter): Promise<void> {
  const body = Subscribe.encode({ subscriptionDurationSeconds: 300, subscriptionId: router.id })
  router.send(CONTENT_TYPE.subscribeToModel, body)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
}

function linkConfig(world: FabricWorld, name: string, port: number): Promise<string> {
  return world.create('/configs', { name, configTypeId: 'router.link.v1', data: listening(port) })
}

const listening = (port: number) => ({ listeners: [{ bind: `tls:127.0.0.1:${port}` }] })
const portsIn = (router: FakeRouter) =>
  [...told(router).values()].map((data) => JSON.parse(data).listeners[0].bind.split(':').at(-1))

it('a router is told its own configs, as they are now, and nobody else is', async () => {
  const world = await fabricWorld()
  const [first, second] = [await linkConfig(world, 'first', 1), await linkConfig(world, 'second', 2)]
  const named = await world.router('named', { fields: { configs: [first] } })
  const other = await world.router('other')
  await follow(named)
  await follow(other)
  expect([...told(named).keys()]).toEqual([first])
  await world.call('PATCH', `/configs/${first}`, { data: listening(3) })
  await vi.waitFor(() => expect(portsIn(named)).toEqual(['3']))
  await world.call('PATCH', `/edge-routers/${other.id}`, { configs: [second] })
  await vi.waitFor(() => expect(portsIn(other)).toEqual(['2']))
  await world.call('PATCH', `/edge-routers/${named.id}`, { configs: [second] })
  await vi.waitFor(() => expect([...told(named).keys()]).toEqual([first, second]))
  // The second one was on its way to both; the first one never to the other.
  expect([...told(other).keys()]).toEqual([second])
  await world.create('/services', { name: 'afterwards', encryptionRequired: false })
  await vi.waitFor(() => expect(world.controller).toBeDefined())
  expect([named, other].map(hasNoGap)).toEqual([true, true])
})

it('a router that compares its model is given its own configs to compare', async () => {
  const world = await fabricWorld()
  const config = await linkConfig(world, 'mine', 1)
  await linkConfig(world, 'of nobody', 2)
  const router = await world.router('named', { fields: { configs: [config] } })
  await follow(router)
  const answer = world.call('POST', `/portcullis/v1/routers/${router.id}/validate-data-model`).catch(String)
  const frame = await router.next(({ contentType }) => contentType === CONTENT_TYPE.validateModel)
  const pieces = ValidateModel.decode(bodyOf(frame)).state
  const ids = pieces.flatMap((piece) => StateEvents.decode(piece).events.flatMap((event) => event.config?.id ?? []))
  expect(ids).toEqual([config])
  router.send(CONTENT_TYPE.modelValidated, routerSide.ModelValidated.encode({}))
  expect(await answer).toMatchObject({ differenceCount: 0 })
})
