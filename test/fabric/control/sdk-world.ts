import { routerSide } from 'portcullis/fabric'
import { bodyOf, type FakeRouter } from 'portcullis/testing'
import { expect } from 'vitest'
import { type FabricWorld, fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE, HEADER, textBytes } = routerSide

/** A service, two people who may meet at every router, and a router that a host registered an address at. */
export async function sdkWorld(known?: FabricWorld) {
  const world = known ?? (await fabricWorld())
  const service = { name: 'web', encryptionRequired: false, roleAttributes: ['web'] }
  const serviceId = await world.create('/services', service)
  const all = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await world.create('/edge-router-policies', { name: 'all', identityRoles: ['#all'], ...all })
  const meeting = await world.create('/service-edge-router-policies', { name: 'all', serviceRoles: ['#all'], ...all })
  const policy = (type: string, identityRole: string) =>
    world.create('/service-policies', {
      name: type,
      type,
      semantic: 'AnyOf',
      serviceRoles: ['#web'],
      identityRoles: [identityRole],
    })
  const dialPolicy = await policy('Dial', '#clients')
  const bindPolicy = await policy('Bind', '#hosts')
  const clientId = await person(world, 'client', 'clients')
  const hostId = await person(world, 'host', 'hosts')
  const router = await world.router('r1')
  const hosting = await sessionOf(world, await logIn(world, 'host'), serviceId, 'Bind')
  expect((await registered(router, hosting)).result).toBe('success')
  return { world, router, serviceId, meeting, dialPolicy, bindPolicy, clientId, hostId, hosting }
}

/** A host registers an address; answers what it is told. */
export async function registered(
  router: FakeRouter,
  { token: sessionToken, apiToken: apiSessionToken }: { readonly token: string; readonly apiToken: string },
  address = 'terminator-1',
) {
  const request = routerSide.CreateTerminator.encode({ address, sessionToken, apiSessionToken })
  return routerSide.TerminatorCreated.decode(bodyOf(await router.request(CONTENT_TYPE.createTerminatorV2, request)))
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

/** Logs a person in with a password; answers the token. */
export async function logIn({ controller }: FabricWorld, username: string): Promise<string> {
  const { data } = await controller
    .client()
    .call('POST /authenticate', { query: { method: 'password' }, body: { username, password: `${username}-password` } })
  return data.token
}

export async function sessionOf(
  { controller }: FabricWorld,
  apiToken: string,
  serviceId: string,
  type: 'Dial' | 'Bind',
) {
  const { data } = await controller.client().withToken(apiToken).call('POST /sessions', { body: { serviceId, type } })
  return { id: data.id, token: data.token, apiToken }
}

/** A client dials through the router with what it presented there; answers the circuit, or why there is none. */
export async function dialed(router: FakeRouter, contentType: number, headers: Readonly<Record<number, string>>) {
  const texts = Object.entries(headers).map(([key, text]) => [Number(key), textBytes(text)] as const)
  const answer = await router.request(contentType, undefined, new Map(texts))
  if (answer.contentType === CONTENT_TYPE.error) return { refused: new TextDecoder().decode(bodyOf(answer)) }
  return { circuitId: routerSide.readText(answer.headers, HEADER.createdCircuitId) }
}

/** The same with a service session. */
export function dialedBy(
  router: FakeRouter,
  { token, apiToken }: { readonly token: string; readonly apiToken: string },
) {
  return dialed(router, CONTENT_TYPE.createCircuitV2, {
    [HEADER.circuitSessionToken]: token,
    [HEADER.circuitApiSessionToken]: apiToken,
  })
}

/** Circuits that a router was told to forget. */
export function unroutes(router: FakeRouter) {
  return router.all(CONTENT_TYPE.unroute).map((frame) => routerSide.Unroute.decode(bodyOf(frame)))
}
