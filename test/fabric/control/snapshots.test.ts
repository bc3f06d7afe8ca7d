import { routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import { FakeRouter } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { countedReads } from '../../support/counted-reads.ts'
import { openIdTokens } from '../../support/openid.ts'
import { dial, fabricWorld, host, tunnelNetwork } from './fabric-world.ts'
import { dialed, dialedBy, logIn, sdkWorld, sessionOf } from './sdk-world.ts'

const { CONTENT_TYPE, HEADER } = routerSide

/** A world whose storage counts the snapshots that are taken of it. */
async function counted() {
  const storage = countedReads(memoryStorage())
  return { storage, world: await fabricWorld({}, { storage }) }
}

it('a circuit of a session is judged and laid by one snapshot', async () => {
  const { storage, world } = await counted()
  const { router, serviceId } = await sdkWorld(world)
  const session = await sessionOf(world, await logIn(world, 'client'), serviceId, 'Dial')
  storage.taken()
  expect((await dialedBy(router, session)).circuitId).toBeDefined()
  expect(storage.taken()).toHaveLength(1)
})

it('a circuit of an access token is judged and laid by one snapshot', async () => {
  const { storage, world } = await counted()
  const { router, serviceId, clientId } = await sdkWorld(world)
  const fetch = (path: string, init?: RequestInit) =>
    world.controller.fetch(new Request(`https://controller.test:1280${path}`, init))
  const tokens = await openIdTokens({ fetch }, { username: 'client', password: 'client-password' })
  storage.taken()
  const { circuitId } = await dialed(router, CONTENT_TYPE.createCircuitV3, {
    [HEADER.circuitApiSessionToken]: tokens.access_token,
    [HEADER.circuitIdentityId]: clientId,
    [HEADER.circuitServiceId]: serviceId,
  })
  expect(circuitId).toBeDefined()
  expect(storage.taken()).toHaveLength(1)
})

it('a circuit of a router for its own host is judged and laid by one snapshot', async () => {
  const { storage, world } = await counted()
  const { serviceId } = await tunnelNetwork(world)
  const router = await world.router('r1', { fields: { isTunnelerEnabled: true } })
  await host(router, serviceId)
  storage.taken()
  expect((await dial(router)).refused).toBeUndefined()
  expect(storage.taken()).toHaveLength(1)
})

it('a router that says hello is judged by one snapshot', async () => {
  const { storage, world } = await counted()
  const router = new FakeRouter(await world.enroll('r1'), world.listener)
  storage.taken()
  expect((await router.connect()).accepted).toBe(true)
  const judging = storage.taken().filter((kinds) => kinds.includes('edge-routers'))
  expect(judging).toHaveLength(1)
})

it('a refused hello is judged by one snapshot as well, and the host is told where it came from', async () => {
  const { storage, world } = await counted()
  const [first, second] = [await world.enroll('r1'), await world.enroll('r2')]
  const pretender = new FakeRouter({ ...first, chain: second.chain }, world.listener)
  storage.taken()
  expect(await pretender.connect()).toMatchObject({ accepted: false, reason: 'wrong-fingerprint' })
  expect(storage.taken().filter((kinds) => kinds.includes('edge-routers'))).toHaveLength(1)
  expect(world.told('router.refused')).toMatchObject([{ routerId: first.id, reason: 'wrong-fingerprint' }])
})
