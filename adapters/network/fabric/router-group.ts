import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { FromRouter, RouterChannel, RouterSession, ToRouter } from '../../../src/control-channel.ts'
import type { ChannelListener } from '../channel/channel.ts'
import type { ChannelSocket } from '../channel/channel-socket.ts'
import type { Frame } from '../channel/frame.ts'
import { boolHeader, textBytes, uint32Header, uint64Header } from '../channel/header-values.ts'
import { CONTENT_TYPE, HEADER } from './messages/content-types.ts'
import type { WireMessage } from './messages/message-row.ts'
import { notTaken, readMessage } from './messages/rows-from-router.ts'
import { writeMessage } from './messages/rows-to-router.ts'

/** Milliseconds for the answer of a resumed edge router to the hello; it answers as soon as it is heard. */
const ANSWER_MS = 2000

/**
 * The messages in a router's queue when its channel is resumed: every message with a lower number than its answer to the hello. They may be
 * ten seconds old, because routers of the line 1.6 report their state before they begin to send. A client that asked for a circuit so long
 * ago has given up, and the host would wait in vain.
 */
export class Backlog {
  /** The sequence of the answer; 0 without an answer in time, so that no message counts as older. */
  readonly #answer: Promise<number>
  #answered: (sequence: number) => void = () => undefined

