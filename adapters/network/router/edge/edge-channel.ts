import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { ConnectionTable, EDGE_ERROR, type EdgeRefusal } from '../../../../src/data-plane.ts'
import type { Channel, ChannelTrouble, Lane } from '../../channel/channel.ts'
import { circuitOf } from '../../channel/circuit-frames.ts'
import { Conversation, type Message, type Timer } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, textIn } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { boolHeader, readUint32, textBytes } from '../../channel/header-values.ts'
import type { BoundService } from './bound-service.ts'
import { CircuitConnections } from './edge-circuits.ts'
import type { EdgeConnection } from './edge-connection.ts'
import { type DialParts, EdgeDials } from './edge-dials.ts'
import { type EdgeClient, type Endpoint, type Room, refusalHeaders } from './endpoint.ts'
import type { HostedServices } from './hosting-endpoints.ts'
import { ServiceUpdates, type UpdatesParts } from './told-services.ts'

/** The most connections, dials and binds of one endpoint at a router. */
const LIMITS = { connections: 10_000, dials: 1000, binds: 1000 }
/** Milliseconds for which an endpoint may leave messages unread. */
const STALL_MS = 60_000
/** Dials of an endpoint that begin in a turn of the event loop: the controller judges each dial, and all other messages would wait. */
const DIALS_IN_TURN = 16
/** Milliseconds for which an endpoint is not held again after it was held in vain. */
const SPARED_MS = 1000

/** The parts of a router that its channels share. */
export interface EdgeParts extends DialParts {
  readonly timer: Timer
  readonly hosted: HostedServices
  readonly updates: UpdatesParts
  /** The client by its next access token, or the reason for which the token is invalid. */
  updatedClient(client: EdgeClient, token: string): Promise<EdgeClient | EdgeRefusal>
  /** The client has a new access token. */
  renewed(channel: EdgeChannel, before: EdgeClient): void
  /** The endpoint reports its posture. */
  reported(channel: EdgeChannel, message: Frame): void
  /** The endpoint broke the protocol, or does not read. */
  troubled(channel: EdgeChannel, what: ChannelTrouble): void
  closed(channel: EdgeChannel): void
}

type Entry = EdgeConnection | BoundService

/** The channel of one endpoint: its dials, its hosted services, and the dials to them. */
export class EdgeChannel implements Endpoint<Entry> {
  readonly #parts: EdgeParts
  readonly #channel: Channel
  readonly #conversation: Conversation
  readonly #table = new ConnectionTable<Entry>(LIMITS)
  readonly #dials: EdgeDials
  readonly #updates: ServiceUpdates
  readonly #circuits = new CircuitConnections()
  readonly #waitingForRoom: (() => void)[] = []
  /** Full queues; nothing is read from the endpoint until they have room. */
  readonly #full = new Set<Room>()
  #client: EdgeClient
  #isSpared = false
  #dialsInTurn = 0
  #isClosed = false

  constructor(parts: EdgeParts, channel: Channel, client: EdgeClient) {
    this.#parts = parts
    this.#channel = channel
    this.#client = client
    const listener = {
      onMessage: (message: Frame) => this.#take(message),
      onDrain: () => this.#drained(),
      onTrouble: (what: ChannelTrouble) => parts.troubled(this, what),
      onClose: () => this.#closed(),
    }
    this.#conversation = new Conversation(channel, listener, parts.timer)
    this.#dials = new EdgeDials(parts, this, this.#table)
    this.#updates = new ServiceUpdates(parts.updates, this)
  }

