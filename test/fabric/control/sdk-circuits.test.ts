import { routerSide } from 'portcullis/fabric'
import { bodyOf, type FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { openIdTokens } from '../../support/openid.ts'
import { type FabricWorld, fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE, HEADER, textHeader } = routerSide

/** A service, two people who may meet at every router, and a router that a host registered an address at. */
async function sdkWorld() {
  const world = await fabricWorld()
  const service = { name: 'web', encryptionRequired: false, roleAttributes: ['web'] }
  const serviceId = await world.create('/services', service)
  const all = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await world.create('/edge-router-policies', { name: 'all', identityRoles: ['#all'], ...all })
  await world.create('/service-edge-router-policies', { name: 'all', serviceRoles: ['#all'], ...all })
  const policy = (type: string, identityRole: string) =>
    world.create('/service-policies', {
      name: type,
      type,
      semantic: 'AnyOf',
      serviceRoles: ['#web'],
      identityRoles: [identityRole],
    })
  const dialPolicy = await policy('Dial', '#clients')
  await policy('Bind', '#hosts')
  const clientId = await person(world, 'client', 'clients')
  const router = await world.router('r1')
  const hosting = await sessionOf(world, await personOf(world, 'host', 'hosts'), serviceId, 'Bind')
  const created = await router.request(
    CONTENT_TYPE.createTerminatorV2,
    routerSide.CreateTerminator.encode({
      address: 'terminator-1',
      sessionToken: hosting.token,
      apiSessionToken: hosting.apiToken,
    }),
  )
  expect(created.contentType).toBe(CONTENT_TYPE.terminatorV2Created)
  return { world, router, serviceId, dialPolicy, clientId }
}

async function person(world: FabricWorld, name: string, role: string): Promise<string> {
  const id = await world.create('/identities', { name, type: 'User', isAdmin: false, roleAttributes: [role] })
  await world.create('/authenticators', {
    identityId: id,
    method: 'updb',
    username: name,
    password: `${name}-password`,
  })
  return id
}

/** Logs a new person in with a password; answers the token. */
async function personOf(world: FabricWorld, name: string, role: string): Promise<string> {
  await person(world, name, role)
  return logIn(world, name)
}

async function logIn({ controller }: FabricWorld, username: string): Promise<string> {
  const { data } = await controller
    .client()
    .call('POST /authenticate', { query: { method: 'password' }, body: { username, password: `${username}-password` } })
  return data.token
}

async function sessionOf({ controller }: FabricWorld, apiToken: string, serviceId: string, type: 'Dial' | 'Bind') {
  const { data } = await controller.client().withToken(apiToken).call('POST /sessions', { body: { serviceId, type } })
  return { id: data.id, token: data.token, apiToken }
}

/** A client dials through the router with what it presented there; answers the circuit, or why there is none. */
async function dialed(router: FakeRouter, contentType: number, headers: Readonly<Record<number, string>>) {
  const texts = Object.entries(headers).map(([key, text]) => [Number(key), textHeader(text)] as const)
  const answer = await router.request(contentType, undefined, new Map(texts))
  if (answer.contentType === CONTENT_TYPE.error) return { refused: new TextDecoder().decode(bodyOf(answer)) }
  return { circuitId: routerSide.readText(answer.headers, HEADER.createdCircuitId) }
}

const unroutes = (router: FakeRouter) =>
  router.all(CONTENT_TYPE.unroute).map((frame) => routerSide.Unroute.decode(bodyOf(frame)))

it('a client dials with its session, whose path is shown, and whose end cuts the circuit', async () => {
  const { world, router, serviceId } = await sdkWorld()
  const session = await sessionOf(world, await logIn(world, 'client'), serviceId, 'Dial')
  const dial = () =>
    dialed(router, CONTENT_TYPE.createCircuitV2, {
      [HEADER.circuitSessionToken]: session.token,
      [HEADER.circuitApiSessionToken]: session.apiToken,
    })
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