  constructor() {
    this.#answer = new Promise((resolve) => {
      this.#answered = resolve
    })
  }

  /** The router is heard: it answers soon or never. */
  begin(): void {
    runtime.timer(ANSWER_MS, () => this.#answered(0))
  }

  /** The router answers the hello; later answers change nothing. */
  end({ sequence }: Frame): void {
    this.#answered(sequence)
  }

  /** Resolves with whether a message belongs to the backlog, as soon as that is known. */
  async holds({ sequence }: Frame): Promise<boolean> {
    return sequence < (await this.#answer)
  }
}

/** The times by which a channel detects a peer that left without a message, in milliseconds. */
export interface HeartbeatTimes {
  readonly everyMs: number
  /** A router that is silent on all sockets for longer is gone. */
  readonly silenceMs: number
}

const HIGH = 'ctrl.high'
const DEFAULT = 'ctrl.default'
/** Messages that circuits wait for: they do not wait behind large messages. */
const URGENT: ReadonlySet<ToRouter['type']> = new Set(['route', 'unroute', 'circuit-created', 'refusal'])
/** The most messages of one router that are handled at a time; further messages are refused, because a queue would keep them. */
const MOST_IN_HAND = 4096
/** Messages as bytes: a message for many routers is written once. */
const WRITTEN = new WeakMap<ToRouter, WireMessage>()
const OK = textBytes('ok')
const CIRCUIT_REQUESTS: ReadonlySet<FromRouter['type']> = new Set(['create-circuit', 'create-tunnel-circuit'])
/** The refusal of an outdated dial: a router that still waits for it dials again. */
const OUTDATED: ToRouter = {
  type: 'refusal',
  code: 'internal',
  hint: 'default',
  message: 'the dial was asked for before the router was connected again',
}
const NANOSECONDS = 1_000_000n

/** The channel of one router: one or more sockets, by type, which may change while the channel lasts. */
export class RouterGroup implements RouterChannel {
  readonly id: string
  readonly secret: Uint8Array
  readonly routerId: string
  readonly #onClosed: () => void
  readonly #sockets = new Map<string, ChannelSocket>()
  readonly #waiting: WireMessage[] = []
  readonly #stopBeating: () => void
  readonly #times: HeartbeatTimes
  readonly #backlog: Backlog | undefined
  #session: RouterSession | undefined
  #sequence = 0
  #inHand = 0
  #isHeard = false
  readonly #lifetime = new Lifetime('the channel is closed')

  constructor(
    facts: {
      readonly id: string
      readonly secret: Uint8Array
      readonly routerId: string
      /** The router goes on with a channel that it had before. */
      readonly isResumed: boolean
    },
    times: HeartbeatTimes,
    onClosed: () => void,
  ) {
    this.id = facts.id
    this.secret = facts.secret
    this.routerId = facts.routerId
    this.#backlog = facts.isResumed ? new Backlog() : undefined
    this.#times = times
    this.#onClosed = onClosed
    this.#stopBeating = runtime.interval(times.everyMs, () => this.#beat())
  }

  get sockets(): ReadonlyMap<string, number> {
    return new Map([...this.#sockets.keys()].map((type) => [type === '' ? DEFAULT : type, 1]))
  }

  get isClosed(): boolean {
    return !this.#lifetime.isOpen
  }

  /** The router is connected: its messages go to the session. */
  begin(session: RouterSession): void {
    this.#session = session
    if (this.isClosed) session.closed()
  }

  /** Adds a socket, in place of the former socket of its type. Messages that waited for a socket go out. */
  attach(type: string, socket: ChannelSocket): void {
    if (this.isClosed) {
      socket.destroy()
      return
    }
    const before = this.#sockets.get(type)
    this.#sockets.set(type, socket)
    before?.destroy()
    for (const message of this.#waiting.splice(0)) this.#write(socket, message)
    // A router that resumed a channel counts once it is heard, and may have nothing to send: a heartbeat makes it answer.
    if (!this.#isHeard && this.#backlog !== undefined) this.#beat()
  }

  /** Makes the listener of a socket of this group. */
  listenerOf(type: string, socket: ChannelSocket): ChannelListener {
    return {
      onMessage: (frame) => this.#receive(socket, frame),
      onTrouble: (what) => this.#session?.misbehaved(what),
      onClose: () => {
        if (this.#sockets.get(type) !== socket) return
        this.#sockets.delete(type)
        if (this.#sockets.size === 0) this.close()
      },
    }
  }

  send(message: ToRouter): void {
    if (this.isClosed) return
    const written = WRITTEN.get(message) ?? writeMessage(message)
    WRITTEN.set(message, written)
    const socket = this.#socketFor(message)
    if (socket === undefined) this.#waiting.push(written)
    else this.#write(socket, written)
  }

  close(): void {
    if (!this.#lifetime.end()) return
    this.#stopBeating()
    // Frames that were sent before go out: a disconnected router must first learn which circuits to forget.
    for (const socket of this.#sockets.values()) socket.close()
    this.#sockets.clear()
    this.#onClosed()
    this.#session?.closed()
  }

  #socketFor({ type }: ToRouter): ChannelSocket | undefined {
    const [first] = this.#sockets.values()
    const ofClass = this.#sockets.get(URGENT.has(type) ? HIGH : DEFAULT)
    return ofClass ?? this.#sockets.get(DEFAULT) ?? first
  }

  #receive(socket: ChannelSocket, frame: Frame): void {
    if (!this.#isHeard) {
      this.#isHeard = true
      this.#backlog?.begin()
      this.#session?.heard()
    }
    const sent = frame.headers.get(HEADER.heartbeat)
    if (sent !== undefined) this.#writeHeaders(socket, [[HEADER.heartbeatResponse, sent]])
    switch (frame.contentType) {
      case CONTENT_TYPE.heartbeat:
        return
      case CONTENT_TYPE.ping:
      case CONTENT_TYPE.latency:
        this.#reply(socket, frame, {
          contentType: CONTENT_TYPE.result,
          headers: new Map([[HEADER.success, boolHeader(true)]]),
          body: [OK],
        })
        return
      default:
        void this.#hand(socket, frame)
    }
  }

  async #hand(socket: ChannelSocket, frame: Frame): Promise<void> {
    if (this.#inHand >= MOST_IN_HAND) {
      // A router repeats a request without an answer.
      this.#session?.misbehaved('flood')
      return
    }
    this.#inHand += 1
    const answer = await this.#answerTo(frame)
    this.#inHand -= 1
    if (answer !== undefined) this.#reply(socket, frame, writeMessage(answer, frame.contentType))
  }

  async #answerTo(frame: Frame): Promise<ToRouter | undefined> {
    if (frame.contentType === CONTENT_TYPE.clientHello) this.#backlog?.end(frame)
    let message: FromRouter | undefined
    try {
      message = readMessage(frame)
    } catch {
      this.#session?.misbehaved('malformed')
      return notTaken(frame, 'malformed message')
    }
    if (message === undefined) return notTaken(frame, 'this controller does not take messages of this kind')
    if (CIRCUIT_REQUESTS.has(message.type) && (await this.#backlog?.holds(frame))) return OUTDATED
    return this.#session?.receive(message)
  }

  /** Answers on the socket that asked, or on another socket when that is gone. */
  #reply(socket: ChannelSocket, { sequence, headers }: Frame, message: WireMessage): void {
    if (this.isClosed) return
    const reflected = headers.get(HEADER.reflected)
    const replyFor = [HEADER.replyFor, uint32Header(sequence >>> 0)] as const
    const extra = reflected === undefined ? [replyFor] : [replyFor, [HEADER.reflected, reflected] as const]
    const [first = socket] = this.#sockets.values()
    const open = [...this.#sockets.values()].includes(socket) ? socket : first
    this.#write(open, { ...message, headers: new Map([...message.headers, ...extra]) })
  }

  /** Heartbeats show the router that the controller is there; a router that has been silent for too long is gone. */
  #beat(): void {
    const sockets = [...this.#sockets.values()]
    // Routers answer on any of their sockets: silence on a single socket means nothing.
    const heardAt = Math.max(...sockets.map((socket) => socket.heardAt))
    const isSilent = runtime.monotonic() - heardAt > this.#times.silenceMs
    for (const socket of sockets) {
      if (isSilent) socket.destroy()
      else this.#writeHeaders(socket, [[HEADER.heartbeat, uint64Header(BigInt(runtime.now()) * NANOSECONDS)]])
    }
  }

  #writeHeaders(socket: ChannelSocket, headers: readonly (readonly [number, Uint8Array])[]): void {
    this.#write(socket, { contentType: CONTENT_TYPE.heartbeat, headers: new Map(headers), body: [] })
  }

  #write(socket: ChannelSocket, message: WireMessage): void {
    this.#sequence = (this.#sequence + 1) & 0x7f_ff_ff_ff
    socket.send({ ...message, sequence: this.#sequence })
  }
}
