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
import type { RunningRouter } from '../../adapters/network/router/index.ts'
import { type CircuitSide, PAYLOAD_FLAG, PAYLOAD_ITEM } from '../../src/data-plane.ts'
import type { EdgeWorld, PlayedEndpoint } from './edge-world.ts'

/** The flag of payloads that marks their side. */
const sideFlag = (side: CircuitSide) => (side === 'terminator' ? PAYLOAD_FLAG.originator : 0)

/** The connection id of the client of a pair. */
export const CLIENT_ID = 5

export const KINDS = ['windows of its own', 'windows of the router'] as const
export type Kind = (typeof KINDS)[number]

/** The kinds of both ends of a circuit. */
export interface Kinds {
  readonly host: Kind
  readonly client: Kind
}

/** How an end leaves: it closes its connection, or its channel ends. */
export const LEAVINGS = ['close', 'lost channel'] as const
export type Leaving = (typeof LEAVINGS)[number]

export const windowsOf = (kind: Kind): [number, Uint8Array][] =>
  kind === KINDS[0] ? [[EDGE_HEADER.usesXgress, TRUE]] : []

/** One end of a circuit as an endpoint plays it, with windows of its own or without. */
export class PlayedEnd {
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
export function arrivals({ heard }: PlayedEndpoint, side: CircuitSide): readonly string[] {
  const texts: string[] = []
  const seen = new Set<number>()
  for (const message of heard) {
    if (texts.at(-1) === 'end') break
    if (message.contentType === EDGE_TYPE.stateClosed) texts.push('end')
    else if (message.contentType === EDGE_TYPE.data) texts.push(...textsOf(bodyOf(message), message, EDGE_HEADER.flags))
    else if (message.contentType === EDGE_TYPE.payload) {
      const payload = readPayload(message)
      const isOwn = payload !== undefined && (payload.flags & PAYLOAD_FLAG.originator) === sideFlag(side)
      if (payload === undefined || isOwn || seen.has(payload.sequence)) continue
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

export const isText = (arrival: string) => arrival !== 'half' && arrival !== 'end'

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

export interface PlayedPair {
  readonly host: PlayedEndpoint
  readonly client: PlayedEndpoint
  /** Dials; answers the client's end, which has not started the circuit yet. */
  dial(): Promise<PlayedEnd>
}

/**
 * A host and a client, at the router of the world unless others are given; `dialed` is what the host does as soon as it hears of
 * the dial, behind its answer.
 */
export async function playPair(
  world: EdgeWorld,
  kinds: Kinds,
  dialed: (end: PlayedEnd) => void,
  at: { readonly host?: RunningRouter; readonly client?: RunningRouter } = {},
): Promise<PlayedPair> {
  const host = await world.connect(await world.device('host', ['hosts']), at.host && { router: at.host })
  const client = await world.connect(await world.device('client', ['clients']), at.client && { router: at.client })
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
    if (answer.contentType !== EDGE_TYPE.stateConnected) throw new Error(`refused: ${bodyOf(answer)}`)
    const circuitId = readText(answer.headers, EDGE_HEADER.circuit) ?? ''
    const end = new PlayedEnd(client, kinds.client, 'initiator', { id: CLIENT_ID, circuitId })
    acknowledgeAll(client, circuitId)
    return end
  }
  return { host, client, dial }
}

export const PAIRS = KINDS.flatMap((host) => KINDS.map((client) => ({ host, client })))
export const ENDINGS = LEAVINGS.flatMap((leaving) => [false, true].map((isHalfClosed) => ({ leaving, isHalfClosed })))

/** Time that passes when a test says so. */
export class PlayedTime {
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

/** The number of circuits that the controller knows. */
export async function circuits({ controller }: EdgeWorld): Promise<number> {
  const { data } = await controller.admin.call('GET /current-api-session')
  const headers = { 'zt-session': data.token }
  const answer = await controller.fetch(new Request('https://controller.test:1280/fabric/v1/circuits', { headers }))
  return Object(await answer.json()).data.length
}
