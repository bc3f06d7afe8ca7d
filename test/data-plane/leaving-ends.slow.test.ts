import { describe, expect, it } from 'vitest'
import { writeAcknowledgement } from '../../adapters/network/channel/circuit-frames.ts'
import type { Timer } from '../../adapters/network/channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readText, readUint32, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { type EdgeWorld, edgeWorld, type Hold, until } from '../support/edge-world.ts'
import {
  arrivals,
  CLIENT_ID,
  circuits,
  ENDINGS,
  isText,
  KINDS,
  type Kinds,
  LEAVINGS,
  PAIRS,
  PlayedEnd,
  type PlayedPair,
  PlayedTime,
  playPair,
  windowsOf,
} from '../support/played-ends.ts'

const PROBE = { contentType: EDGE_TYPE.latency, headers: new Map<number, Uint8Array>(), body: [] }
/** A host and a client at one router; `dialed` is what the host does as soon as it hears of the dial, behind its answer. */
async function play(
  kinds: Kinds,
  dialed: (end: PlayedEnd) => void,
  { timer, hold }: { readonly timer?: Timer; readonly hold?: Hold } = {},
): Promise<PlayedPair & { readonly world: EdgeWorld }> {
  const world = await edgeWorld(timer, hold)
  return { world, ...(await playPair(world, kinds, dialed)) }
}

describe.each(PAIRS)('a host with $host and a client with $client at one router', (kinds) => {
  it.each(ENDINGS)(
    'lose nothing that the host writes right behind its answer ($leaving, half closed before: $isHalfClosed)',
    async ({ leaving, isHalfClosed }) => {
      const { client, dial, world } = await play(kinds, (end) => {
        for (const text of ['one', 'two', 'three']) end.write(text)
        if (isHalfClosed) end.halfClose()
        end.leave(leaving)
      })
      ;(await dial()).start()
      await until(() => arrivals(client, 'initiator').at(-1) === 'end')
      expect(arrivals(client, 'initiator').filter(isText)).toEqual(['one', 'two', 'three'])
      await until(async () => (await circuits(world)) === 0)
    },
  )

  it.each(ENDINGS)(
    'lose nothing that the client writes before it leaves ($leaving, half closed before: $isHalfClosed)',
    async ({ leaving, isHalfClosed }) => {
      const { host, dial } = await play(kinds, () => undefined)
      const end = await dial()
      end.start()
      for (const text of ['one', 'two', 'three']) end.write(text)
      if (isHalfClosed) end.halfClose()
      end.leave(leaving)
      await until(() => arrivals(host, 'terminator').at(-1) === 'end')
      expect(arrivals(host, 'terminator').filter(isText)).toEqual(['one', 'two', 'three'])
    },
  )

  it.each(LEAVINGS)('hear of each other’s end before the controller does (%s of the client)', async (leaving) => {
    let isAway = false
    const { host, dial } = await play(kinds, () => undefined, {
      timer: new PlayedTime().timer,
      hold: async () => (isAway ? new Promise<undefined>(() => undefined) : undefined),
    })
    const end = await dial()
    end.start()
    isAway = true
    end.leave(leaving)
    await until(() => arrivals(host, 'terminator').at(-1) === 'end')
  })

  it.each(LEAVINGS)('hear of each other’s end before the controller does (%s of the host)', async (leaving) => {
    let isAway = false
    const ends: PlayedEnd[] = []
    const { client, dial } = await play(kinds, (end) => void ends.push(end), {
      timer: new PlayedTime().timer,
      hold: async () => (isAway ? new Promise<undefined>(() => undefined) : undefined),
    })
    ;(await dial()).start()
    isAway = true
    ends[0]?.leave(leaving)
    await until(() => arrivals(client, 'initiator').at(-1) === 'end')
  })
})

