import {
  type Acknowledgement,
  type Chunk,
  type CircuitSide,
  EDGE_FIN,
  isFrom,
  PAYLOAD_FLAG,
  PAYLOAD_ITEM,
  type Payload,
} from './payload.ts'
import { RECEIVER_LIMITS, Receiver, type ReceiverLimits } from './receiver.ts'
import { SENDER_LIMITS, type SenderLimits } from './sender.ts'
import { XgressOutput } from './xgress-output.ts'

/** The reason why an end is over: `closed` by agreement of both sides, or a failure. */
export type EndReason = 'closed' | 'aborted' | 'never-started' | 'peer-silent' | 'numbers-used-up' | 'not-understood'

/** The surroundings of an end: the way to the other end, and the reader and writer. */
export interface XgressOwner {
  payload(payload: Payload): void
  acknowledgement(acknowledgement: Acknowledgement): void
  /** {@link XgressEnd.read} has bytes to hand over. */
  readable(): void
  /** Called when all written chunks have been sent, or are dropped because the peer takes nothing more. */
  writable(): void
  /** Called when the end neither sends nor accepts anything any more. */
  over(reason: EndReason): void
}

/** A reading of an end: bytes, the end of the peer's direction, or the end of the whole circuit. */
export type Reading =
  | { readonly type: 'data'; readonly chunk: Chunk }
  | { readonly type: 'end' }
  | { readonly type: 'closed' }

/** The start of an end. */
export interface XgressStart {
  readonly circuitId: string
  readonly side: CircuitSide
  /** Epoch ms. */
  readonly now: number
  readonly receiver?: ReceiverLimits
  readonly sender?: SenderLimits
}

/** Milliseconds for which the hosting side waits for the first payload, so that a silent client holds no resources for longer. */
const START_WAIT_MS = 180_000
/** Milliseconds for which a closed end tries to deliver written chunks. */
const CLOSE_WAIT_MS = 30_000
/** Milliseconds for which a finished end acknowledges retransmissions: otherwise the peer would wait for them. */
const LINGER_MS = 5000

/**
 * One end of a circuit: a reliable stream of chunks in both directions over a path that loses, delays, repeats and reorders. It reads no
 * clock: its owner passes the time (epoch ms) with every call, calls {@link tick} about every 100 ms and {@link acknowledge} after each run
 * of payloads.
 */
export class XgressEnd {
  readonly #circuitId: string
  readonly #side: CircuitSide
  readonly #owner: XgressOwner
  readonly #receiver: Receiver
  readonly #output: XgressOutput
  #owed: number[] = []
  #owedClock: number | undefined
  /** True when a payload found no room: its sender must at least learn that this end is alive. */
  #owesNews = false
  /** A payload whose bytes have been read, but not its end. */
  #unread: Payload | undefined
  readonly #begunAt: number
  #input: 'open' | 'ended' | 'closed' = 'open'
  /** Epoch ms until which a closed end tries to deliver written chunks. */
  #closingUntil: number | undefined
  #done: { readonly at: number; lingersFrom: number } | undefined
  #isOver = false

