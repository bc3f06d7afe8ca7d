import {
  type Chunk,
  type CircuitSide,
  type EndReason,
  PAYLOAD_ITEM,
  type Reading,
  XgressEnd,
} from '../../../src/data-plane.ts'
import { readAcknowledgement, readPayload, writeAcknowledgement, writePayload } from './circuit-frames.ts'
import { type Message, processTimer, type Timer } from './conversation.ts'
import { bodyOf, DATA_FLAG, EDGE_HEADER, EDGE_TYPE } from './edge-messages.ts'
import type { Frame } from './frame.ts'
import { uint32Header } from './header-values.ts'

/** The facts by which an end of a circuit is opened. */
export interface EndFacts {
  readonly circuitId: string
  readonly side: CircuitSide
}

/** The reader and writer at an end of a circuit, and the way to its other end. */
export interface EndListener {
  /** A payload or an acknowledgement for the other end. */
  send(message: Message): void
  /** {@link CircuitEnd.read} has bytes to hand over. */
  readable(): void
  /** Everything that was written has gone out. */
  writable(): void
  /** The end is over: its controller must get a report, unless it ended the circuit itself. */
  over(reason: EndReason): void
}

/** Milliseconds between checks for payloads to send again. */
const TICK_MS = 100

/** The ends of circuits whose order and windows this process keeps. */
export class CircuitEnds {
  readonly #now: () => number
  readonly #timer: Timer
  readonly #ends = new Set<CircuitEnd>()
  /** The ends that depend on time: payloads are under way, or the end is closing. */
  readonly #busy = new Set<CircuitEnd>()
  #cancel: (() => void) | undefined

  /** `now` answers ms of a monotonic clock. */
  constructor(now: () => number, timer: Timer = processTimer) {
    this.#now = now
    this.#timer = timer
  }

  get size(): number {
    return this.#ends.size
  }

  /** Opens an end; the dialer begins with {@link CircuitEnd.start}. */
  open(facts: EndFacts, listener: EndListener): CircuitEnd {
    const end: CircuitEnd = new CircuitEnd(
      facts,
      this.#now,
      {
        send: (message) => listener.send(message),
        readable: () => listener.readable(),
        writable: () => listener.writable(),
        over: (reason) => {
          this.#ends.delete(end)
          this.#busy.delete(end)
          listener.over(reason)
        },
      },
      () => this.#watch(end),
    )
    this.#ends.add(end)
    this.#watch(end)
    return end
  }

  /** Ends all of them without a message. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const end of this.#ends) end.abort()
  }

  #watch(end: CircuitEnd): void {
    if (end.isOver) return
    this.#busy.add(end)
    this.#cancel ??= this.#timer(TICK_MS, () => this.#tick())
  }

  #tick(): void {
    for (const end of this.#busy) {
      end.tick()
      if (end.isQuiet) this.#busy.delete(end)
    }
    this.#cancel = this.#busy.size === 0 ? undefined : this.#timer(TICK_MS, () => this.#tick())
  }
}

/** One end of a circuit: written bytes come out at the other end, whole and in order, in both directions. */
export class CircuitEnd {
  readonly #end: XgressEnd
  readonly #now: () => number
  readonly #active: () => void
  #isAcknowledging = false

  constructor({ circuitId, side }: EndFacts, now: () => number, listener: EndListener, active: () => void) {
    this.#now = now
    this.#active = active
    this.#end = new XgressEnd(
      { circuitId, side, now: now() },
      {
        payload: (payload) => listener.send(writePayload(payload)),
        acknowledgement: (acknowledgement) => listener.send(writeAcknowledgement(acknowledgement)),
        readable: () => listener.readable(),
        writable: () => listener.writable(),
        over: (reason) => listener.over(reason),
      },
    )
  }

  get isOver(): boolean {
    return this.#end.isOver
  }

  /** Whether time changes nothing until something is written or arrives. */
  get isQuiet(): boolean {
    return this.#end.isQuiet
  }

  /** Written bytes that wait for room: the writer pauses while there are many. */
  get waitingBytes(): number {
    return this.#end.waitingBytes
  }

