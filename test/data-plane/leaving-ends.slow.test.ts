import { describe, expect, it } from 'vitest'
import { readPayload, writeAcknowledgement, writePayload } from '../../adapters/network/channel/circuit-frames.ts'
import type { Timer } from '../../adapters/network/channel/conversation.ts'
import {
  bodyOf,
  DATA_FLAG,
  EDGE_HEADER,
  EDGE_TYPE,
  edgeMessage,
  TRUE,
} from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readText, readUint32, uint32Header } from '../../adapters/network/channel/header-values.ts'
import type { CircuitSide } from '../../src/facts/data-plane/xgress/index.ts'
import { isFrom, PAYLOAD_FLAG, PAYLOAD_ITEM, sideFlag } from '../../src/facts/data-plane/xgress/payload.ts'
import { type EdgeWorld, edgeWorld, type Hold, type PlayedEndpoint, until } from '../support/edge-world.ts'

const KINDS = ['windows of its own', 'windows of the router'] as const
type Kind = (typeof KINDS)[number]

/** How an end leaves: it closes its connection, or its channel ends. */
const LEAVINGS = ['close', 'lost channel'] as const
type Leaving = (typeof LEAVINGS)[number]

const CLIENT_ID = 5
const PROBE = { contentType: EDGE_TYPE.latency, headers: new Map<number, Uint8Array>(), body: [] }
const windowsOf = (kind: Kind): [number, Uint8Array][] => (kind === KINDS[0] ? [[EDGE_HEADER.usesXgress, TRUE]] : [])

/** One end of a circuit as an endpoint plays it, with windows of its own or without. */
class PlayedEnd {
  readonly #endpoint: PlayedEndpoint
  readonly #kind: Kind
  readonly #side: CircuitSide
  readonly #id: number
  readonly #circuitId: string
  #sequence = 0

  constructor(endpoint: PlayedEndpoint, kind: Kind, side: CircuitSide, facts: { id: number; circuitId: string }) {
    this.#endpoint = endpoint
    this.#kind = kind
    this.#side = side
    this.#id = facts.id
    this.#circuitId = facts.circuitId
  }