  constructor(
    { circuitId, side, now, receiver = RECEIVER_LIMITS, sender = SENDER_LIMITS }: XgressStart,
    owner: XgressOwner,
  ) {
    this.#circuitId = circuitId
    this.#side = side
    this.#owner = owner
    this.#begunAt = now
    this.#receiver = new Receiver(receiver)
    this.#output = new XgressOutput(circuitId, side, sender, {
      payload: (payload) => owner.payload(payload),
      writable: () => owner.writable(),
      exhausted: () => this.abort('numbers-used-up'),
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Reports whether the end is idle: {@link tick} need not be called until a write or an arrival. */
  get isQuiet(): boolean {
    const isEnding = this.#closingUntil !== undefined || this.#done !== undefined
    const isOwing = this.#owed.length > 0 || this.#owesNews
    return this.#isOver || (this.#output.isStarted && !isEnding && !isOwing && this.#output.isIdle)
  }

  /** Written bytes that wait for room, with the cost of keeping each chunk: a writer must pause while there are many. */
  get waitingBytes(): number {
    return this.#output.waitingBytes
  }

  /** All bytes that the end holds: waiting, under way and unread. */
  get heldBytes(): number {
    return this.#output.heldBytes + this.#receiver.bufferedBytes
  }

  /** Starts the dialing side. The hosting side holds everything back until the first payload arrives. */
  start(now: number): void {
    if (!this.#output.isStarted && this.#side === 'initiator') this.#output.begin(now, true, true)
  }

  /** Sends a chunk after all earlier chunks; true when nothing waits. After the end of the output the chunk is lost. */
  write(chunk: Chunk, now: number): boolean {
    return this.#isOver || this.#output.write(chunk, now)
  }

  /** Ends the output; the other direction may go on. */
  finish(now: number): void {
    if (!this.#isOver) this.#output.finish(now)
  }

  /** Ends both directions. Written chunks are still sent, for 30 s at most; unread payloads are lost. */
  close(now: number): void {
    if (this.#isOver || this.#closingUntil !== undefined) return
    this.#closingUntil = now + CLOSE_WAIT_MS
    this.#receiver.discard()
    this.#output.end(now, this.#done !== undefined)
    this.#settle(now)
  }

  /** Ends at once, without a message to the peer. */
  abort(reason: EndReason = 'aborted'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#output.abandon()
    this.#receiver.discard()
    this.#owner.over(reason)
  }

  takePayload(payload: Payload, now: number): void {
    // An own payload that comes back means a forwarding loop.
    if (this.#isOver || isFrom(this.#side, payload) || payload.circuitId !== this.#circuitId) return
    if ((payload.flags & PAYLOAD_FLAG.chunk) !== 0) {
      this.abort('not-understood')
      return
    }
    const reception = this.#receiver.take(payload)
    if (reception === 'dropped') {
      this.#owesNews = true
      return
    }
    this.#owed.push(payload.sequence)
    this.#owedClock = payload.sentAt
    if (reception === 'known') {
      // The payload comes again because its acknowledgement was lost; the next acknowledgement may be lost too.
      if (this.#done !== undefined) this.#done.lingersFrom = now
      return
    }
    if (this.#closingUntil !== undefined || this.#input === 'closed') this.#readInVain(now)
    else this.#owner.readable()
  }

  takeAcknowledgement(acknowledgement: Acknowledgement, now: number): void {
    if (this.#isOver || acknowledgement.circuitId !== this.#circuitId) return
    if (acknowledgement.fromOriginator === (this.#side === 'terminator')) return
    this.#output.acknowledge(acknowledgement, now)
    this.#settle(now)
  }

  /** The peer's next reading, in order and without duplicates; undefined until it arrives. */
  read(now: number): Reading | undefined {
    while (!this.#isOver && this.#input !== 'closed') {
      const payload = this.#unread ?? this.#receiver.read()
      if (payload === undefined) return undefined
      const reading = this.#meaning(payload, now)
      if (this.#receiver.hasNews) this.#acknowledge([], undefined)
      if (reading !== undefined) return reading
    }
    return undefined
  }

  /** Acknowledges the payloads that arrived since the last call. */
  acknowledge(): void {
    if (this.#isOver || (this.#owed.length === 0 && !this.#owesNews)) return
    const owed = this.#owed
    this.#owed = []
    this.#owesNews = false
    this.#acknowledge(owed, this.#owedClock)
  }

  /** Retransmits unacknowledged payloads, and ends the circuit after too long a wait. */
  tick(now: number): void {
    if (this.#isOver) return
    this.acknowledge()
    const isLate = this.#side === 'terminator' && !this.#output.isStarted && now - this.#begunAt > START_WAIT_MS
    if (isLate) this.abort('never-started')
    if (this.#output.isGivenUp(now)) this.abort('peer-silent')
    this.#output.sendAgain(now)
    this.#settle(now)
  }

  /** The next reading of a payload; a payload with bytes and an end gives two readings. */
  #meaning(payload: Payload, now: number): Reading | undefined {
    const { flags, items, body } = payload
    if (this.#unread === undefined) {
      this.#unread = payload
      if (items.has(PAYLOAD_ITEM.capabilities)) this.#output.learnEnds()
      if ((flags & PAYLOAD_FLAG.circuitStart) !== 0) this.#begin(items, now)
      if ((flags & PAYLOAD_FLAG.writeFailed) !== 0) this.#output.drop()
      // Payloads after the end of a direction do not belong to it.
      if (this.#input === 'open' && hasContent(payload)) return { type: 'data', chunk: { items, body } }
    }
    this.#unread = undefined
    if ((flags & PAYLOAD_FLAG.circuitEnd) !== 0) {
      this.#input = 'closed'
      this.#output.drop()
      this.#settle(now)
      return { type: 'closed' }
    }
    if (this.#input !== 'open' || !endsDirection(payload)) return undefined
    this.#input = 'ended'
    this.#settle(now)
    return { type: 'end' }
  }

  /** Discards further input of a closed reader, because the peer may still end the circuit. */
  #readInVain(now: number): void {
    while (this.read(now) !== undefined);
  }

  #begin(items: Chunk['items'], now: number): void {
    if (this.#output.isStarted || this.#side !== 'terminator') return
    this.#output.begin(now, false, items.has(PAYLOAD_ITEM.capabilities))
  }

  #acknowledge(sequences: readonly number[], sentAt: number | undefined): void {
    this.#owner.acknowledgement({
      circuitId: this.#circuitId,
      sequences,
      fromOriginator: this.#side === 'terminator',
      bufferedBytes: this.#receiver.report(),
      sentAt,
    })
  }

  /** Ends when both directions have ended and nothing is under way. */
  #settle(now: number): void {
    if (this.#isOver) return
    if (this.#output.isSent && this.#input !== 'open' && this.#done === undefined) {
      this.#done = { at: now, lingersFrom: now }
      this.#output.withdrawEnd()
    }
    const isLate = this.#closingUntil !== undefined && now >= this.#closingUntil
    // A peer that acknowledged the end of the circuit waits for nothing more.
    const { isAgreed } = this.#output
    const isDone = this.#done !== undefined && hasLingered(this.#done, now)
    if (!isLate && !isAgreed && !isDone) return
    this.acknowledge()
    if (!isAgreed) this.#output.sayEndOnce(now)
    this.abort('closed')
  }
}

/** Reports whether a payload carries content for the reader, not only items between the ends. */
function hasContent({ items, body }: Payload): boolean {
  if (body.length > 0) return true
  const edgeFlags = items.get(PAYLOAD_ITEM.edgeFlags)
  return edgeFlags !== undefined && ((edgeFlags[0] ?? 0) & EDGE_FIN) === 0
}

function endsDirection({ flags, items }: Payload): boolean {
  if ((flags & PAYLOAD_FLAG.endOfInput) !== 0) return true
  return ((items.get(PAYLOAD_ITEM.edgeFlags)?.[0] ?? 0) & EDGE_FIN) !== 0
}

function hasLingered({ at, lingersFrom }: { readonly at: number; readonly lingersFrom: number }, now: number): boolean {
  return now - lingersFrom >= LINGER_MS || now - at >= CLOSE_WAIT_MS
}