describe.each(KINDS)('a circuit whose client keeps windows, to a host with %s', (kind) => {
  const kinds = { host: kind, client: KINDS[0] }

  it('is ended at both ends some seconds after the client was to start it: a dialer that gave up says nothing', async () => {
    const time = new PlayedTime()
    const { world, host, client, dial } = await play(kinds, () => undefined, { timer: time.timer })
    await dial()
    time.pass(4900)
    expect([arrivals(host, 'terminator'), arrivals(client, 'initiator'), await circuits(world)]).toEqual([[], [], 1])
    time.pass(200)
    await until(() => [arrivals(host, 'terminator'), arrivals(client, 'initiator')].every((all) => all.includes('end')))
    await until(async () => (await circuits(world)) === 0)
  })

  it('goes on once it was started, and while its client has not read the answer to its dial', async () => {
    const time = new PlayedTime()
    const { world, host, client, dial } = await play(kinds, (end) => end.write('hello'), { timer: time.timer })
    const started = await dial()
    started.start()
    started.write('first')
    await until(() => arrivals(host, 'terminator').includes('first'))
    time.pass(40_000)
    started.write('here')
    await until(() => arrivals(host, 'terminator').includes('here'))
    const { channel } = client
    const slow = client.dial(CLIENT_ID + 1, windowsOf(KINDS[0]))
    channel.pause()
    await until(async () => (await circuits(world)) === 2)
    time.pass(20_000)
    expect(await circuits(world)).toBe(2)
    channel.resume()
    expect((await slow).contentType).toBe(EDGE_TYPE.stateConnected)
    await until(async () => {
      time.pass(5100)
      return (await circuits(world)) === 1
    })
  })
})

describe('a host that is dialed twice for one circuit', () => {
  it('may close what was left of the first dial, and hears of the end of the second', async () => {
    const time = new PlayedTime()
    const kinds = { host: KINDS[0], client: KINDS[0] }
    const { host, client } = await play(kinds, () => undefined, { timer: time.timer })
    const dials: Frame[] = []
    host.onMessage((message) => {
      if (message.contentType === EDGE_TYPE.dial) dials.push(message)
    })
    const dialed = client.dial(CLIENT_ID, windowsOf(KINDS[0]))
    await until(() => dials.length === 1)
    time.pass(5000)
    await until(() => dials.length === 2)
    const [circuitId = '', another] = dials.map(({ headers }) => readText(headers, EDGE_HEADER.circuit))
    expect(another).toBe(circuitId)
    const ids = dials.map(({ headers }) => readUint32(headers, EDGE_HEADER.assignedConnection) ?? 0)
    // It names the circuit alone, as Go programs do.
    const first = new PlayedEnd(host, KINDS[0], 'terminator', { id: ids[0] ?? 0, circuitId })
    first.write('of the first dial')
    first.leave('close')
    const [, second] = dials
    if (second === undefined) throw new Error('no second dial')
    const assigned = uint32Header(ids[1] ?? 0)
    host.reply(second, edgeMessage(EDGE_TYPE.dialSuccess, 1, [], assigned))
    expect((await dialed).contentType).toBe(EDGE_TYPE.stateConnected)
    const closed = () => host.heard.filter(({ contentType }) => contentType === EDGE_TYPE.stateClosed)
    expect(closed().map(({ headers }) => readUint32(headers, EDGE_HEADER.connection))).toEqual([ids[0]])
    client.send(writeAcknowledgement({ circuitId, sequences: [0], fromOriginator: false, bufferedBytes: 0, sentAt: 1 }))
    await until(async () => (await client.ask(PROBE)).contentType === EDGE_TYPE.result)
    expect(arrivals(client, 'initiator')).toEqual([])
    // The client is asked first whether it starts the circuit: while that question is on its way it counts as slow.
    await until(() => {
      time.pass(5100)
      return closed().length === 2
    })
    expect(closed().map(({ headers }) => readUint32(headers, EDGE_HEADER.connection))).toEqual(ids)
  })
})
