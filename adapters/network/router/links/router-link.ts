import { Lifetime } from '../../../../src/concurrency/lifetime.ts'
import { linkLiveness } from '../../../../src/data-plane.ts'
import { type Channel, type ChannelTrouble, isTooMuch, type WaitingBounds } from '../../channel/channel.ts'
import { CHANNEL_HEADER, CHANNEL_TYPE } from '../../channel/channel-numbers.ts'
import { forwarded, isOfCircuit } from '../../channel/circuit-frames.ts'
import type { Message, Timer, Watch } from '../../channel/conversation.ts'
import { EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { boolHeader, uint32Header, uint64Header } from '../../channel/header-values.ts'
import type { Destination } from '../forwarder.ts'
import type { TracedChannel } from '../state/channel-traces.ts'
import { LINK_SOCKET } from './link-hello.ts'

/** A link as it was agreed. */
export interface LinkFacts {
  readonly id: string
  readonly peerId: string
  readonly iteration: number
  readonly isDialed: boolean
  /** Links of one key are duplicates. */
  readonly key: string
  /** The address that was dialed; empty for an accepted link. */
  readonly dialAddress: string
}

/** One connection of a link, as it is reported. */
export interface LinkSocket {
  readonly channel: Channel
  readonly type: string
  readonly localAddress: string
  readonly remoteAddress: string
}

/** The owner of a link. */
export interface LinkListener {
  /** A message of a circuit arrived; answers its destination. */
  received(link: RouterLink, frame: Frame): Destination | undefined
  /** The round trip was measured, nanoseconds; undefined where the peer has not answered for long. */
  measured(link: RouterLink, nanoseconds: number | undefined): void
  /** A socket came or went. */
  changed(link: RouterLink): void
  troubled(link: RouterLink, what: ChannelTrouble): void
  over(link: RouterLink): void
}

/** The clock of a link, in ms, and a timer that follows it. */
export interface LinkClock {
  readonly now: () => number
  readonly timer: Timer
}

/** Milliseconds to the first heartbeat, and between two. */
const FIRST_BEAT_MS = 1000
const BEAT_MS = 10_000
const NANOSECONDS = 1_000_000
/** Sockets of one link: a peer opens four. */
const MOST_SOCKETS = 8
/** Bytes that may wait for a peer before its senders pause, and bytes at which they go on. */
const FULL: WaitingBounds = { most: 2_097_152, ofOthers: 16_777_216 }
const ROOM_BYTES = 524_288
/** Milliseconds of a pause at the most: routers that wait for each other in a circle go on, and drop excess payloads. */
const LONGEST_PAUSE_MS = 100
/**
 * Bytes that wait for a peer before payloads are dropped: their sender sends them again, and slows down. Acknowledgements wait longer,
 * because without them all payloads are sent again.
 */
const MOST_PAYLOADS: WaitingBounds = { most: 16_777_216, ofOthers: 25_165_824 }
const MOST_OTHERS: WaitingBounds = { most: 25_165_824, ofOthers: 25_165_824 }

/** A link to another router: one socket or several, which lasts as long as one of them for payloads does. */
export class RouterLink implements Destination, TracedChannel {
  readonly facts: LinkFacts
  watch: Watch | undefined
  readonly #clock: LinkClock
  readonly #listener: LinkListener
  readonly #sockets = new Set<LinkSocket>()
  readonly #lifetime = new Lifetime('the link is closed')
  #sequence = 0
  #answeredAt: number
  #cancelBeat: () => void
  #droppedPayloads = 0
  #changes = 0
  #waiting: (() => void)[] = []
  readonly #paused = new Set<Channel>()

  constructor(facts: LinkFacts, clock: LinkClock, listener: LinkListener) {
    this.facts = facts
    this.#clock = clock
    this.#listener = listener
    this.#answeredAt = clock.now()
    this.#cancelBeat = clock.timer(FIRST_BEAT_MS, () => this.#beat())
  }

  get owner(): string {
    return this.facts.id
  }

  get name(): string {
    return `l/${this.facts.id}`
  }

  get isOpen(): boolean {
    return this.#lifetime.isOpen
  }

  get sockets(): readonly LinkSocket[] {
    return [...this.#sockets]
  }

  /** The number of times that a socket joined or left. */
  get changes(): number {
    return this.#changes
  }

  /** The number of payloads that were dropped because the peer was too slow. */
  get droppedPayloads(): number {
    return this.#droppedPayloads
  }

  /** Adds a socket; answers false where the link is over or has enough of them. */
  attach(socket: LinkSocket): boolean {
    if (!this.isOpen || this.#sockets.size >= MOST_SOCKETS) return false
    this.#sockets.add(socket)
    this.#changes += 1
    socket.channel.listen({
      onMessage: (frame) => this.#receive(socket, frame),
      onTrouble: (what) => this.#listener.troubled(this, what),
      onClose: () => this.#lost(socket),
      onDrain: () => this.#makeRoom(),
    })
    if (this.#sockets.size > 1) this.#listener.changed(this)
    return true
  }

  isFullFor(message: Frame): boolean {
    const channel = this.#channelFor(LINK_SOCKET.data)
    return channel !== undefined && hasTooMuch(channel, message, FULL)
  }

  whenRoom(work: () => void): void {
    this.#waiting.push(work)
  }

  take(_circuitId: string, frame: Frame): void {
    const isPayload = frame.contentType === EDGE_TYPE.payload
    const channel = this.#channelFor(isPayload ? LINK_SOCKET.data : LINK_SOCKET.acknowledgements)
    if (channel === undefined) return
    if (hasTooMuch(channel, frame, isPayload ? MOST_PAYLOADS : MOST_OTHERS)) this.#droppedPayloads += 1
    else this.#send(channel, forwarded(frame))
  }

  /** Closes every socket. */
  close(): void {
    if (!this.#lifetime.end()) return
    this.#cancelBeat()
    for (const { channel } of this.#sockets) channel.close()
    this.#sockets.clear()
    for (const work of this.#waiting.splice(0)) work()
    this.#listener.over(this)
  }

  #receive({ channel }: LinkSocket, frame: Frame): void {
    const { headers, contentType, sequence } = frame
    this.watch?.(frame, true)
    const asked = headers.get(CHANNEL_HEADER.heartbeat)
    if (asked !== undefined)
      this.#send(channel, {
        contentType: CHANNEL_TYPE.heartbeat,
        headers: new Map([[CHANNEL_HEADER.heartbeatResponse, asked]]),
        body: [],
      })
    const answered = headers.get(CHANNEL_HEADER.heartbeatResponse)
    if (answered !== undefined) this.#answered(answered)
    if (isOfCircuit(frame)) {
      const destination = this.#listener.received(this, frame)
      if (contentType === EDGE_TYPE.payload && destination?.isFullFor(frame)) this.#pause(channel, destination)
    } else if (contentType === CHANNEL_TYPE.latency) {
      const reflected = headers.get(CHANNEL_HEADER.reflected)
      const answer = new Map([
        [CHANNEL_HEADER.replyFor, uint32Header(sequence >>> 0)],
        [CHANNEL_HEADER.success, boolHeader(true)],
        ...(reflected === undefined ? [] : [[CHANNEL_HEADER.reflected, reflected] as const]),
      ])
      this.#send(channel, { contentType: CHANNEL_TYPE.result, headers: answer, body: [] })
    }
  }

  /** Reads no more from a peer while its messages go to a slower destination. */
  #pause(channel: Channel, destination: Destination): void {
    if (this.#paused.has(channel)) return
    this.#paused.add(channel)
    channel.pause()
    const resume = () => {
      if (!this.#paused.delete(channel)) return
      cancel()
      channel.resume()
    }
    const cancel = this.#clock.timer(LONGEST_PAUSE_MS, resume)
    destination.whenRoom(resume)
  }

  #makeRoom(): void {
    const channel = this.#channelFor(LINK_SOCKET.data)
    if (channel !== undefined && channel.queuedBytes > ROOM_BYTES) return
    for (const work of this.#waiting.splice(0)) work()
  }

  /** The peer gave back the time of a heartbeat. */
  #answered(value: Uint8Array): void {
    if (value.length < 8) return
    const sentNs = new DataView(value.buffer, value.byteOffset, 8).getBigUint64(0, true)
    const nanoseconds = Math.round(this.#clock.now() * NANOSECONDS) - Number(sentNs)
    // A heartbeat that was never sent measures nothing.
    if (nanoseconds < 0 || nanoseconds > 10 * BEAT_MS * NANOSECONDS) return
    this.#answeredAt = this.#clock.now()
    this.#listener.measured(this, nanoseconds)
  }

  #beat(): void {
    const now = this.#clock.now()
    const liveness = linkLiveness(this.#answeredAt, now)
    if (liveness === 'dead') {
      for (const { channel } of this.#sockets) channel.destroy()
      this.close()
      return
    }
    if (liveness === 'slow') this.#listener.measured(this, undefined)
    const value = uint64Header(BigInt(Math.round(now * NANOSECONDS)))
    const channel = this.#channelFor(LINK_SOCKET.data)
    if (channel !== undefined) {
      this.#send(channel, {
        contentType: CHANNEL_TYPE.heartbeat,
        headers: new Map([[CHANNEL_HEADER.heartbeat, value]]),
        body: [],
      })
    }
    this.#cancelBeat = this.#clock.timer(BEAT_MS, () => this.#beat())
  }

  /** The socket of a type with the fewest waiting bytes; a socket for payloads where the type has none. */
  #channelFor(type: string): Channel | undefined {
    let best: Channel | undefined
    for (const socket of this.#sockets) {
      if (socket.type === type && (best === undefined || socket.channel.queuedBytes < best.queuedBytes))
        best = socket.channel
    }
    return best ?? (type === LINK_SOCKET.data ? undefined : this.#channelFor(LINK_SOCKET.data))
  }

  #lost(socket: LinkSocket): void {
    if (!this.#sockets.delete(socket)) return
    this.#changes += 1
    const hasData = [...this.#sockets].some(({ type }) => type === LINK_SOCKET.data)
    if (hasData) this.#listener.changed(this)
    else this.close()
  }

  #send(channel: Channel, message: Message): void {
    this.#sequence = (this.#sequence + 1) & 0x7f_ff_ff_ff
    const frame = { ...message, sequence: this.#sequence }
    this.watch?.(frame, false)
    channel.send(frame)
  }
}

function hasTooMuch(channel: Channel, message: Frame, bounds: WaitingBounds): boolean {
  const { queuedBytes } = channel
  return isTooMuch(queuedBytes, () => channel.queuedBytesOf?.(message) ?? queuedBytes, bounds)
}
