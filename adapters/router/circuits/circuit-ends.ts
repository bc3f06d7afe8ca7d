import { type CircuitSide, type EndReason, type Reading, XgressEnd } from '../../../src/data-plane/xgress/index.ts'
import type { Chunk } from '../../../src/data-plane/xgress/payload.ts'
import { processTimer, type Timer } from '../../channel/conversation.ts'
import { EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readAcknowledgement, readPayload, writeAcknowledgement, writePayload } from './circuit-frames.ts'
import type { Destination, Forwarder } from './forwarder.ts'

/** An end of a circuit that is to be opened at this router. */
export interface EndFacts {
  readonly circuitId: string
  /** The address that the controller gave to the end. */
  readonly address: string
  readonly side: CircuitSide
}

/** Who reads and writes at an end. */
export interface EndListener {
  /** {@link CircuitEnd.read} has something. */
  readable(): void
  /** Everything that was written has gone out. */
  writable(): void
  /** The end is over: its controller has to hear of that, unless it ended the circuit itself. */
  over(reason: EndReason): void
}

/** Milliseconds between two looks at what has to be sent again. */
const TICK_MS = 100

/** The ends of circuits at this router that are no business of anybody else: endpoints that leave windows and order to it. */
export class CircuitEnds {
  readonly #forwarder: Forwarder
  readonly #now: () => number
  readonly #timer: Timer
  readonly #ends = new Set<CircuitEnd>()
  #cancel: (() => void) | undefined

  /** `now` is ms of a clock that only goes forward. */
  constructor(forwarder: Forwarder, now: () => number, timer: Timer = processTimer) {
    this.#forwarder = forwarder
    this.#now = now
    this.#timer = timer
  }

  get size(): number {
    return this.#ends.size
  }

  /** Opens an end and attaches it to its address; the one that dialed begins by {@link CircuitEnd.start}. */
  open(facts: EndFacts, listener: EndListener): CircuitEnd {
    const end: CircuitEnd = new CircuitEnd(facts, this.#forwarder, this.#now, {
      ...listener,
      readable: () => listener.readable(),
      writable: () => listener.writable(),
      over: (reason) => {
        detach()
        this.#ends.delete(end)
        listener.over(reason)
      },
    })
    const detach = this.#forwarder.attach(facts.address, end)
    this.#ends.add(end)
    this.#cancel ??= this.#timer(TICK_MS, () => this.#tick())
    return end
  }

  /** Ends all of them without a word. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const end of this.#ends) end.abort()
  }

  #tick(): void {
    for (const end of this.#ends) end.tick()
    this.#cancel = this.#ends.size === 0 ? undefined : this.#timer(TICK_MS, () => this.#tick())
  }
}

/** One end of a circuit: what is written comes out at the other one, whole and in order, and the other way round. */
export class CircuitEnd implements Destination {
  /** Bytes that are unread are bounded by the window that their sender is told. */
  readonly isFull = false
  readonly #end: XgressEnd
  readonly #now: () => number
  #isAcknowledging = false

  constructor({ circuitId, address, side }: EndFacts, forwarder: Forwarder, now: () => number, listener: EndListener) {
    this.#now = now
    const send = (message: ReturnType<typeof writePayload>) => forwarder.forward(address, { ...message, sequence: 0 })
    this.#end = new XgressEnd(
      { circuitId, side, now: now() },
      {
        payload: (payload) => send(writePayload(payload)),
        acknowledgement: (acknowledgement) => send(writeAcknowledgement(acknowledgement)),
        readable: () => listener.readable(),
        writable: () => listener.writable(),
        over: (reason) => listener.over(reason),
      },
    )
  }

  get isOver(): boolean {
    return this.#end.isOver
  }

  /** Bytes that were written and wait for room: who writes stops while there are many. */
  get waitingBytes(): number {
    return this.#end.waitingBytes
  }

  start(): void {
    this.#end.start(this.#now())
  }

  /** Answers whether nothing waits: `writable` is called later otherwise. */
  write(chunk: Chunk): boolean {
    return this.#end.write(chunk, this.#now())
  }

  /** Nothing more is written; the other direction may go on. */
  finish(): void {
    this.#end.finish(this.#now())
  }

  /** Ends both directions; what was written still goes out. */
  close(): void {
    this.#end.close(this.#now())
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

  take(_circuitId: string, frame: Frame): void {
    if (frame.contentType === EDGE_TYPE.payload) {
      const payload = readPayload(frame)
      if (payload === undefined) return
      this.#end.takePayload(payload, this.#now())
      this.#acknowledgeSoon()
    } else if (frame.contentType === EDGE_TYPE.acknowledgement) {
      const acknowledgement = readAcknowledgement(frame)
      if (acknowledgement !== undefined) this.#end.takeAcknowledgement(acknowledgement, this.#now())
    }
  }

  dropped(): void {
    this.#end.abort()
  }

  whenRoom(work: () => void): void {
    work()
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
