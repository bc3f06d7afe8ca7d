import { createPkiMaterial } from 'portcullis'
import { routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import { bodyOf, type FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { type FabricWorld, fabricWorld, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE, Subscribe } = routerSide

function subscribe(router: FakeRouter, from: { readonly currentIndex?: number; readonly timelineId?: string } = {}) {
  router.send(
    CONTENT_TYPE.subscribeToModel,
    Subscribe.encode({ subscriptionDurationSeconds: 300, subscriptionId: 'mine', ...from }),
  )
}

/** The knowledge of a router that applies every event in order, refusing gaps as routers do. */
function modelOf(router: FakeRouter) {
  const relations = new Map<string, Set<string>>()
  const entities = new Map<string, string>()
  let index = 0
  let timelineId = ''
  const apply = ({ action, ...event }: ReturnType<typeof routerSide.StateEvents.decode>['events'][number]) => {
    const { servicePolicyChange: change } = event
    if (change !== undefined) {
      const key = `${change.policyId} ${change.relatedEntityType}`
      const known = relations.get(key) ?? new Set()
      relations.set(key, known)
      for (const id of change.relatedEntityIds) change.add ? known.add(id) : known.delete(id)
      return
    }
    const [type, entity] = Object.entries(event).find(([, value]) => value !== undefined) ?? ['', undefined]
    const id = `${type} ${String(Reflect.get(Object(entity), type === 'publicKey' ? 'kid' : 'id') ?? '')}`
    if (action === 'delete') entities.delete(id)
    else
      entities.set(
        id,
        JSON.stringify(entity, (_key, value) => (value instanceof Map ? [...value] : value)),
      )
  }
  for (const frame of router.received) {
    if (frame.contentType === CONTENT_TYPE.modelState) {
      relations.clear()
      entities.clear()
      ;({ endIndex: index, timelineId } = routerSide.StateFacts.decode(bodyOf(frame)))
      for (const event of routerSide.StateEvents.decode(bodyOf(frame)).events) apply(event)
    } else if (frame.contentType === CONTENT_TYPE.modelChanges) {
      const facts = routerSide.ChangeSetFacts.decode(bodyOf(frame))
      expect(facts.previousIndex).toBe(index)
      index = facts.index
      for (const event of routerSide.ChangeSetEvents.decode(bodyOf(frame)).changes) apply(event)
    }
  }
  const related = [...relations].flatMap(([key, ids]) => (ids.size === 0 ? [] : ([[key, [...ids].sort()]] as const)))
  return { index, timelineId, entities, related: new Map(related) }
}

/** A router that follows step by step must know what one knows that is told everything now. */
async function expectLevel(world: FabricWorld, follower: FakeRouter) {
  const fresh = await world.router(`fresh-${follower.received.length}`)
  const isRouter = (id: string) => id.startsWith('router ') || id.startsWith('identity ')
  subscribe(fresh)
  await fresh.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  await vi.waitFor(() => {
    const [followed, whole] = [modelOf(follower), modelOf(fresh)]
    expect(followed.related).toEqual(whole.related)
    const without = ({ entities }: typeof whole) => [...entities].filter(([id]) => !isRouter(id)).sort()
    expect(without(followed)).toEqual(without(whole))
  })
}

it('whoever follows the model step by step knows what whoever is told all of it knows', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1', { fields: { isTunnelerEnabled: true } })
  subscribe(router)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  const { serviceId, dial } = await tunnelNetwork(world)
  await expectLevel(world, router)
  const identity = await world.create('/identities', {
    name: 'ada',
    type: 'Device',
    isAdmin: false,
    roleAttributes: ['staff'],
  })
  const check = await world.create('/posture-checks', {
    name: 'os',
    typeId: 'OS',
    operatingSystems: [{ type: 'Linux', versions: ['>=5.0.0'] }],
    roleAttributes: ['safe'],
  })
  await world.call('PATCH', `/service-policies/${dial}`, { identityRoles: ['#staff'], postureCheckRoles: ['#safe'] })
  await expectLevel(world, router)
  const model = modelOf(router)
  expect(model.related.get(`${dial} identities`)).toEqual([identity])
  expect(model.related.get(`${dial} posture-checks`)).toEqual([check])
  const [controller] = Object.values(await world.call('GET', '/controllers'))
  expect([...model.entities.keys()]).toContain(`publicKey ${Reflect.get(Object(controller), 'fingerprint')}`)
  await world.call('PATCH', `/identities/${identity}`, { roleAttributes: [] })
  await world.call('PATCH', `/services/${serviceId}`, { name: 'renamed', roleAttributes: [] })
  await world.call('DELETE', `/posture-checks/${check}`)
  await expectLevel(world, router)
  expect(modelOf(router).related.get(`${dial} identities`)).toBeUndefined()
  await world.call('DELETE', `/identities/${identity}`)
  await world.call('DELETE', `/service-policies/${dial}`)
  await expectLevel(world, router)
})

it('a check or a policy that goes is taken out of what routers relate to it first, as some of them do not do it themselves', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  subscribe(router)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  const { dial } = await tunnelNetwork(world)
  const identity = await world.create('/identities', { name: 'ada', type: 'Device', isAdmin: false })
  const check = await world.create('/posture-checks', {
    name: 'd',
    typeId: 'DOMAIN',
    domains: ['d'],
    roleAttributes: ['safe'],
  })
  await world.call('PATCH', `/service-policies/${dial}`, {
    identityRoles: [`@${identity}`],
    postureCheckRoles: ['#safe'],
  })
  const deleted = async (path: string) => {
    router.forget()
    await world.call('DELETE', path)
    const frame = await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelChanges)
    return routerSide.ChangeSetEvents.decode(bodyOf(frame)).changes
  }
  const separated = (relatedEntityType: string, id: string) => ({
    servicePolicyChange: { policyId: dial, relatedEntityType, relatedEntityIds: [id], add: false },
  })
  await vi.waitFor(() => expect(modelOf(router).related.get(`${dial} posture-checks`)).toEqual([check]))
  expect(await deleted(`/posture-checks/${check}`)).toMatchObject([
    separated('posture-checks', check),
    { action: 'delete', postureCheck: { id: check } },
  ])
  expect(await deleted(`/service-policies/${dial}`)).toMatchObject([
    separated('identities', identity),
    { action: 'delete', servicePolicy: { id: dial } },
  ])
})

