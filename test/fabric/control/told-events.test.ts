import { routerSide } from 'portcullis/fabric'
import { TEST_ADMIN } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { mountOf } from '../../support/mount.ts'
import { bearing, openIdTokens } from '../../support/openid.ts'
import { dial, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE, Fault } = routerSide

/** A router that hosts a service and dials it, and the events of some kinds as deployed controllers tell them. */
async function toldWorld(...kinds: readonly string[]) {
  const world = await fabricWorld()
  const told: Readonly<Record<string, unknown>>[] = []
  world.controller.events.deployed((event) => told.push(event), kinds)
  const { serviceId } = await tunnelNetwork(world)
  const router = await world.router('r1', { fields: { isTunnelerEnabled: true } })
  return { world, told, serviceId, router }
}

it('circuits are told with their ends, their host, and how long they took and lasted', async () => {
  const { told, serviceId, router, world } = await toldWorld('circuit')
  await host(router, serviceId)
  const { circuitId } = await dial(router)
  await world.controller.elapse(2000)
  router.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'ingress', id: circuitId }))
  await expect.poll(() => told.length).toBe(2)
  const common = {
    namespace: 'circuit',
    version: 2,
    circuit_id: circuitId,
    client_id: router.id,
    service_id: serviceId,
    terminator_id: 'terminator-1',
    instance_id: '',
    link_count: 0,
    path: {
      nodes: [router.id],
      links: null,
      ingress_id: expect.stringMatching(/.{36}/),
      egress_id: expect.any(String),
    },
    tags: { clientId: router.id, hostId: router.id, serviceId },
  }
  expect(told).toEqual([
    expect.objectContaining({ ...common, event_type: 'created', creation_timespan: 0, path_cost: 0 }),
    expect.objectContaining({ ...common, event_type: 'deleted', duration: 2_000_000_000 }),
  ])
})

it('a dial that failed is told with the reason of the router', async () => {
  const { told, serviceId, router } = await toldWorld('fabric.circuits')
  await dial(router)
  await expect.poll(() => told.length).toBe(1)
  expect(told[0]).toMatchObject({
    namespace: 'fabric.circuits',
    event_type: 'failed',
    circuit_id: expect.stringMatching(/.{36}/),
    service_id: serviceId,
    failure_cause: 'NO_TERMINATORS',
    creation_timespan: 0,
    path: { nodes: null, links: null, ingress_id: '', egress_id: '' },
    tags: { clientId: router.id, serviceId },
  })
  expect(Object.keys(Object(told[0]?.tags))).not.toContain('hostId')
})

it('a bearer session is told as one, and so is its session for a service', async () => {
  const { told, serviceId, world } = await toldWorld('apiSession', 'session')
  told.length = 0
  const mounted = mountOf(world.controller)
  const { access_token } = await openIdTokens(mounted, TEST_ADMIN)
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ serviceId, type: 'Dial' }),
  }
  const answer = await bearing(mounted, access_token, '/edge/client/v1/sessions', init)
  const { data } = (await answer.json()) as { readonly data: { readonly id: string } }
  const [started, issued] = told
  expect(started).toMatchObject({ namespace: 'apiSession', event_type: 'created', type: 'jwt' })
  expect(issued).toMatchObject({
    namespace: 'session',
    event_type: 'created',
    session_type: 'Dial',
    provider: 'jwt',
    id: data.id,
    api_session_id: started?.id,
    identity_id: started?.identity_id,
    service_id: serviceId,
  })
  expect(told).toHaveLength(2)
})

it('a change is told by the entity type of deployed controllers, and its commit by the event alone', async () => {
  const { told, world } = await toldWorld('entityChange')
  told.length = 0
  const roles = { semantic: 'AnyOf', edgeRouterRoles: ['#all'], identityRoles: ['#all'] }
  await world.create('/edge-router-policies', { name: 'more', ...roles })
  await world.create('/transit-routers', { name: 'passing' })
  const changes = told.filter(({ eventType }) => eventType === 'created')
  expect(changes[0]).toMatchObject({ entityType: 'edgeRouterPolicies', isParentEvent: false })
  expect(changes.map(({ entityType }) => entityType)).toContain('routers')
  const { eventId } = changes[0] ?? {}
  const [, commit] = told.filter((event) => event.eventId === eventId)
  expect(Object.keys(commit ?? {}).sort()).toEqual(['eventId', 'eventType', 'event_src_id', 'namespace', 'timestamp'])
})

it('a link is told with its cost', async () => {
  const { told, world, router } = await toldWorld('link')
  const other = await world.router('r2')
  reportLinks(router, [['link-1', other]])
  await expect.poll(() => told.length).toBe(1)
  expect(told[0]).toMatchObject({
    event_type: 'routerLinkNew',
    link_id: 'link-1',
    src_router_id: router.id,
    dst_router_id: other.id,
    cost: 1,
    connections: [],
  })
})