  get client(): EdgeClient {
    return this.#client
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get queuedBytes(): number {
    return this.#channel.queuedBytes
  }

  queuedBytesOf(connectionId: number): number {
    const message = { ...edgeMessage(EDGE_TYPE.data, connectionId), sequence: 0 }
    return this.#channel.queuedBytesOf?.(message) ?? this.queuedBytes
  }

  get size(): number {
    return this.#table.size
  }

  send(message: Message, lane: Lane = 'control'): void {
    this.#conversation.send(message, lane)
  }

  ask(message: Message, timeoutMs: number, onAnswer?: () => void): Promise<Frame> {
    return this.#conversation.ask(message, timeoutMs, 'control', onAnswer)
  }

  reply(to: Frame, message: Message, lane: Lane = 'control'): void {
    this.#conversation.reply(to, message, lane)
  }

  whenDrained(work: () => void): void {
    this.#waitingForRoom.push(work)
  }

  holdFor(room: Room, mostMs = STALL_MS): void {
    const isBrief = mostMs < STALL_MS
    if (this.#full.has(room) || (isBrief && this.#isSpared)) return
    this.#full.add(room)
    this.#channel.pause()
    const resume = () => {
      cancel()
      if (this.#full.delete(room) && this.#full.size === 0) this.#channel.resume()
    }
    const cancel = this.#parts.timer(mostMs, () => {
      if (isBrief) this.#spare()
      resume()
    })
    room.whenRoom(resume)
  }

  /** Messages for others have waited behind a message for an endpoint that does not read: they do not wait for the next such message. */
  #spare(): void {
    this.#isSpared = true
    this.#parts.timer(SPARED_MS, () => {
      this.#isSpared = false
    })
  }

  /** A free id for a dial to the endpoint. */
  freeId(): number | undefined {
    return this.#table.freeId()
  }

  bind(id: number, entry: Entry): 'taken' | 'too-many' | undefined {
    return this.#table.bind(id, entry)
  }

  accept(id: number, entry: Entry): boolean {
    return this.#table.accept(id, entry) === undefined
  }

  release(id: number, entry: Entry): boolean {
    if (entry.kind === 'connection') this.#circuits.remove(entry)
    return this.#table.release(id, entry)
  }

  entered(id: number): void {
    const entry = this.#table.get(id)
    if (entry?.kind === 'connection' && entry.usesXgress) this.#circuits.add(entry)
  }

  /** Judges the endpoint's connections and hosted services again, ends those without a right, and reports changes of services to it. */
  judge(): void {
    this.#updates.refresh()
    // For a stored session the controller ends them.
    if (!this.#client.isBearer) return
    const { hosted } = this.#parts
    // A service is judged once for all of its connections.
    const refusals = { ingress: this.#judged('Dial'), egress: this.#judged('Bind') }
    for (const { state, value } of [...this.#table.all()]) {
      if (value.kind === 'bound') hosted.judge(value)
      else if (state === 'open') {
        const refusal = refusals[value.side](value.serviceId)
        if (refusal !== undefined) value.cut(refusal.text)
      }
    }
  }

  /** Answers the reason for which a service is refused to the endpoint, and remembers each answer. */
  #judged(type: 'Dial' | 'Bind') {
    const known = new Map<string, EdgeRefusal | undefined>()
    return (serviceId: string) => {
      if (!known.has(serviceId)) known.set(serviceId, this.#parts.posture.refusal(this.#client, serviceId, type))
      return known.get(serviceId)
    }
  }

  /** Ends the channel. */
  end(): void {
    this.#channel.close()
  }

  #take(message: Frame): void {
    switch (message.contentType) {
      case EDGE_TYPE.data: {
        const connection = this.#entryOf(message)
        if (connection?.kind === 'connection') connection.sent(message)
        return
      }
      case EDGE_TYPE.payload:
      case EDGE_TYPE.acknowledgement:
        this.#circuits.ofPayload(message)?.sentPayload(message)
        return
      case EDGE_TYPE.circuitControl:
        this.#circuits.ofNamed(this.#entryOf(message), circuitOf(message))?.traces.sentControl(message)
        return
      case EDGE_TYPE.traceRoute:
      case EDGE_TYPE.traceRouteAnswer: {
        const connection = this.#entryOf(message)
        if (connection?.kind === 'connection') connection.traces.sent(message)
        return
      }
      case EDGE_TYPE.circuitClose: {
        const connection = this.#circuits.ofNamed(this.#entryOf(message), textIn(message))
        // A host that is dialed a second time for one circuit closes the connection of the first dial.
        if (connection?.isAnswered === true) this.#closedByEndpoint(connection.id)
        return
      }
      case EDGE_TYPE.connect:
      case EDGE_TYPE.connectV2:
        this.#dial(message)
        return
      case EDGE_TYPE.bind:
        void this.#parts.hosted.bind(this, message)
        return
      case EDGE_TYPE.unbind:
        this.#unbind(message)
        return
      case EDGE_TYPE.updateBind: {
        const bound = this.#entryOf(message)
        if (bound?.kind === 'bound') this.#parts.hosted.update(bound, message)
        return
      }
      case EDGE_TYPE.stateClosed: {
        const id = readUint32(message.headers, EDGE_HEADER.connection)
        if (id !== undefined) this.#closedByEndpoint(id)
        return
      }
      case EDGE_TYPE.posture:
        this.#parts.reported(this, message)
        return
      case EDGE_TYPE.subscribe:
        this.#updates.subscribe()
        return
      case EDGE_TYPE.unsubscribe:
        this.#updates.unsubscribe()
        return
      case EDGE_TYPE.resyncPosture:
        this.#updates.resync()
        return
      case EDGE_TYPE.latency:
        this.#answerProbe(message)
        return
      case EDGE_TYPE.updateToken:
        void this.#updateToken(message)
        return
      default:
      // An unknown type is ignored, as endpoints do.
    }
  }

  #dial(message: Frame): void {
    void this.#dials.dial(message)
    this.#dialsInTurn += 1
    if (this.#dialsInTurn < DIALS_IN_TURN) return
    this.#dialsInTurn = 0
    this.holdFor({ whenRoom: (work) => void runtime.later(work) })
  }

  #entryOf({ headers }: Frame): Entry | undefined {
    const id = readUint32(headers, EDGE_HEADER.connection)
    return id === undefined ? undefined : this.#table.get(id)
  }

  #unbind(message: Frame): void {
    const bound = this.#entryOf(message)
    if (bound?.kind !== 'bound') return
    this.#table.release(bound.connectionId, bound)
    this.#parts.hosted.remove([bound])
    // An endpoint that waits for an answer frees its binding by it; other endpoints ignore it.
    this.reply(message, edgeMessage(EDGE_TYPE.stateClosed, bound.connectionId))
  }

  #closedByEndpoint(id: number): void {
    const closed = this.#table.close(id)
    if (closed?.value.kind === 'connection') this.#circuits.remove(closed.value)
    if (closed?.value.kind === 'bound') this.#parts.hosted.remove([closed.value])
    else if (closed?.state === 'open') closed.value.left()
  }

  #answerProbe(message: Frame): void {
    const probe = message.headers.get(EDGE_HEADER.probe)
    const headers = new Map<number, Uint8Array>([[EDGE_HEADER.isAccepted, boolHeader(true)]])
    if (probe !== undefined) headers.set(EDGE_HEADER.probe, probe)
    this.reply(message, { contentType: EDGE_TYPE.result, headers, body: [] })
  }

  async #updateToken(message: Frame): Promise<void> {
    const updated = this.#client.isBearer
      ? await this.#parts.updatedClient(this.#client, textIn(message))
      : { text: 'the connection was not opened by an access token', code: EDGE_ERROR['invalid-api-session-type'] }
    if ('session' in updated) {
      const before = this.#client
      this.#client = updated
      this.#parts.renewed(this, before)
      this.judge()
      this.reply(message, { contentType: EDGE_TYPE.tokenUpdated, headers: new Map(), body: [] })
      return
    }
    const headers = refusalHeaders(updated)
    this.reply(message, { contentType: EDGE_TYPE.tokenNotUpdated, headers, body: [textBytes(updated.text)] })
    this.end()
  }

  #drained(): void {
    for (const work of this.#waitingForRoom.splice(0)) work()
  }

  #closed(): void {
    this.#isClosed = true
    this.#drained()
    const all = this.#table.clear()
    const bound: BoundService[] = []
    for (const { state, value } of all) {
      if (value.kind === 'bound') bound.push(value)
      else if (state === 'open') value.left()
    }
    this.#parts.hosted.remove(bound)
    this.#parts.closed(this)
  }
}
