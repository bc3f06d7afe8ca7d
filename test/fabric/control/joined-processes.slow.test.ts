import { randomBytes } from 'node:crypto'
import { duplexPair } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { routerSide } from 'portcullis/fabric'
import { bodyOf, FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { dial, host, type JoinedProcess, joinedProcesses, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { routesOf, TUNNELER, unroutesOf } from './linked-pair.ts'

const { CONTENT_TYPE, CircuitConfirmation, Fault, PeerStateChanges } = routerSide
const SECOND = 1000
/** Waits as long as a busy machine takes. */
const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 25_000 })

/** Two processes: a client's router at one, the router of a host at the other, and a link between the two. */
async function apart() {
  const { processOf, elapse } = await joinedProcesses(['here', 'there'])
  const [here, there] = [processOf('here'), processOf('there')]
  const network = await tunnelNetwork(here)
  const enrolled = await here.enroll('client', TUNNELER.fields)
  const client = new FakeRouter(enrolled, here.listener, { linkListeners: ['tls:client:1'] })
  await client.connect()
  const server = await there.router('server', { ...TUNNELER, linkListeners: ['tls:server:1'] })
  await eventually(async () => {
    await elapse(SECOND)
    expect([knowsPeer(client, server), knowsPeer(server, client)]).toEqual([true, true])
  })
  reportLinks(client, [['link-1', server]])
  await host(server, network.serviceId)
  await eventually(async () => expect((await links(there)).map(({ id }) => id)).toEqual(['link-1']))
  return { here, there, elapse, network, enrolled, client, server }
}

function knowsPeer(router: FakeRouter, peer: FakeRouter): boolean {
  const changes = router
    .all(CONTENT_TYPE.peerStateChange)
    .flatMap((frame) => PeerStateChanges.decode(bodyOf(frame)).changes)
  return changes.some(({ id, listeners }) => id === peer.id && listeners.length === 1)
}

const links = async ({ call }: JoinedProcess) => listOf(await call('GET', '/fabric/v1/links'))
const circuits = async ({ call }: JoinedProcess) => listOf(await call('GET', '/fabric/v1/circuits'))

function listOf(data: unknown): readonly { readonly id: string }[] {
  return Array.isArray(data) ? data : []
}

function fault(router: FakeRouter, subject: 'ingress' | 'egress' | 'link', id: string): void {
  router.send(CONTENT_TYPE.fault, Fault.encode({ subject, id, iteration: 0 }))
}

function confirm(router: FakeRouter, circuitId: string): void {
  const body = CircuitConfirmation.encode({
    circuitIds: [circuitId],
    idleTimes: new Map([[circuitId, 60_000_000_000]]),
  })
  router.send(CONTENT_TYPE.circuitConfirmation, body)
}

it('a dial is laid to a host at the router of another process', async () => {
  const { here, there, client, server } = await apart()
  const circuit = await dial(client)
  expect(circuit.refused).toBeUndefined()
  expect([client, server].map((router) => routesOf(router).map(({ circuitId }) => circuitId))).toEqual([
    [circuit.circuitId],
    [circuit.circuitId],
  ])
  expect(routesOf(server)[0]?.egress?.destination).toBe('terminator-1')
  for (const process of [here, there]) {
    expect((await circuits(process)).map(({ id }) => id)).toEqual([circuit.circuitId])
    expect(await process.call('GET', `/fabric/v1/circuits/${circuit.circuitId}`)).toMatchObject({
      path: { nodes: [{ id: client.id }, { id: server.id }], links: [{ id: 'link-1' }] },
    })
  }
})

it('ends when the router of the other process says so, and when an operator of any process does', async () => {
  const { here, there, client, server } = await apart()
  const first = await dial(client)
  fault(server, 'egress', first.circuitId)
  await eventually(() => expect(unroutesOf(client).map(({ circuitId }) => circuitId)).toEqual([first.circuitId]))
  const second = await dial(client)
  await there.call('DELETE', `/fabric/v1/circuits/${second.circuitId}`, { immediate: true })
  await eventually(() => expect(unroutesOf(server).at(-1)).toEqual({ circuitId: second.circuitId, now: true }))
  expect(await circuits(here)).toEqual([])
  expect(here.told('circuit.closed').map(({ reason }) => reason)).toEqual(['host-closed', 'removed'])
})