  start(): void {
    if (this.#kind === KINDS[0]) this.#payload('', PAYLOAD_FLAG.circuitStart)
  }

  write(text: string): void {
    if (this.#kind === KINDS[0]) this.#payload(text)
    else this.#endpoint.data(this.#id, Buffer.from(text))
  }

  halfClose(): void {
    if (this.#kind === KINDS[0]) this.#payload('', PAYLOAD_FLAG.endOfInput)
    else this.#endpoint.data(this.#id, new Uint8Array(), DATA_FLAG.end)
  }

  leave(how: Leaving): void {
    if (how === 'lost channel') this.#endpoint.channel.close()
    else if (this.#kind === KINDS[0]) {
      const body = Buffer.from(this.#circuitId)
      this.#endpoint.send({ contentType: EDGE_TYPE.circuitClose, headers: new Map(), body: [body] })
    } else this.#endpoint.send(edgeMessage(EDGE_TYPE.stateClosed, this.#id))
  }

  #payload(text: string, flags = 0): void {
    const facts = { circuitId: this.#circuitId, sequence: this.#sequence, sentAt: 1, items: new Map() }
    this.#sequence += 1
    const message = writePayload({ ...facts, flags: flags | sideFlag(this.#side), body: Buffer.from(text) })
    const headers = new Map(message.headers).set(EDGE_HEADER.connection, uint32Header(this.#id))
    this.#endpoint.send({ ...message, headers })
  }
}

/** The things that reached an end: texts in their order, `half` for the end of a direction, `end` for that of the circuit. */
function arrivals({ heard }: PlayedEndpoint, side: CircuitSide): readonly string[] {
  const texts: string[] = []
  const seen = new Set<number>()
  for (const message of heard) {
    if (texts.at(-1) === 'end') break
    if (message.contentType === EDGE_TYPE.stateClosed) texts.push('end')
    else if (message.contentType === EDGE_TYPE.data) texts.push(...textsOf(bodyOf(message), message, EDGE_HEADER.flags))
    else if (message.contentType === EDGE_TYPE.payload) {
      const payload = readPayload(message)
      if (payload === undefined || isFrom(side, payload) || seen.has(payload.sequence)) continue
      seen.add(payload.sequence)
      const edgeFlags = payload.items.get(PAYLOAD_ITEM.edgeFlags)?.[0] ?? 0
      if (payload.body.length > 0) texts.push(Buffer.from(payload.body).toString())
      const isHalf = (payload.flags & PAYLOAD_FLAG.endOfInput) !== 0 || (edgeFlags & DATA_FLAG.end) !== 0
      if (isHalf) texts.push('half')
      if ((payload.flags & PAYLOAD_FLAG.circuitEnd) !== 0) texts.push('end')
    }
  }
  return texts
}

function textsOf(body: Uint8Array, { headers }: Frame, key: number): readonly string[] {
  const flags = readUint32(headers, key) ?? 0
  const half = (flags & DATA_FLAG.end) === 0 ? [] : ['half']
  return body.length === 0 ? half : [Buffer.from(body).toString(), ...half]
}

const isText = (arrival: string) => arrival !== 'half' && arrival !== 'end'

interface Played {
  readonly world: EdgeWorld
  readonly host: PlayedEndpoint
  readonly client: PlayedEndpoint
  /** Dials; answers the client's end, which has not started the circuit yet. */
  dial(): Promise<PlayedEnd>
}

/** A host and a client at one router; `dialed` is what the host does as soon as it hears of the dial, behind its answer. */
async function play(
  kinds: { readonly host: Kind; readonly client: Kind },
  dialed: (end: PlayedEnd) => void,
  { timer, hold }: { readonly timer?: Timer; readonly hold?: Hold } = {},
): Promise<Played> {
  const world = await edgeWorld(timer, hold)
  const host = await world.connect(await world.device('host', ['hosts']))
  const client = await world.connect(await world.device('client', ['clients']))
  host.onMessage((message) => {
    if (message.contentType !== EDGE_TYPE.dial) return
    const assigned = message.headers.get(EDGE_HEADER.assignedConnection) ?? new Uint8Array(4)
    host.reply(message, edgeMessage(EDGE_TYPE.dialSuccess, 1, [], assigned))
    const id = readUint32(message.headers, EDGE_HEADER.assignedConnection) ?? 0
    const circuitId = readText(message.headers, EDGE_HEADER.circuit) ?? ''
    dialed(new PlayedEnd(host, kinds.host, 'terminator', { id, circuitId }))
  })
  await host.host(1, { headers: windowsOf(kinds.host) })
  const dial = async () => {
    const answer = await client.dial(CLIENT_ID, windowsOf(kinds.client))
    expect(answer.contentType).toBe(EDGE_TYPE.stateConnected)
    const circuitId = readText(answer.headers, EDGE_HEADER.circuit) ?? ''
    const end = new PlayedEnd(client, kinds.client, 'initiator', { id: CLIENT_ID, circuitId })
    acknowledgeAll(client, circuitId)
    return end
  }
  return { world, host, client, dial }
}

/** Acknowledges every payload that comes, as an end with windows of its own does. */
function acknowledgeAll(endpoint: PlayedEndpoint, circuitId: string): void {
  const acknowledge = (message: Frame) => {
    const payload = message.contentType === EDGE_TYPE.payload ? readPayload(message) : undefined
    if (payload === undefined) return
    const { sequence, sentAt } = payload
    endpoint.send(
      writeAcknowledgement({ circuitId, sequences: [sequence], fromOriginator: false, bufferedBytes: 0, sentAt }),
    )
  }
  for (const message of endpoint.heard) acknowledge(message)
  endpoint.onMessage(acknowledge)
}

const PAIRS = KINDS.flatMap((host) => KINDS.map((client) => ({ host, client })))
const ENDINGS = LEAVINGS.flatMap((leaving) => [false, true].map((isHalfClosed) => ({ leaving, isHalfClosed })))

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
      hold: () => (isAway ? new Promise(() => undefined) : Promise.resolve()),
    })
    const end = await dial()
    end.start()
    isAway = true
    const begun = performance.now()
    end.leave(leaving)
    await until(() => arrivals(host, 'terminator').at(-1) === 'end')
    expect(performance.now() - begun).toBeLessThan(500)
  })

  it.each(LEAVINGS)('hear of each other’s end before the controller does (%s of the host)', async (leaving) => {
    let isAway = false
    const ends: PlayedEnd[] = []
    const { client, dial } = await play(kinds, (end) => void ends.push(end), {
      hold: () => (isAway ? new Promise(() => undefined) : Promise.resolve()),
    })
    ;(await dial()).start()
    isAway = true
    const begun = performance.now()
    ends[0]?.leave(leaving)
    await until(() => arrivals(client, 'initiator').at(-1) === 'end')
    expect(performance.now() - begun).toBeLessThan(500)
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
    time.pass(5100)
    await until(() => closed().length === 2)
    expect(closed().map(({ headers }) => readUint32(headers, EDGE_HEADER.connection))).toEqual(ids)
  })
})

/** Time that passes when a test says so. */
class PlayedTime {
  #now = 0
  readonly #timers = new Set<{ readonly at: number; readonly work: () => void }>()

  readonly timer: Timer = (ms, work) => {
    const entry = { at: this.#now + ms, work }
    this.#timers.add(entry)
    return () => void this.#timers.delete(entry)
  }

  pass(ms: number): void {
    const until = this.#now + ms
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#now = next.at
      this.#timers.delete(next)
      next.work()
    }
    this.#now = until
  }

  #next(until: number) {
    return [...this.#timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0]
  }
}

async function circuits({ controller }: EdgeWorld): Promise<number> {
  const { data } = await controller.admin.call('GET /current-api-session')
  const headers = { 'zt-session': data.token }
  const answer = await controller.fetch(new Request('https://controller.test:1280/fabric/v1/circuits', { headers }))
  return Object(await answer.json()).data.length
}