it('a router that comes back is told what it missed, or everything when its past is another one', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  subscribe(router)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  const { index, timelineId } = modelOf(router)
  await tunnelNetwork(world)
  await vi.waitFor(() => expect(router.all(CONTENT_TYPE.modelChanges).length).toBeGreaterThan(0))
  router.forget()
  subscribe(router, { currentIndex: index, timelineId })
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelChanges)
  expect(router.all(CONTENT_TYPE.modelState)).toEqual([])
  subscribe(router, { currentIndex: index, timelineId: 'another' })
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
})

/** The names of the services that a router was told of by change sets. */
function toldServices(router: FakeRouter): readonly string[] {
  const frames = router.all(CONTENT_TYPE.modelChanges)
  const events = frames.flatMap((frame) => routerSide.ChangeSetEvents.decode(bodyOf(frame)).changes)
  return events.flatMap(({ service }) => (service === undefined ? [] : [service.name]))
}

const renewal = (from: object) => ({
  subscriptionDurationSeconds: 300,
  subscriptionId: 'mine',
  renew: true,
  ...from,
})

it('what changes between the end of a subscription and its renewal reaches a router that is connected at once', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  subscribe(router)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  await world.controller.elapse(315_000)
  await world.create('/services', { name: 'in between', encryptionRequired: false })
  await vi.waitFor(() => expect(toldServices(router)).toEqual(['in between']))
  // modelOf refuses a change set that does not follow the one before.
  const { index: currentIndex, timelineId } = modelOf(router)
  router.send(CONTENT_TYPE.subscribeToModel, Subscribe.encode(renewal({ currentIndex, timelineId })))
  await world.create('/services', { name: 'after', encryptionRequired: false })
  await vi.waitFor(() => expect(toldServices(router)).toEqual(['in between', 'after']))
  expect(modelOf(router).index).toBeGreaterThan(currentIndex)
  expect(router.all(CONTENT_TYPE.modelState)).toHaveLength(1)
})

it('a renewal says what the router has: what it lacks is sent again, whatever was sent before', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  subscribe(router)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  const { index: currentIndex, timelineId } = modelOf(router)
  await world.create('/services', { name: 'lost', encryptionRequired: false })
  await vi.waitFor(() => expect(toldServices(router)).toEqual(['lost']))
  router.forget()
  router.send(CONTENT_TYPE.subscribeToModel, Subscribe.encode(renewal({ currentIndex, timelineId })))
  await vi.waitFor(() => expect(toldServices(router)).toEqual(['lost']))
  const [frame] = router.all(CONTENT_TYPE.modelChanges)
  expect(frame && routerSide.ChangeSetFacts.decode(bodyOf(frame)).previousIndex).toBe(currentIndex)
  // A router that throws its model away asks from the beginning.
  router.send(CONTENT_TYPE.subscribeToModel, Subscribe.encode(renewal({ currentIndex: 0, timelineId })))
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
})

it('a router that knows more than the store waits for it a few seconds, and then gets what there is', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  subscribe(router, { currentIndex: 1_000_000, timelineId: 'another' })
  // A router that asks later is served later.
  const othersAreServed = async (name: string) => {
    const other = await world.router(name)
    subscribe(other)
    await other.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
    await router.request(CONTENT_TYPE.ping)
  }
  await othersAreServed('r2')
  await world.controller.elapse(4000)
  await othersAreServed('r3')
  expect(router.all(CONTENT_TYPE.modelState)).toEqual([])
  await world.controller.elapse(2000)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
})

it('a router that connects after a revocation learns it with the model, also from a process that started after it', async () => {
  const now = Date.UTC(2026, 0, 1)
  const storage = { ...memoryStorage(), close: async () => undefined }
  const of = { storage, pki: await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now }), now }
  const before = await fabricWorld({}, of)
  const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
  await before.call('POST', '/revocations', { type: 'JTI', id })
  const learnt = async (world: FabricWorld, name: string) => {
    const router = await world.router(name)
    subscribe(router)
    await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
    return [...modelOf(router).entities.keys()].filter((key) => key.startsWith('revocation '))
  }
  expect(await learnt(before, 'late')).toEqual([`revocation ${id}`])
  await before.controller.close()
  expect(await learnt(await fabricWorld({}, of), 'later')).toEqual([`revocation ${id}`])
})
