import { routerSide } from 'portcullis/fabric'
import { bodyOf, type FakeRouter } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { type FabricWorld, fabricWorld, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE, HEADER, ModelValidated, StateEvents, StateFacts, Subscribe, ValidateModel } = routerSide

async function follow(router: FakeRouter): Promise<void> {
  router.send(
    CONTENT_TYPE.subscribeToModel,
    Subscribe.encode({ subscriptionDurationSeconds: 300, subscriptionId: 'mine' }),
  )
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
}

/** The state that a router was asked to compare; a state in pieces is put together as routers do. */
async function asked(router: FakeRouter) {
  const frame = await router.next(({ contentType }) => contentType === CONTENT_TYPE.validateModel)
  const state = Buffer.concat([...ValidateModel.decode(bodyOf(frame)).state])
  return { frame, ...StateFacts.decode(state), events: StateEvents.decode(state).events }
}

function answer(
  router: FakeRouter,
  frame: routerSide.Frame,
  diffs: Parameters<typeof ModelValidated.encode>[0]['diffs'],
) {
  const replyFor = new Map([[HEADER.replyFor, routerSide.uint32Header(frame.sequence)]])
  router.send(CONTENT_TYPE.modelValidated, ModelValidated.encode(diffs === undefined ? {} : { diffs }), replyFor)
}

const validate = (world: FabricWorld, { id }: FakeRouter) =>
  world.call('POST', `/portcullis/v1/routers/${id}/validate-data-model`)

it('a router is asked to compare the model with one read anew, behind the changes that lead up to it', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  await follow(router)
  const { serviceId } = await tunnelNetwork(world)
  const validation = validate(world, router)
  const { frame, endIndex, events } = await asked(router)
  const steps = router.all(CONTENT_TYPE.modelChanges).map((step) => routerSide.ChangeSetFacts.decode(bodyOf(step)))
  expect(steps.at(-1)?.index).toBeLessThanOrEqual(endIndex)
  expect(router.received.indexOf(frame)).toBe(router.received.length - 1)
  expect(events.map(({ service }) => service?.id)).toContain(serviceId)
  answer(router, frame, [])
  expect(await validation).toEqual({
    index: endIndex,
    differences: [],
    differenceCount: 0,
    notCompared: ['config-overrides', 'revocations'],
  })
})

it('what a router reports is answered, bounded, and revocations are compared by their ids', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  await follow(router)
  const { id } = await world.call('POST', '/revocations', { type: 'JTI', id: 'ab5bcf9a-4f23-4f9c-a0d8-2a1fdd4a3bc4' })
  const validation = validate(world, router)
  const { frame, events } = await asked(router)
  expect(events.filter(({ revocation }) => revocation !== undefined)).toEqual([])
  const unexpected = { entityType: 'service', entityId: 's', diffType: 'added', detail: 'x'.repeat(2000) }
  answer(
    router,
    frame,
    Array.from({ length: 1200 }, () => unexpected),
  )
  const { differences, differenceCount } = await validation
  expect(differenceCount).toBe(1201)
  expect(differences).toHaveLength(1000)
  expect(Object.values(differences as object)[0]).toEqual({
    entityType: 'service',
    entityId: 's',
    kind: 'added',
    detail: 'x'.repeat(1000),
  })
  router.forget()
  const again = validate(world, router)
  const known = { entityType: 'revocations', entityId: String(id), diffType: 'added', detail: 'entity unexpected' }
  answer(router, (await asked(router)).frame, [known])
  expect(await again).toMatchObject({ differences: [], differenceCount: 0 })
})

it('a router that does not follow, goes away, or does not answer is told apart', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  await expect(validate(world, router)).rejects.toThrow('404')
  await follow(router)
  const left = validate(world, router)
  await asked(router)
  router.close()
  await expect(left).rejects.toThrow('404')
  const other = await world.router('r2')
  await follow(other)
  const refused = [validate(world, other), validate(world, other)].map((call) => expect(call).rejects.toThrow('503'))
  await asked(other)
  await world.controller.elapse(61_000)
  await Promise.all(refused)
  expect(other.all(CONTENT_TYPE.validateModel)).toHaveLength(1)
})

it('a router that goes away while its model is read is waited for by nobody', async () => {
  const world = await fabricWorld()
  await tunnelNetwork(world)
  for (let turns = 0; turns < 10; turns += 1) {
    const router = await world.router(`r${turns}`)
    await follow(router)
    const left = validate(world, router).catch(String)
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    router.close()
    await new Promise(setImmediate)
    await world.controller.elapse(61_000)
    expect(await left, `${turns} turns`).toContain('404')
  }
})
