import { routerSide } from 'portcullis/fabric'
import { FakeRouter } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { authPolicy } from '../../support/people.ts'
import { dial, host, tunnelNetwork, twoProcesses } from './fabric-world.ts'
import { dialedBy, logIn, registered, sdkWorld, sessionOf, unroutes } from './sdk-world.ts'

const { CONTENT_TYPE } = routerSide
/** A change by another process is noticed within it, ms. */
const NOTICED_MS = 2000
const NOBODY =
  /^service web has no terminators|^the terminators of service web are on routers that are connected to other/

/** A service that somebody hosts at a router of each of two processes, and a circuit to it in each. */
async function hosted() {
  const { here, there } = await twoProcesses()
  const network = await sdkWorld(here)
  const router = new FakeRouter(await here.enroll('r2'), there.listener)
  await router.connect()
  expect((await registered(router, network.hosting, 'terminator-2')).result).toBe('success')
  const session = await sessionOf(here, await logIn(here, 'client'), network.serviceId, 'Dial')
  const ends = [
    { world: here, router: network.router, circuit: await dialedBy(network.router, session) },
    { world: there, router, circuit: await dialedBy(router, session) },
  ]
  for (const { circuit } of ends) expect(circuit.circuitId).toBeDefined()
  return { ...network, here, there, session, ends }
}

type Hosted = Awaited<ReturnType<typeof hosted>>

const LOSSES: readonly (readonly [string, (network: Hosted) => Promise<unknown>])[] = [
  ['the host is deleted', ({ here, hostId }) => here.call('DELETE', `/identities/${hostId}`)],
  [
    'the host is disabled',
    ({ here, hostId }) => here.call('POST', `/identities/${hostId}/disable`, { durationMinutes: 0 }),
  ],
  ['no policy lets the host bind', ({ here, bindPolicy }) => here.call('DELETE', `/service-policies/${bindPolicy}`)],
  ['the session of the host is ended', ({ here, hosting }) => here.call('DELETE', `/sessions/${hosting.id}`)],
  [
    'the API session of the host is ended',
    async ({ here, hosting }) => {
      const { apiSession } = await here.call('GET', `/sessions/${hosting.id}`)
      return here.call('DELETE', `/api-sessions/${Reflect.get(Object(apiSession), 'id')}`)
    },
  ],
  [
    'the host has to prove a second factor from now on',
    async ({ here, hostId }) => {
      const authPolicyId = await here.create('/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
      return here.call('PATCH', `/identities/${hostId}`, { authPolicyId })
    },
  ],
]

describe('a host that may not bind any more', () => {
  it.each(LOSSES)('is reached by nobody, at any process: %s', async (_name, lose) => {
    const network = await hosted()
    await lose(network)
    // Nobody has told the other process by now: what it reads is what counts.
    for (const { router } of network.ends) {
      expect((await dialedBy(router, network.session)).refused).toMatch(NOBODY)
    }
    for (const { world, router, circuit } of network.ends) {
      await world.controller.elapse(NOTICED_MS)
      await vi.waitFor(() => expect(unroutes(router)).toContainEqual({ circuitId: circuit.circuitId, now: true }))
    }
  })

  it('registers nothing new', async () => {
    const network = await hosted()
    const { here, hostId, router, hosting } = network
    const authPolicyId = await here.create('/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
    await here.call('PATCH', `/identities/${hostId}`, { authPolicyId })
    expect(await registered(router, hosting, 'terminator-3')).toMatchObject({
      result: 'other',
      msg: 'the api session is not fully authenticated',
    })
  })

  it.each([
    ['its session', (network: Hosted) => network.here.call('DELETE', `/sessions/${network.hosting.id}`)],
    ['its identity', (network: Hosted) => network.here.call('DELETE', `/identities/${network.hostId}`)],
  ])('leaves no terminators behind with %s', async (_what, end) => {
    const network = await hosted()
    await end(network)
    expect(Object.values(await network.there.call('GET', '/terminators'))).toEqual([])
  })
})

it('a router hosts and dials for itself as long as it may: new dials and running circuits end with that right', async () => {
  const { here, there } = await twoProcesses()
  const { serviceId } = await tunnelNetwork(here)
  const enrolled = await here.enroll('server', { isTunnelerEnabled: true })
  const server = new FakeRouter(enrolled, there.listener)
  await server.connect()
  expect((await host(server, serviceId)).contentType).toBe(CONTENT_TYPE.tunnelTerminatorCreated)
  const client = new FakeRouter(await here.enroll('client', { isTunnelerEnabled: true }), there.listener)
  await client.connect()
  server.send(
    CONTENT_TYPE.routerLinks,
    routerSide.RouterLinks.encode({
      links: [
        {
          id: 'l1',
          destRouterId: client.id,
          linkProtocol: 'tls',
          dialAddress: 'tls:c:1',
          iteration: 1,
          connState: undefined,
        },
      ],
      fullRefresh: true,
    }),
  )
  await vi.waitFor(async () => expect(Object.keys(await there.call('GET', '/fabric/v1/links'))).toHaveLength(1))
  const { circuitId, refused } = await dial(client)
  expect(refused).toBeUndefined()
  await here.call('PATCH', `/edge-routers/${server.id}`, { isTunnelerEnabled: false })
  expect((await dial(client)).refused).toMatch(NOBODY)
  await there.controller.elapse(NOTICED_MS)
  await vi.waitFor(() => expect(unroutes(client)).toContainEqual({ circuitId, now: true }))
})

it('a terminator whose host may not bind is passed over for one whose host may', async () => {
  const { here, ends, session, hosting, hostId, serviceId, router } = await hosted()
  await here.call('PATCH', `/identities/${hostId}`, { roleAttributes: ['hosts', 'clients'] })
  const second = await sessionOf(here, await logIn(here, 'host'), serviceId, 'Bind')
  expect((await registered(router, second, 'a-second')).result).toBe('success')
  await here.call('DELETE', `/sessions/${second.id}`)
  const { circuitId } = await dialedBy(ends[0]?.router ?? router, session)
  const circuits: readonly unknown[] = Object.values(await here.call('GET', '/fabric/v1/circuits'))
  const laid = circuits.find((circuit) => Reflect.get(Object(circuit), 'id') === circuitId)
  expect(laid).toMatchObject({ terminator: { id: 'terminator-1' } })
  expect(hosting.id).not.toBe(second.id)
})
