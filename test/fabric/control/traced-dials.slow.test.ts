import type { RouteReply } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { dial, type FabricWorld, host, joinedProcesses, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { pair, TUNNELER } from './linked-pair.ts'

interface Traced {
  readonly outcome: string
  readonly stoppedAt: string | null
  readonly steps: readonly {
    readonly text: string
    readonly afterMs: number | null
    readonly routerId: string | null
  }[]
  readonly text: string
}

/** Waits for the next dial, which begins once somebody waits. */
async function traceOf(world: FabricWorld, dials: () => Promise<unknown>, asked: object = {}): Promise<Traced> {
  const traced = world.call('POST', '/portcullis/v1/trace-dial', { identity: 'client', service: 'web', ...asked })
  let isOver = false
  void traced.finally(() => {
    isOver = true
  })
  // Nothing tells from outside that somebody waits: on a busy machine the first dial may come before.
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    await dials()
  }
  // The API answers this shape.
  return Object(await traced)
}

it('a dial that gets through is told hop by hop, with times', async () => {
  const { world, client, server } = await pair()
  const { outcome, stoppedAt, steps, text } = await traceOf(world, () => dial(client))
  expect({ outcome, stoppedAt }).toEqual({ outcome: 'connected', stoppedAt: null })
  expect(steps.map((step) => step.text)).toEqual([
    "'client' asked for a circuit on behalf of 'client'",
    "'client' may dial 'web'",
    expect.stringMatching(
      /^the host 'server' at 'server' was chosen, and the routers were asked: 'client', 'server' \(cost \d+\)$/,
    ),
    "'client' is ready",
    "'server' over link link-1 reached 'server', which answered",
    "'client' was told that the circuit is there",
  ])
  expect(steps.map(({ afterMs }) => afterMs)).toEqual(steps.map(() => expect.any(Number)))
  expect(steps.map(({ routerId }) => routerId)).toEqual([client.id, null, null, client.id, server.id, client.id])
  expect(text).toMatch(/^Dial of 'client' to 'web' at \S+Z, circuit \S+\n[\s\S]*\nIt got through in \d+ ms\.$/)
})

it('a host that refuses both attempts is where it stopped', async () => {
  const refusal: RouteReply = { success: false, code: 4, message: 'connection refused by 10.0.0.1' }
  const { world, client } = await pair({ server: { onRoute: () => refusal } })
  const traced = await traceOf(world, () => dial(client))
  expect(traced).toMatchObject({ outcome: 'stopped', stoppedAt: 'host' })
  expect(traced.steps.filter(({ text }) => text.includes('failed: the host refused the connection'))).toHaveLength(2)
  expect(traced.text).toMatch(
    /\nIt stopped after \d+ ms at the host, asked by 'server': the host refused the connection\.$/,
  )
  expect(JSON.stringify(traced)).not.toContain('10.0.0.1')
})

it('a router that says nothing, no terminator and no link are where it stopped', async () => {
  const { world, client, server, network } = await pair({ server: { onRoute: () => undefined } })
  const silent = await traceOf(world, async () => {
    let isOver = false
    void dial(client).then(() => {
      isOver = true
    })
    await vi.waitFor(async () => {
      await world.controller.elapse(1000)
      expect(isOver).toBe(true)
    }, 10_000)
  })
  expect(silent).toMatchObject({ outcome: 'stopped', stoppedAt: 'host' })
  expect(silent.text).toContain("'server' over link link-1 did not answer")
  reportLinks(client, [], true)
  const unlinked = await traceOf(world, () => dial(client))
  expect(unlinked).toMatchObject({ outcome: 'stopped', stoppedAt: 'links' })
  expect(unlinked.text).toContain('no links led to a router of the terminators')
  await server.close()
  const offline = await traceOf(world, () => dial(client))
  expect(offline).toMatchObject({ outcome: 'stopped', stoppedAt: 'terminators' })
  for (const terminator of Object.values(await world.call('GET', '/terminators'))) {
    await world.call('DELETE', `/terminators/${Object(terminator).id}`)
  }
  const none = await traceOf(world, () => dial(client))
  expect(none).toMatchObject({ outcome: 'stopped', stoppedAt: 'terminators' })
  expect(none.text).toMatch(/at the choice of a terminator: there was no terminator\.$/)
  // A dial that fails before a client is asked is answered at once.
  await world.call('DELETE', `/service-policies/${network.dial}`)
  const denied = await traceOf(world, async () => undefined)
  expect(denied).toMatchObject({ outcome: 'cannot-dial', stoppedAt: 'policies', steps: [] })
})

