import { routerSide } from 'portcullis/fabric'
import { expect, it, vi } from 'vitest'
import { openIdTokens } from '../../support/openid.ts'
import { dialed, dialedBy, logIn, sdkWorld, sessionOf, unroutes } from './sdk-world.ts'

const { CONTENT_TYPE, HEADER } = routerSide
const NOT_RETRIABLE = 3

it('a client dials with its session, whose path is shown, and whose end cuts the circuit', async () => {
  const { world, router, serviceId } = await sdkWorld()
  const session = await sessionOf(world, await logIn(world, 'client'), serviceId, 'Dial')
  const dial = () => dialedBy(router, session)
  const { circuitId } = await dial()
  expect(await world.call('GET', `/sessions/${session.id}/route-path`)).toEqual({ routePath: [router.id] })
  await world.call('DELETE', `/sessions/${session.id}`)
  await vi.waitFor(() => expect(unroutes(router)).toEqual([{ circuitId, now: true }]))
  expect(await world.call('GET', `/sessions/${session.id}/route-path`)).toEqual({ routePath: [] })
  expect(await dial()).toEqual({ refused: 'invalid session' })
})

it('a client dials with its access token alone, for itself and what it may dial, until the policy is gone', async () => {
  const { world, router, serviceId, dialPolicy, clientId } = await sdkWorld()
  const fetch = (path: string, init?: RequestInit) =>
    world.controller.fetch(new Request(`https://controller.test:1280${path}`, init))
  const { access_token: accessToken } = await openIdTokens(
    { fetch },
    { username: 'client', password: 'client-password' },
  )
  const dial = (identityId: string, service = serviceId) =>
    dialed(router, CONTENT_TYPE.createCircuitV3, {
      [HEADER.circuitApiSessionToken]: accessToken,
      [HEADER.circuitIdentityId]: identityId,
      [HEADER.circuitServiceId]: service,
    })
  const { circuitId } = await dial(clientId)
  expect(circuitId).toBeDefined()
  expect(await dial('somebody-else')).toEqual({ refused: 'api session of another identity' })
  expect(await dial(clientId, 'no-service')).toEqual({ refused: 'invalid service' })
  await world.call('DELETE', `/service-policies/${dialPolicy}`)
  await vi.waitFor(() => expect(unroutes(router)).toEqual([{ circuitId, now: true }]))
  expect(await dial(clientId)).toEqual({ refused: 'no policy lets the identity dial the service' })
})

it('a circuit has the id that its router proposes, and no other circuit has it too', async () => {
  const { world, router, serviceId, clientId } = await sdkWorld()
  const fetch = (path: string, init?: RequestInit) =>
    world.controller.fetch(new Request(`https://controller.test:1280${path}`, init))
  const tokens = await openIdTokens({ fetch }, { username: 'client', password: 'client-password' })
  const dial = (proposed: string) =>
    dialed(router, CONTENT_TYPE.createCircuitV3, {
      [HEADER.circuitApiSessionToken]: tokens.access_token,
      [HEADER.circuitIdentityId]: clientId,
      [HEADER.circuitServiceId]: serviceId,
      [HEADER.proposedCircuitId]: proposed,
    })
  const both = await Promise.all([dial('proposed-1'), dial('proposed-1')])
  // Each verifies its token on another thread first, so that either may be the first.
  expect(both).toContainEqual({ circuitId: 'proposed-1' })
  expect(both).toContainEqual({ refused: 'there is a circuit of this id' })
  expect(await dial('with blank')).toEqual({ refused: 'invalid circuit id' })
  await world.call('DELETE', '/fabric/v1/circuits/proposed-1', { immediate: true })
  // A circuit that its routers still carry must not be mistaken for a new one.
  expect(await dial('proposed-1')).toEqual({ refused: 'there is a circuit of this id' })
  expect((await dial('')).circuitId).toMatch(/^[\da-f-]{36}$/)
})

it('a refused dial names the service and the instance that were asked for, and is not tried again where no router would do', async () => {
  const { world, router, serviceId, meeting } = await sdkWorld()
  const session = await sessionOf(world, await logIn(world, 'client'), serviceId, 'Dial')
  const headers = {
    [HEADER.circuitSessionToken]: session.token,
    [HEADER.circuitApiSessionToken]: session.apiToken,
  }
  const missing = await dialed(router, CONTENT_TYPE.createCircuitV2, { ...headers, [HEADER.circuitInstanceId]: 'i7' })
  expect(missing).toEqual({ refused: 'service web has no terminators for instance i7' })
  await world.call('PATCH', `/service-edge-router-policies/${meeting}`, { edgeRouterRoles: ['#none'] })
  const texts = new Map(Object.entries(headers).map(([key, text]) => [Number(key), routerSide.textBytes(text)]))
  const answer = await router.request(CONTENT_TYPE.createCircuitV2, undefined, texts)
  expect(new TextDecoder().decode(answer.body[0])).toBe('no edge router may be used by the identity for the service')
  expect(routerSide.readUint32(answer.headers, HEADER.retryHint)).toBe(NOT_RETRIABLE)
})