it('a right that another process takes ends the circuit at the routers of both', async () => {
  const { there, elapse, network, client, server } = await apart()
  const { circuitId } = await dial(client)
  await there.call('DELETE', `/service-policies/${network.dial}`)
  await eventually(async () => {
    await elapse(SECOND)
    expect([client, server].map((router) => unroutesOf(router).map((unroute) => unroute.circuitId))).toEqual([
      [circuitId],
      [circuitId],
    ])
  })
})

it('a link that only the router of the other process sees end is no way any more', async () => {
  const { here, client, server } = await apart()
  const { circuitId } = await dial(client)
  fault(server, 'link', 'link-1')
  await eventually(() => expect(unroutesOf(server).at(-1)).toEqual({ circuitId, now: true }))
  expect(await links(here)).toEqual([])
  expect((await dial(client)).refused).toContain('no path')
})

it('a router that another process disables and enables at once is a way again, with its links', async () => {
  const { there, elapse, client, server } = await apart()
  // The process of the client looks at changes once a second: it finds nothing changed.
  const path = `/edge-routers/${client.id}`
  await there.call('PATCH', path, { disabled: true })
  await there.call('PATCH', path, { disabled: false })
  await eventually(async () => {
    await elapse(SECOND)
    expect([client.isClosed, (await links(there)).map(({ id }) => id)]).toEqual([false, ['link-1']])
  })
  expect((await dial(client)).refused).toBeUndefined()
  expect(server.isClosed).toBe(false)
})

it('what the former process of a router says late of its links does not count', async () => {
  const { here, there, enrolled, client, server, elapse } = await apart()
  const release = here.holdReports('there')
  // The process of before tells that the router has no links, and that it is gone, when it has come to the other one.
  reportLinks(client, [], true)
  await eventually(async () => expect(await links(here)).toEqual([]))
  client.close()
  const moved = new FakeRouter(enrolled, there.listener)
  expect((await moved.connect()).accepted).toBe(true)
  reportLinks(moved, [['link-2', server]], true)
  await eventually(async () => expect((await links(there)).map(({ id }) => id)).toEqual(['link-2']))
  release()
  await eventually(async () => {
    await elapse(SECOND)
    expect((await links(here)).map(({ id }) => id)).toEqual(['link-2'])
  })
  expect((await links(there)).map(({ id }) => id)).toEqual(['link-2'])
})

it('what an operator decides of a link counts in every process', async () => {
  const { here, there, client } = await apart()
  await there.call('PATCH', '/fabric/v1/links/link-1', { down: true, staticCost: 7 })
  await eventually(async () => expect(await links(here)).toMatchObject([{ down: true, staticCost: 7 }]))
  expect((await dial(client)).refused).toContain('no path')
})

it('a quiet circuit stays while the process that laid it is not connected, whoever else is', async () => {
  const { processOf, elapse } = await joinedProcesses(['here', 'there', 'without routers'])
  const [here, there] = [processOf('here'), processOf('there')]
  const { serviceId } = await tunnelNetwork(here)
  const client = await here.router('client', { ...TUNNELER, linkListeners: ['tls:client:1'] })
  const server = await there.router('server', { ...TUNNELER, linkListeners: ['tls:server:1'] })
  await eventually(async () => {
    await elapse(SECOND)
    expect([knowsPeer(client, server), knowsPeer(server, client)]).toEqual([true, true])
  })
  reportLinks(client, [['link-1', server]])
  await host(server, serviceId)
  await eventually(async () => expect((await links(there)).map(({ id }) => id)).toEqual(['link-1']))
  const { circuitId } = await dial(client)
  here.cut()
  // The other end notices.
  await sleep(200)
  confirm(server, circuitId)
  await eventually(async () => {
    await elapse(SECOND)
    expect((await dial(client)).refused).toBeUndefined()
  })
  await eventually(async () => {
    await elapse(SECOND)
    confirm(server, 'circuit-of-nobody')
    expect(unroutesOf(server).map((unroute) => unroute.circuitId)).toContain('circuit-of-nobody')
  })
  expect(unroutesOf(server).map((unroute) => unroute.circuitId)).not.toContain(circuitId)
})

