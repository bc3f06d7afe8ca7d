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

/** Why an end is over: as agreed by both sides, or not. */
export type EndReason = 'closed' | 'aborted' | 'never-started' | 'peer-silent' | 'numbers-used-up' | 'not-understood'

/** The surroundings of an end: the way to the other end, and the reader and writer. */
export interface XgressOwner {
  payload(payload: Payload): void
  acknowledgement(acknowledgement: Acknowledgement): void
  /** {@link XgressEnd.read} has something. */
  readable(): void
  /** Everything that was written has gone out. */
  writable(): void
  /** Nothing will be sent or taken any more. */
  over(reason: EndReason): void
}

/** A reading of an end: bytes, that the peer sends no more, or that the whole circuit is over. */
export type Reading =
  | { readonly type: 'data'; readonly chunk: Chunk }
  | { readonly type: 'end' }
  | { readonly type: 'closed' }

/** How an end begins. */
export interface XgressStart {
  readonly circuitId: string
  readonly side: CircuitSide
  /** Epoch ms. */
  readonly now: number
  readonly receiver?: ReceiverLimits
  readonly sender?: SenderLimits
}

/** Milliseconds for which the hosting side waits for the first payload: a client that never sends it holds nothing longer. */
const START_WAIT_MS = 180_000
/** Milliseconds for which an end that is closed tries to hand over what was written. */
export const CLOSE_WAIT_MS = 30_000
/** Milliseconds for which an end that is done acknowledges what comes again: the peer would wait for it otherwise. */
export const LINGER_MS = 5000

/**
 * One end of a circuit: a reliable stream of chunks in both directions over a way that loses, delays, repeats and reorders.
 * It reads no clock: its owner tells the time (epoch ms) with every call, calls {@link tick} about every 100 ms
 * and {@link acknowledge} after each run of payloads.
 */
export class XgressEnd {
  readonly #circuitId: string
  readonly #side: CircuitSide
  readonly #owner: XgressOwner
  readonly #receiver: Receiver
  readonly #output: XgressOutput
  #owed: number[] = []
  #owedClock: number | undefined
  /** A payload found no room: its sender hears at least that somebody is there. */
  #owesNews = false
  /** A payload whose bytes were read and whose end was not. */
  #unread: Payload | undefined
  readonly #begunAt: number
  #input: 'open' | 'ended' | 'closed' = 'open'
  /** Epoch ms until which an end that is closed tries to hand over what was written. */
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

  /** Whether time changes nothing until something is written or arrives: {@link tick} need not be called before. */
  get isQuiet(): boolean {
    const isEnding = this.#closingUntil !== undefined || this.#done !== undefined
    const isOwing = this.#owed.length > 0 || this.#owesNews
    return this.#isOver || (this.#output.isStarted && !isEnding && !isOwing && this.#output.isDrained)
  }

  /** Bytes that were written and wait for room: who writes stops while there are many. */
  get waitingBytes(): number {
    return this.#output.waitingBytes
  }

  /** Bytes that the end holds altogether: waiting, under way and unread. */
  get heldBytes(): number {
    return this.#output.heldBytes + this.#receiver.bufferedBytes
  }

  /** The side that dialed begins; the other one holds everything back until it hears of that. */
  start(now: number): void {
    if (!this.#output.isStarted && this.#side === 'initiator') this.#output.begin(now, true, true)
  }

  /** Sends a chunk after all earlier ones; answers whether nothing waits. After the end of the output it is lost. */
  write(chunk: Chunk, now: number): boolean {
    return this.#isOver || this.#output.write(chunk, now)
  }

  /** Nothing more is written; the other direction may go on. */
  finish(now: number): void {
    if (!this.#isOver) this.#output.finish(now)
  }

  /** Both directions end: what was written still goes out, for 30 s at the most, what is unread is lost. */
  close(now: number): void {
    if (this.#isOver || this.#closingUntil !== undefined) return
    this.#closingUntil = now + CLOSE_WAIT_MS
    this.#receiver.discard()
    this.#output.end(now, this.#done !== undefined)
    this.#settle(now)
  }

  /** Ends at once, without a word to the peer. */
  abort(reason: EndReason = 'aborted'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#output.abandon()
    this.#receiver.discard()
    this.#owner.over(reason)
  }

  takePayload(payload: Payload, now: number): void {
    // Its own payload that comes back means that somebody forwards in a circle.
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
      // It comes again because its acknowledgement was lost: the next one may be lost too.
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

  /** The next that the peer sent, in order and once; undefined while nothing is there. */
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

  /** Tells the peer what came since the last time. */
  acknowledge(): void {
    if (this.#isOver || (this.#owed.length === 0 && !this.#owesNews)) return
    const owed = this.#owed
    this.#owed = []
    this.#owesNews = false
    this.#acknowledge(owed, this.#owedClock)
  }

  /** Sends again what nobody acknowledged, and ends what waited too long. */
  tick(now: number): void {
    if (this.#isOver) return
    this.acknowledge()
    const isLate = this.#side === 'terminator' && !this.#output.isStarted && now - this.#begunAt > START_WAIT_MS
    if (isLate) this.abort('never-started')
    if (this.#output.isGivenUp(now)) this.abort('peer-silent')
    this.#output.sendAgain(now)
    this.#settle(now)
  }

  /** The next reading of a payload; one with bytes and an end is read twice. */
  #meaning(payload: Payload, now: number): Reading | undefined {
    const { flags, items, body } = payload
    if (this.#unread === undefined) {
      this.#unread = payload
      if (items.has(PAYLOAD_ITEM.capabilities)) this.#output.learnEnds()
      if ((flags & PAYLOAD_FLAG.circuitStart) !== 0) this.#begin(items, now)
      if ((flags & PAYLOAD_FLAG.writeFailed) !== 0) this.#output.drop()
      // Payloads behind the end of a direction are no part of it.
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

  /** Nobody reads here any more, but the peer is still heard out: it may end the circuit. */
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

  /** Ends when both directions have, and nothing is under way. */
  #settle(now: number): void {
    if (this.#isOver) return
    if (this.#output.isSent && this.#input !== 'open' && this.#done === undefined) {
      this.#done = { at: now, lingersFrom: now }
      this.#output.withdrawEnd()
    }
    const isLate = this.#closingUntil !== undefined && now >= this.#closingUntil
    // A peer that acknowledged the end of the circuit waits for nothing.
    const { isAgreed } = this.#output
    const isDone = this.#done !== undefined && hasLingered(this.#done, now)
    if (!isLate && !isAgreed && !isDone) return
    this.acknowledge()
    if (!isAgreed) this.#output.sayEndOnce(now)
    this.abort('closed')
  }
}

/** Whether a payload carries more than notes between ends. */
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
