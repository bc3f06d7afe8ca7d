import {
  type Acknowledgement,
  type Chunk,
  type CircuitSide,
  EDGE_FIN,
  isFrom,
  PAYLOAD_FLAG,
  PAYLOAD_ITEM,
  type Payload,
  sideFlag,
} from './payload.ts'
import { RECEIVER_LIMITS, Receiver, type ReceiverLimits } from './receiver.ts'
import { SENDER_LIMITS, Sender, type SenderLimits } from './sender.ts'

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

/** The capabilities that are told at the start: that the end of one direction is understood. */
const CAPABILITIES = Uint8Array.of(0, 0, 1, 0)
const NOTHING: Chunk = { items: new Map(), body: new Uint8Array(0) }
const ANNOUNCEMENT: Chunk = { items: new Map([[PAYLOAD_ITEM.capabilities, CAPABILITIES]]), body: NOTHING.body }
const EDGE_END: Chunk = {
  items: new Map([[PAYLOAD_ITEM.edgeFlags, Uint8Array.of(EDGE_FIN, 0, 0, 0)]]),
  body: NOTHING.body,
}

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
  readonly #sender: Sender
  #waiting: Chunk[] = []
  #nextWaiting = 0
  #waitingBytes = 0
  #owed: number[] = []
  #owedClock: number | undefined
  /** A payload found no room: its sender hears at least that somebody is there. */
  #owesNews = false
  /** A payload whose bytes were read and whose end was not. */
  #unread: Payload | undefined
  readonly #begunAt: number
  #isStarted = false
  #knowsEnds = false
  #input: 'open' | 'ended' | 'closed' = 'open'
  /** `finishing` while what was written before the end still waits. */
  #output: 'open' | 'finishing' | 'finished' = 'open'
  #closing: { readonly deadline: number; isSaid: boolean } | undefined
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
    this.#sender = new Sender(circuitId, sideFlag(side), sender)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether time changes nothing until something is written or arrives: {@link tick} need not be called before. */
  get isQuiet(): boolean {
    const isEnding = this.#closing !== undefined || this.#done !== undefined
    const isOwing = this.#owed.length > 0 || this.#owesNews
    return this.#isOver || (this.#isStarted && !isEnding && !isOwing && this.#sender.isDrained)
  }

  /** Bytes that were written and wait for room: who writes stops while there are many. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Bytes that the end holds altogether: waiting, under way and unread. */
  get heldBytes(): number {
    return this.#waitingBytes + this.#sender.bytes + this.#receiver.bufferedBytes
  }

  /** The side that dialed begins; the other one holds everything back until it hears of that. */
  start(now: number): void {
    if (this.#isStarted || this.#side !== 'initiator') return
    this.#isStarted = true
    this.#transmit(ANNOUNCEMENT, PAYLOAD_FLAG.circuitStart, now)
    this.#pump(now)
  }

  /** Sends a chunk after all that were written before; answers whether nothing waits. After the end of the output it is lost. */
  write(chunk: Chunk, now: number): boolean {
    if (this.#isOver || this.#output !== 'open') return true
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.body.length
    this.#pump(now)
    return this.#waiting.length === 0
  }

  /** Nothing more is written; the other direction may go on. */
  finish(now: number): void {
    if (this.#isOver || this.#output !== 'open') return
    this.#output = 'finishing'
    this.#pump(now)
  }

  /** Both directions end: what was written still goes out, for 30 s at the most, what is unread is lost. */
  close(now: number): void {
    if (this.#isOver || this.#closing !== undefined) return
    this.#closing = { deadline: now + CLOSE_WAIT_MS, isSaid: false }
    if (this.#output === 'open') this.#output = 'finishing'
    this.#receiver.discard()
    this.#pump(now)
    this.#settle(now)
  }

  /** Ends at once, without a word to the peer. */
  abort(reason: EndReason = 'aborted'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#forgetWaiting()
    this.#sender.discard()
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
    if (this.#closing !== undefined || this.#input === 'closed') this.#readInVain(now)
    else this.#owner.readable()
  }

  takeAcknowledgement(acknowledgement: Acknowledgement, now: number): void {
    if (this.#isOver || acknowledgement.circuitId !== this.#circuitId) return
    if (acknowledgement.fromOriginator === (this.#side === 'terminator')) return
    this.#sender.acknowledge(acknowledgement, now)
    this.#pump(now)
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
    const isLate = this.#side === 'terminator' && !this.#isStarted && now - this.#begunAt > START_WAIT_MS
    if (isLate) this.abort('never-started')
    if (this.#sender.isGivenUp(now)) this.abort('peer-silent')
    for (const payload of this.#sender.due(now)) this.#owner.payload(payload)
    this.#settle(now)
  }

  /** The next reading of a payload; one with bytes and an end is read twice. */
  #meaning(payload: Payload, now: number): Reading | undefined {
    const { flags, items, body } = payload
    if (this.#unread === undefined) {
      this.#unread = payload
      if (items.has(PAYLOAD_ITEM.capabilities)) this.#knowsEnds = true
      if ((flags & PAYLOAD_FLAG.circuitStart) !== 0) this.#begin(items, now)
      if ((flags & PAYLOAD_FLAG.writeFailed) !== 0) this.#dropOutput()
      // Payloads behind the end of a direction are no part of it.
      if (this.#input === 'open' && hasContent(payload)) return { type: 'data', chunk: { items, body } }
    }
    this.#unread = undefined
    if ((flags & PAYLOAD_FLAG.circuitEnd) !== 0) {
      this.#input = 'closed'
      this.#dropOutput()
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
    if (this.#isStarted || this.#side !== 'terminator') return
    this.#isStarted = true
    if (items.has(PAYLOAD_ITEM.capabilities)) this.#transmit(ANNOUNCEMENT, 0, now)
    this.#pump(now)
  }

  /** The peer takes nothing any more. */
  #dropOutput(): void {
    this.#forgetWaiting()
    this.#output = 'finished'
    this.#sender.discard()
  }

  /** Sends what waits as far as the window goes. An owner may call back while a payload is handed to it. */
  #pump(now: number): void {
    if (!this.#isStarted) return
    const hadWaiting = this.#waiting.length > 0
    for (let chunk = this.#takeWaiting(); chunk !== undefined; chunk = this.#takeWaiting())
      this.#transmit(chunk, 0, now)
    if (this.#sender.isExhausted) this.abort('numbers-used-up')
    if (this.#waiting.length > 0 || this.#isOver) return
    this.#sendEnd(now)
    if (hadWaiting && this.#output === 'open') this.#owner.writable()
  }

  #takeWaiting(): Chunk | undefined {
    const chunk = this.#waiting[this.#nextWaiting]
    if (chunk === undefined || !this.#sender.maySend) return undefined
    this.#nextWaiting += 1
    this.#waitingBytes -= chunk.body.length
    if (this.#nextWaiting === this.#waiting.length || this.#nextWaiting > 1024) {
      this.#waiting = this.#waiting.slice(this.#nextWaiting)
      this.#nextWaiting = 0
    }
    return chunk
  }

  #forgetWaiting(): void {
    this.#waiting = []
    this.#nextWaiting = 0
    this.#waitingBytes = 0
  }

  #sendEnd(now: number): void {
    if (this.#closing !== undefined && !this.#closing.isSaid && this.#done === undefined) {
      this.#closing.isSaid = true
      this.#output = 'finished'
      this.#transmit(NOTHING, PAYLOAD_FLAG.circuitEnd, now)
    } else if (this.#output === 'finishing') {
      this.#output = 'finished'
      if (this.#knowsEnds) this.#transmit(NOTHING, PAYLOAD_FLAG.endOfInput, now)
      else this.#transmit(EDGE_END, 0, now)
    }
  }

  #transmit(chunk: Chunk, flags: number, now: number): void {
    this.#owner.payload(this.#sender.send(chunk, flags, now))
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
    const isSent = this.#output === 'finished' && this.#waiting.length === 0 && this.#sender.isDrained
    if (isSent && this.#input !== 'open') this.#done ??= { at: now, lingersFrom: now }
    const isLate = this.#closing !== undefined && now >= this.#closing.deadline
    // A peer that acknowledged the end of the circuit waits for nothing.
    const isAgreed = this.#closing?.isSaid === true && isSent
    const isDone = this.#done !== undefined && hasLingered(this.#done, now)
    if (!isLate && !isAgreed && !isDone) return
    this.acknowledge()
    if (!isAgreed && this.#isStarted) this.#owner.payload(this.#sender.sendOnce(NOTHING, PAYLOAD_FLAG.circuitEnd, now))
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