it('a quiet circuit stays while the process that laid it is cut off for long, and another one without routers is connected', async () => {
  const { processOf, elapse } = await joinedProcesses(['here', 'there', 'third'])
  const [here, there] = [processOf('here'), processOf('there')]
  const { serviceId } = await tunnelNetwork(here)
  const client = await here.router('client', { ...TUNNELER, linkListeners: ['tls:client:1'] })
  const server = await there.router('server', { ...TUNNELER, linkListeners: ['tls:server:1'] })
  await eventually(async () => {
    await elapse(SECOND)
    expect([knowsPeer(client, server), knowsPeer(server, client)]).toEqual([true, true])
  })
  reportLinks(client, [['link-1', server]])
  await host(server, serviceId)
  await eventually(async () => expect((await links(there)).map(({ id }) => id)).toEqual(['link-1']))
  const { circuitId } = await dial(client)
  const join = here.part()
  // The third process could have connected again by then, and so could the process that is cut off.
  for (let second = 0; second < 35; second += 1) await elapse(SECOND)
  confirm(server, circuitId)
  await elapse(SECOND)
  join()
  await eventually(async () => {
    await elapse(SECOND)
    expect((await dial(client)).refused).toBeUndefined()
  })
  await eventually(async () => {
    await elapse(SECOND)
    confirm(server, 'circuit-of-nobody')
    expect(unroutesOf(server).map((unroute) => unroute.circuitId)).toContain('circuit-of-nobody')
  })
  expect(unroutesOf(server).map((unroute) => unroute.circuitId)).not.toContain(circuitId)
})

it('a circuit of a process that holds no router any more is listed and ended by way of every process', async () => {
  const { processOf, elapse } = await joinedProcesses(['here', 'there', 'third'])
  const [here, there, third] = [processOf('here'), processOf('there'), processOf('third')]
  const { serviceId } = await tunnelNetwork(here)
  await here.router('other', TUNNELER)
  const client = await third.router('client', { ...TUNNELER, linkListeners: ['tls:client:1'] })
  const server = await there.router('server', { ...TUNNELER, linkListeners: ['tls:server:1'] })
  await eventually(async () => {
    await elapse(SECOND)
    expect([knowsPeer(client, server), knowsPeer(server, client)]).toEqual([true, true])
  })
  reportLinks(client, [['link-1', server]])
  await host(server, serviceId)
  await eventually(async () => expect((await links(third)).map(({ id }) => id)).toEqual(['link-1']))
  const { circuitId } = await dial(client)
  client.close()
  await eventually(async () => {
    await elapse(SECOND)
    expect(await third.call('GET', '/edge-routers')).toContainEqual(
      expect.objectContaining({ id: client.id, isOnline: false }),
    )
  })
  // By then nobody believes any more what the process wrote while it held the router.
  for (let second = 0; second < 35; second += 1) await elapse(SECOND)
  for (const process of [here, there]) expect((await circuits(process)).map(({ id }) => id)).toEqual([circuitId])
  await here.call('DELETE', `/fabric/v1/circuits/${circuitId}`, { immediate: true })
  await eventually(() => expect(unroutesOf(server)).toEqual([{ circuitId, now: true }]))
  expect(await circuits(third)).toEqual([])
})

it('a circuit that leaves one router while others are asked of circuits stays at the rest', async () => {
  const { processOf, elapse } = await joinedProcesses(['here', 'there', 'third'])
  const [here, there, third] = [processOf('here'), processOf('there'), processOf('third')]
  const { serviceId } = await tunnelNetwork(here)
  const client = await here.router('client', { ...TUNNELER, linkListeners: ['tls:client:1'] })
  const middle = await there.router('middle', { ...TUNNELER, linkListeners: ['tls:middle:1'] })
  const server = await there.router('server', { ...TUNNELER, linkListeners: ['tls:server:1'] })
  await eventually(async () => {
    await elapse(SECOND)
    expect([knowsPeer(client, server), knowsPeer(client, middle)]).toEqual([true, true])
  })
  // By then everybody is known who may have laid a circuit.
  for (let second = 0; second < 32; second += 1) await elapse(SECOND)
  reportLinks(client, [['link-1', middle]])
  reportLinks(middle, [['link-2', server]])
  await host(server, serviceId)
  await eventually(async () => expect(await links(here)).toHaveLength(2))
  const { circuitId } = await dial(client)
  expect(routesOf(middle)).toHaveLength(1)
  reportLinks(client, [['link-3', server]])
  await eventually(async () => expect(await links(here)).toHaveLength(3))
  const release = third.hold('there')
  const circuitIds = [circuitId, 'circuit-of-nobody']
  const idleTimes = new Map(circuitIds.map((id) => [id, 60_000_000_000]))
  server.send(CONTENT_TYPE.circuitConfirmation, CircuitConfirmation.encode({ circuitIds, idleTimes }))
  await here.call('DELETE', '/fabric/v1/links/link-1')
  await eventually(() => expect(unroutesOf(middle).map((unroute) => unroute.circuitId)).toEqual([circuitId]))
  release()
  await eventually(() => expect(unroutesOf(server).map((unroute) => unroute.circuitId)).toEqual(['circuit-of-nobody']))
})

