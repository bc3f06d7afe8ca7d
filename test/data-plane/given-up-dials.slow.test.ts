import { expect, it } from 'vitest'
import { decodeMask } from '../../adapters/network/channel/capability-mask.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readText } from '../../adapters/network/channel/header-values.ts'
import { bearerEndpoint } from '../support/bearer-endpoints.ts'
import { type EdgeWorld, edgeWorld, until } from '../support/edge-world.ts'
import { LeftToRouter, policy } from '../support/left-to-router.ts'
import { CLIENT_ID, circuits, KINDS, PlayedEnd, PlayedTime, windowsOf } from '../support/played-ends.ts'

/** Begins a trace of the next dial of the client. */
async function trace({ controller }: EdgeWorld) {
  const { data } = await controller.admin.call('GET /current-api-session')
  const headers = { 'zt-session': data.token, 'content-type': 'application/json' }
  const body = JSON.stringify({ identity: 'client', service: 'wiki', withinSeconds: 120 })
  const url = 'https://controller.test:1280/portcullis/v1/trace-dial'
  const answer = await controller.fetch(new Request(url, { method: 'POST', headers, body }))
  return Object(await answer.json()).data
}

/** A client dials a host that answers after 3 s, while somebody follows the dial. */
async function slowDial() {
  const time = new PlayedTime()
  const world = await edgeWorld(time.timer)
  const host = await world.connect(await world.device('host', ['hosts']))
  const client = await world.connect(await world.device('client', ['clients']))
  const dials: Frame[] = []
  host.onMessage((message) => {
    if (message.contentType === EDGE_TYPE.dial) dials.push(message)
  })
  await host.host(1, { headers: windowsOf(KINDS[0]) })
  const traced = trace(world)
  // Nothing tells from outside that somebody waits.
  await new Promise((resolve) => setTimeout(resolve, 300))
  const dialed = client.dial(CLIENT_ID, windowsOf(KINDS[0]))
  await until(() => dials.length === 1)
  const [dial] = dials
  if (dial === undefined) throw new Error('no dial')
  await world.controller.elapse(3000)
  const assigned = dial.headers.get(EDGE_HEADER.assignedConnection) ?? new Uint8Array(4)
  host.reply(dial, edgeMessage(EDGE_TYPE.dialSuccess, 1, [], assigned))
  const answer = await dialed
  const circuitId = readText(answer.headers, EDGE_HEADER.circuit) ?? ''
  return {
    world,
    time,
    host,
    client,
    traced,
    end: new PlayedEnd(client, KINDS[0], 'initiator', { id: CLIENT_ID, circuitId }),
  }
}

it('a dial whose client gave up before the answer came is followed to its end at the client', async () => {
  const { world, time, traced } = await slowDial()
  time.pass(200)
  // The client is asked whether it still waits, and says nothing.
  await new Promise((resolve) => setTimeout(resolve, 300))
  time.pass(5000)
  const { outcome, stoppedAt, text } = await traced
  expect({ outcome, stoppedAt }).toEqual({ outcome: 'stopped', stoppedAt: 'client' })
  expect(text).toMatch(/at the client: it had given up before the answer came, and did not start the circuit\.$/)
  await until(async () => (await circuits(world)) === 0)
})

it('a slow dial whose client starts the circuit got through', async () => {
  const { world, time, host, traced, end } = await slowDial()
  end.start()
  await until(() => host.heard.some(({ contentType }) => contentType === EDGE_TYPE.payload))
  time.pass(6000)
  await world.controller.elapse(7000)
  expect(await traced).toMatchObject({ outcome: 'connected', stoppedAt: null })
  expect(await circuits(world)).toBe(1)
})

it.each([
  ['does not know the connection any more', 0, 0],
  ['still knows it', 1, 1],
])('a circuit that its client does not start goes when the client %s, at once', async (_what, kind, left) => {
  const { world, time, client } = await slowDial()
  client.onMessage((message) => {
    if (message.contentType !== EDGE_TYPE.inspect) return
    const headers = [[EDGE_HEADER.connectionKind, Uint8Array.of(kind)]] as const
    client.reply(message, edgeMessage(EDGE_TYPE.inspected, CLIENT_ID, headers))
  })
  time.pass(200)
  await until(() => client.heard.some(({ contentType }) => contentType === EDGE_TYPE.inspect))
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await circuits(world)).toBe(left)
})

it('a dial without a service session has its router name the circuit, a new one each time: controllers of the line 2.0 answer nothing else', async () => {
  const asked: (string | undefined)[] = []
  const world = await edgeWorld(undefined, async (message) => {
    if (message.type === 'create-circuit' && message.sessionToken === undefined) asked.push(message.circuitId)
    return undefined
  })
  const host = await world.connect(await world.device('host', ['hosts']))
  host.serve()
  await host.host(1)
  const client = await bearerEndpoint(world, 'client', 'clients')
  const answers = [await client.dial(), await client.dial()]
  const circuits = answers.map(({ headers }) => readText(headers, EDGE_HEADER.circuit))
  expect(circuits).toEqual(asked)
  expect(new Set(circuits).size).toBe(2)
  expect(circuits).not.toContain(undefined)
})

it.each([
  [false, [1, 2, 4, 5, 6]],
  [true, [1, 4, 5, 6]],
])(
  'a router offers dials without a service session, unless its controller is of the line 1.6 (%s)',
  async (isOfOldLine, offered) => {
    const world = await LeftToRouter.open(policy('clients', 'Dial', 'laptop'), isOfOldLine)
    const { greeting } = await world.connect('laptop')
    expect(decodeMask(greeting.headers.get(EDGE_HEADER.routerCapabilities) ?? new Uint8Array(0))).toEqual(offered)
  },
)
