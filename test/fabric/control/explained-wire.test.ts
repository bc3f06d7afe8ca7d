import { SYSTEM_CALL } from 'portcullis'
import { createTestController, type RouteReply } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { withSharedPki } from '../../support/shared-pki.ts'
import { dial, type FabricWorld, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { pair, TUNNELER } from './linked-pair.ts'

/** The answers of the API about the wire, and the sentences about it. */
async function wireOf(world: FabricWorld, asked: object = {}) {
  const question = { identity: 'client', service: 'web', ...asked }
  const { wire, text } = await world.call('POST', '/portcullis/v1/explain', question)
  const says = String(text)
    .split('\n')
    .filter((line) => /^(It works|It does not work|The last dial)/.test(line))
  return { wire, says }
}

/** The same pair without links, where every router has every service. */
async function unlinkedPair() {
  const world = await fabricWorld()
  const { serviceId } = await tunnelNetwork(world)
  const client = await world.router('client', TUNNELER)
  return { world, client, serviceId }
}

it('what is allowed works now where links lead to the router of a terminator', async () => {
  const { world } = await pair()
  expect(await wireOf(world)).toEqual({
    wire: {
      worksNow: true,
      obstacle: null,
      hostRouters: [expect.objectContaining({ name: 'server' })],
      lastFailure: null,
    },
    says: ['It works now.'],
  })
})

it('a service without terminators, and one whose terminators are at routers that are offline, do not', async () => {
  const { world, serviceId } = await unlinkedPair()
  expect(await wireOf(world)).toMatchObject({ wire: { worksNow: false, obstacle: 'no-terminators', hostRouters: [] } })
  // To bind takes an edge router alone.
  expect(await wireOf(world, { type: 'Bind' })).toMatchObject({ wire: { worksNow: true } })
  const server = await world.router('server', TUNNELER)
  await host(server, serviceId)
  await server.close()
  await vi.waitFor(async () => {
    expect(await wireOf(world)).toMatchObject({
      wire: { obstacle: 'no-online-terminators', hostRouters: [{ name: 'server', isOnline: false }] },
      says: ["It does not work now: the routers of its terminators are offline ('server')."],
    })
  })
})

it('routers that are offline are named', async () => {
  const { world, client } = await unlinkedPair()
  await client.close()
  await vi.waitFor(async () => {
    expect(await wireOf(world)).toMatchObject({
      wire: { obstacle: 'all-common-edge-routers-offline' },
      says: ["It does not work now: their common edge routers are offline ('client')."],
    })
  })
})

it('two routers without a link are named, until there is one', async () => {
  const { world, client, serviceId } = await unlinkedPair()
  const server = await world.router('server', TUNNELER)
  await host(server, serviceId)
  // From the router of the host no link is needed.
  expect(await wireOf(world)).toMatchObject({ wire: { worksNow: true } })
  const policies = Object.values(await world.call('GET', '/edge-router-policies'))
  const shared = policies.find((policy) => Object(policy).name === 'all')
  await world.call('DELETE', `/edge-router-policies/${Object(shared).id}`)
  expect(await wireOf(world)).toMatchObject({
    wire: { obstacle: 'no-path' },
    says: ["It does not work now: no links lead from 'client' to a router of its terminators ('server')."],
  })
  reportLinks(client, [['link-1', server]])
  await vi.waitFor(async () => expect(await wireOf(world)).toMatchObject({ wire: { worksNow: true } }))
})

it('tells why the last dial failed, and at which router, until one succeeds', async () => {
  const refusal: RouteReply = { success: false, code: 4, message: 'connection refused by 10.0.0.1' }
  const onRoute = vi.fn<() => RouteReply>(() => ({ success: true }))
  onRoute.mockReturnValueOnce(refusal).mockReturnValueOnce(refusal)
  const { world, client, server } = await pair({ server: { onRoute } })
  expect((await dial(client)).refused).toBeDefined()
  const { wire, says } = await wireOf(world)
  expect(wire).toMatchObject({
    worksNow: true,
    lastFailure: { reason: 'routers-failed', router: { id: server.id, name: 'server' } },
  })
  expect(says).toEqual([
    'It works now.',
    expect.stringMatching(/^The last dial failed on \S+Z at 'server': the host refused the connection\.$/),
  ])
  // Routers write messages, which may name addresses that are not for everybody who may ask.
  expect(JSON.stringify(wire)).not.toContain('10.0.0.1')
  // Another identity has not dialed.
  expect(await wireOf(world, { identity: 'server' })).toMatchObject({ wire: { lastFailure: null } })
  expect((await dial(client)).refused).toBeUndefined()
  expect(await wireOf(world)).toMatchObject({ wire: { lastFailure: null }, says: ['It works now.'] })
})

it('who may not does not get through, and of another instant or other policies nothing is known', async () => {
  const { world, network } = await pair()
  expect(await wireOf(world, { at: '2027-01-01T00:00:00Z' })).toEqual({ wire: null, says: [] })
  const change = { action: 'delete', kind: 'service-policies', id: network.dial }
  expect(await wireOf(world, { changes: [change] })).toEqual({ wire: null, says: [] })
  await world.call('DELETE', `/service-policies/${network.dial}`)
  expect(await wireOf(world)).toMatchObject({ wire: { worksNow: false, obstacle: 'not-allowed' } })
})

it('nothing is known where no data plane is open', async () => {
  const net = await createTestController(await withSharedPki())
  await net.admin.call('POST /services', { body: { name: 'web' } })
  await net.enroll('client')
  expect(await net.engine.access.explain(SYSTEM_CALL, 'client', 'web', 'Dial')).toMatchObject({ wire: null })
})
