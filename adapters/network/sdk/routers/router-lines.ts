import type { Channel } from '../../channel/channel.ts'
import { CircuitEnds } from '../../channel/circuit-ends.ts'
import type { Conversation, Message, Timer } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, uint32Header } from '../../channel/header-values.ts'
import type { Line, ServiceConnection } from '../service-connection.ts'
import { type SharedWay, type WindowedFacts, WindowedLine } from './windowed-line.ts'

/** Bytes that wait for a router beyond which writers wait. */
const MOST_WAITING_BYTES = 256 * 1024
/** Messages of one circuit that are kept until its line exists; further messages are sent again. */
const MOST_EARLY = 64

/** The clock and the timer of lines. */
export interface LineClock {
  readonly timer: Timer
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/**
 * The lines of the connections of one channel to a router. If the router lets endpoints keep windows, an unread connection waits alone;
 * otherwise every connection of the channel waits with it.
 */
export class RouterLines implements SharedWay {
  readonly ends: CircuitEnds
  readonly #channel: Channel
  readonly #talk: Pick<Conversation, 'send'>
  readonly #windowed = new Map<number, WindowedLine>()
  /** Messages of circuits whose lines do not exist yet, by connection. */
  readonly #early = new Map<number, Frame[]>()
  readonly #waitingWriters: (() => void)[] = []
  /** The number of unread connections that hold the channel. */
  #holding = 0
  #isOpen = true

  constructor(channel: Channel, talk: Pick<Conversation, 'send'>, { timer, now }: LineClock) {
    this.#channel = channel
    this.#talk = talk
    this.ends = new CircuitEnds(now, timer)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get hasRoom(): boolean {
    return !this.#isOpen || this.#channel.queuedBytes < MOST_WAITING_BYTES
  }

  /** Whether all connections of the channel wait for a slow reader. */
  get isHeld(): boolean {
    return this.#holding > 0
  }

  /** Lines whose windows are kept here; they last a little longer than their connections. */
  get windowed(): number {
    return this.#windowed.size
  }

  send(message: Message): void {
    if (this.#isOpen) this.#talk.send(message)
  }

  whenRoom(work: () => void): void {
    this.#waitingWriters.push(work)
  }

  /** Whether the id of a connection is in use, though the connection may be over. */
  has(id: number): boolean {
    return this.#windowed.has(id)
  }

  /** The line of a connection whose windows its router keeps; `onClose` answers whether the router must be notified of its end. */
  ofRouter(id: number, onClose: () => boolean): Line {
    return {
      send: (body, flags) => {
        const headers = flags === 0 ? [] : [[EDGE_HEADER.flags, uint32Header(flags)] as const]
        this.send(edgeMessage(EDGE_TYPE.data, id, headers, body))
        return this.hasRoom
      },
      whenWritable: (work) => this.whenRoom(work),
      hold: () => this.#hold(1),
      release: () => this.#hold(-1),
      close: () => {
        if (onClose()) this.send(edgeMessage(EDGE_TYPE.stateClosed, id))
      },
    }
  }

  /** The line of a connection whose windows are kept here; undefined if the router did not allow it. */
  windowsOf(
    granted: Frame,
    connection: ServiceConnection,
    facts: WindowedFacts,
    onOver: () => void,
  ): WindowedLine | undefined {
    if (readBool(granted.headers, EDGE_HEADER.usesXgress) !== true || facts.circuitId === '') return undefined
    const { connectionId } = facts
    const line = new WindowedLine(this, facts, connection, () => {
      this.#windowed.delete(connectionId)
      onOver()
    })
    this.#windowed.set(connectionId, line)
    return line
  }

  /** A payload or an acknowledgement of a circuit. */
  take(id: number, message: Frame): void {
    this.#windowed.get(id)?.take(message)
  }

  /** Keeps a message that came before its dial was decided: hosts may write and close right behind their answer. */
  keep(id: number, message: Frame): void {
    const early = this.#early.get(id) ?? []
    const isEnd = message.contentType === EDGE_TYPE.stateClosed
    if (isEnd || early.length < MOST_EARLY) this.#early.set(id, [...early, message])
  }

  /** A dial is decided; answers the messages that arrived for its connection meanwhile. */
  decided(id: number): readonly Frame[] {
    const early = this.#early.get(id) ?? []
    this.#early.delete(id)
    return early
  }

  /** The router ended a circuit; answers whether its windows were kept here. */
  cut(id: number): boolean {
    const line = this.#windowed.get(id)
    line?.cut()
    return line !== undefined
  }

  /** Waiting writers write in turn, until the queue to the router is full again. */
  drained(): void {
    while (this.#waitingWriters.length > 0 && this.hasRoom) this.#waitingWriters.shift()?.()
  }

  /** The channel is over. */
  closed(): void {
    this.#isOpen = false
    this.ends.close()
    this.drained()
  }

  #hold(more: 1 | -1): void {
    this.#holding += more
    if (this.#holding === 0) this.#channel.resume()
    else this.#channel.pause()
  }
}