  start(): void {
    this.#end.start(this.#now())
    this.#active()
  }

  /** Answers whether nothing waits; otherwise `writable` is called later. */
  write(chunk: Chunk): boolean {
    const isFree = this.#end.write(chunk, this.#now())
    this.#active()
    return isFree
  }

  /** Nothing more is written; the other direction may go on. */
  finish(): void {
    this.#end.finish(this.#now())
    this.#active()
  }

  /** Ends both directions; written bytes still go out. */
  close(): void {
    this.#end.close(this.#now())
    this.#active()
  }

  /** Ends at once: the circuit is gone. */
  abort(): void {
    this.#end.abort()
  }

  read(): Reading | undefined {
    return this.#end.read(this.#now())
  }

  tick(): void {
    this.#end.tick(this.#now())
  }

  /** Takes a payload or an acknowledgement of the other end. */
  take(frame: Frame): void {
    if (frame.contentType === EDGE_TYPE.payload) {
      const payload = readPayload(frame)
      if (payload === undefined) return
      this.#end.takePayload(payload, this.#now())
      this.#acknowledgeSoon()
    } else if (frame.contentType === EDGE_TYPE.acknowledgement) {
      const acknowledgement = readAcknowledgement(frame)
      if (acknowledgement !== undefined) this.#end.takeAcknowledgement(acknowledgement, this.#now())
    }
    this.#active()
  }

  /** Frames that came together are acknowledged together. */
  #acknowledgeSoon(): void {
    if (this.#isAcknowledging) return
    this.#isAcknowledging = true
    queueMicrotask(() => {
      this.#isAcknowledging = false
      this.#end.acknowledge()
    })
  }
}

/** A data message of an endpoint, as it arrives at the other end: messages are neither split nor joined. */
export interface EdgeData {
  readonly body: readonly Uint8Array[]
  readonly flags: Uint8Array | undefined
  readonly trace: Uint8Array | undefined
}

/** The end of a direction: the other end sends nothing more. */
const END: EdgeData = { body: [], flags: uint32Header(DATA_FLAG.end), trace: undefined }

/** The data of a message of an endpoint. */
export function dataIn({ headers, body }: Frame): EdgeData {
  return { body, flags: headers.get(EDGE_HEADER.flags), trace: headers.get(EDGE_HEADER.probe) }
}

/** The message of data for an endpoint; `idBytes` is the id of its connection. */
export function dataMessage(idBytes: Uint8Array, { body, flags, trace }: EdgeData): Message {
  const headers = new Map<number, Uint8Array>([[EDGE_HEADER.connection, idBytes]])
  if (flags !== undefined) headers.set(EDGE_HEADER.flags, flags)
  if (trace !== undefined) headers.set(EDGE_HEADER.probe, trace)
  return { contentType: EDGE_TYPE.data, headers, body }
}

/** The bytes of data. */
export function bytesOf({ body }: EdgeData): number {
  return body.reduce((sum, { length }) => sum + length, 0)
}

/** Writes data to an end that the router keeps. A message becomes a payload of its own; the end of a direction has no payload. */
export function writeData(end: CircuitEnd, { body, flags, trace }: EdgeData): void {
  const isEnd = ((flags?.[0] ?? 0) & DATA_FLAG.end) !== 0
  const items = new Map<number, Uint8Array>()
  if (trace !== undefined) items.set(PAYLOAD_ITEM.trace, trace)
  if (flags !== undefined && !isEnd) items.set(PAYLOAD_ITEM.edgeFlags, flags)
  const bytes = bodyOf({ body })
  if (bytes.length > 0 || (items.size > 0 && !isEnd)) end.write({ items, body: bytes })
  if (isEnd) end.finish()
}

/** The data that was read from an end that the router keeps. */
export function dataOf(reading: Exclude<Reading, { readonly type: 'closed' }>): EdgeData {
  if (reading.type === 'end') return END
  const { items, body } = reading.chunk
  const [flags, trace] = [items.get(PAYLOAD_ITEM.edgeFlags), items.get(PAYLOAD_ITEM.trace)]
  return { body: body.length === 0 ? [] : [body], flags, trace }
}