it('a circuit that its process named as its own stays, although it leaves another router before all have answered', async () => {
  const { processOf, elapse } = await joinedProcesses(['here', 'there', 'third'])
  const [here, there, third] = [processOf('here'), processOf('there'), processOf('third')]
  const { serviceId } = await tunnelNetwork(here)
  const client = await here.router('client', { ...TUNNELER, linkListeners: ['tls:client:1'] })
  const middle = await there.router('middle', { ...TUNNELER, linkListeners: ['tls:middle:1'] })
  const server = await there.router('server', { ...TUNNELER, linkListeners: ['tls:server:1'] })
  await eventually(async () => {
    await elapse(SECOND)
    expect([knowsPeer(client, server), knowsPeer(client, middle)]).toEqual([true, true])
  })
  for (let second = 0; second < 32; second += 1) await elapse(SECOND)
  reportLinks(middle, [['to-server', server]])
  await host(server, serviceId)
  /** Moves circuits from one link of the client to another one. */
  const move = async (from: string | undefined, to: string, router: FakeRouter) => {
    reportLinks(client, [[to, router]])
    await eventually(async () => expect((await links(here)).map(({ id }) => id)).toContain(to))
    if (from !== undefined) await here.call('DELETE', `/fabric/v1/links/${from}`)
  }
  await move(undefined, 'link-1', middle)
  const { circuitId } = await dial(client)
  await move('link-1', 'link-2', server)
  const leftMiddle = (times: number) =>
    eventually(() =>
      expect(unroutesOf(middle).map((unroute) => unroute.circuitId)).toEqual(Array(times).fill(circuitId)),
    )
  // Its process took it from a router of the other one, which has forgotten whose it is.
  await leftMiddle(1)
  const release = third.hold('there')
  const circuitIds = [circuitId, 'circuit-of-nobody']
  const idleTimes = new Map(circuitIds.map((id) => [id, 60_000_000_000]))
  server.send(CONTENT_TYPE.circuitConfirmation, CircuitConfirmation.encode({ circuitIds, idleTimes }))
  await move('link-2', 'link-3', middle)
  await eventually(() => expect(routesOf(middle)).toHaveLength(2))
  await move('link-3', 'link-4', server)
  await leftMiddle(2)
  release()
  await eventually(() => expect(unroutesOf(server).map((unroute) => unroute.circuitId)).toEqual(['circuit-of-nobody']))
})

it('a quiet circuit of another process stays, also when the one that holds the router forgot whose it is', async () => {
  const { here, there, elapse, client, server } = await apart()
  const { circuitId } = await dial(client)
  confirm(server, circuitId)
  there.cut()
  await eventually(async () => {
    await elapse(SECOND)
    // Laid over the new connection: the processes know each other again.
    const again = await dial(client)
    expect(again.refused).toBeUndefined()
  })
  confirm(server, circuitId)
  await eventually(async () => {
    await elapse(SECOND)
    confirm(server, 'circuit-of-nobody')
    expect(unroutesOf(server).map((unroute) => unroute.circuitId)).toContain('circuit-of-nobody')
  })
  expect(unroutesOf(server).map((unroute) => unroute.circuitId)).not.toContain(circuitId)
  expect((await circuits(here)).map(({ id }) => id)).toContain(circuitId)
})

it('a router whose process is gone is no way any more, and is one again by its next process', async () => {
  const { here, there, elapse, client, server } = await apart()
  await there.listener.close()
  await eventually(async () =>
    expect((await dial(client)).refused).toMatch(/connected to other controllers|connected routers/),
  )
  const moved = await here.router('other', TUNNELER)
  expect(moved.isClosed).toBe(false)
  expect(server.isClosed).toBe(true)
  await elapse(SECOND)
})

it('lets in no process that cannot open what is sealed in the store', async () => {
  const { here } = await apart()
  const [stream, theirs] = duplexPair()
  const heard: Buffer[] = []
  stream.on('data', (bytes: Buffer) => void heard.push(bytes))
  const closed = new Promise((resolve) => theirs.once('close', resolve))
  here.listener.acceptProcess({ stream: theirs, binding: randomBytes(32) }, '127.0.0.1')
  const frame = { contentType: 2100, sequence: 0, headers: new Map(), body: [new TextEncoder().encode('AAAA')] }
  for (const bytes of routerSide.encodeFrame(frame)) stream.write(bytes)
  await closed
  expect(Buffer.concat(heard).length).toBe(0)
})