it('access that is lost while somebody waits is where it stopped', async () => {
  const { world, client, network } = await pair()
  let isGranted = true
  const traced = await traceOf(world, async () => {
    // Where it is gone before somebody waits, nobody waits at all.
    if (isGranted) await new Promise((resolve) => setTimeout(resolve, 500))
    if (isGranted) await world.call('DELETE', `/service-policies/${network.dial}`)
    isGranted = false
    await dial(client)
  })
  expect(traced).toMatchObject({ outcome: 'stopped', stoppedAt: 'policies' })
  expect(traced.text).toMatch(/at the policies: no policy lets the router dial the service\.$/)
})

it('routers that are offline, and names that nobody has, are told at once; without a dial the wait ends', async () => {
  const { world, client, server } = await pair()
  await expect(world.call('POST', '/portcullis/v1/trace-dial', { identity: 'nobody', service: 'web' })).rejects.toThrow(
    '404',
  )
  const late = traceOf(world, () => world.controller.elapse(5001), { withinSeconds: 5 })
  expect(await late).toMatchObject({ outcome: 'no-dial', stoppedAt: null })
  expect((await late).text).toContain("No dial of 'client' to 'web' came within 5 s.")
  await client.close()
  await server.close()
  await vi.waitFor(async () => {
    const { wire } = await world.call('POST', '/portcullis/v1/explain', { identity: 'client', service: 'web' })
    expect(wire).toMatchObject({ obstacle: 'all-common-edge-routers-offline' })
  })
  const traced = await world.call('POST', '/portcullis/v1/trace-dial', { identity: 'client', service: 'web' })
  expect(traced).toMatchObject({ outcome: 'cannot-dial', stoppedAt: 'edge-routers' })
})

it('a ninth wait of one identity ends its oldest', async () => {
  const { world, client } = await pair()
  const waits: Promise<Traced>[] = []
  for (let at = 0; at < 9; at += 1) {
    waits.push(traceOf(world, async () => undefined))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  expect(await waits[0]).toMatchObject({ outcome: 'no-dial' })
  await dial(client)
  expect(await Promise.all(waits.slice(1))).toEqual(
    Array.from({ length: 8 }, () => expect.objectContaining({ outcome: 'connected' })),
  )
})

it('a dial that another process lays is followed too', async () => {
  const { processOf, elapse } = await joinedProcesses(['one', 'two'])
  const { serviceId } = await tunnelNetwork(processOf('one'))
  const client = await processOf('two').router('client', TUNNELER)
  const server = await processOf('one').router('server', TUNNELER)
  reportLinks(client, [['link-1', server]])
  await host(server, serviceId)
  // Each process looks for the others every two seconds, and connects to them.
  for (let looks = 0; looks < 5; looks += 1) {
    await elapse(2000)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const traced = await traceOf(processOf('one'), async () => {
    expect((await dial(client)).refused).toBeUndefined()
  })
  expect(traced).toMatchObject({ outcome: 'connected' })
  expect(traced.text).toContain("'server' over link link-1")
  expect(await traceOf(processOf('one'), () => elapse(1001), { withinSeconds: 1 })).toMatchObject({
    outcome: 'no-dial',
  })
})
