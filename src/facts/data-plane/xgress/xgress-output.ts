import {
  type Acknowledgement,
  type Chunk,
  type CircuitSide,
  costOf,
  EDGE_FIN,
  PAYLOAD_FLAG,
  PAYLOAD_ITEM,
  type Payload,
  sideFlag,
} from './payload.ts'
import { Sender, type SenderLimits } from './sender.ts'

/** The owner of an output. */
interface OutputOwner {
  payload(payload: Payload): void
  /** Called when all written chunks have been sent, or are dropped. */
  writable(): void
  /** Called when no sequence number is left for a further payload. */
  exhausted(): void
}

/** The capabilities that are announced at the start: this end understands the end of a single direction. */
const CAPABILITIES = Uint8Array.of(0, 0, 1, 0)
const NOTHING: Chunk = { items: new Map(), body: new Uint8Array(0) }
const ANNOUNCEMENT: Chunk = { items: new Map([[PAYLOAD_ITEM.capabilities, CAPABILITIES]]), body: NOTHING.body }
const EDGE_END: Chunk = {
  items: new Map([[PAYLOAD_ITEM.edgeFlags, Uint8Array.of(EDGE_FIN, 0, 0, 0)]]),
  body: NOTHING.body,
}

/**
 * The direction that an end of a circuit writes: chunks wait here until the circuit begins and its window has room, and are sent in order.
 * After the last chunk, the end of the direction or of the whole circuit is sent.
 */
export class XgressOutput {
  readonly #owner: OutputOwner
  readonly #sender: Sender
  #waiting: Chunk[] = []
  #nextWaiting = 0
  #waitingBytes = 0
  #isStarted = false
  #isOver = false
  #knowsEnds = false
  /** `finishing` while chunks from before the end still wait. */
  #state: 'open' | 'finishing' | 'finished' = 'open'
  /** The state of the message that the whole circuit ends, which follows all written chunks. */
  #farewell: 'none' | 'wanted' | 'said' = 'none'

  constructor(circuitId: string, side: CircuitSide, limits: SenderLimits, owner: OutputOwner) {
    this.#owner = owner
    this.#sender = new Sender(circuitId, sideFlag(side), limits)
  }

  get isStarted(): boolean {
    return this.#isStarted
  }

  /** Written bytes that wait for room, as {@link costOf} counts them: a flood of small chunks costs memory too. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Bytes that wait or are under way. */
  get heldBytes(): number {
    return this.#waitingBytes + this.#sender.bytes
  }

  /** Reports whether nothing waits or is under way. */
  get isIdle(): boolean {
    const owesEnd = this.#state === 'finishing' || this.#farewell === 'wanted'
    return this.#waiting.length === 0 && this.#sender.isDrained && !owesEnd
  }

  /** Reports whether the direction has ended and the peer has received all of it. */
  get isSent(): boolean {
    return this.#state === 'finished' && this.#waiting.length === 0 && this.#sender.isDrained
  }

  /** Reports whether the peer has received all of it and knows that the circuit ends. */
  get isAgreed(): boolean {
    return this.#farewell === 'said' && this.isSent
  }

  /** Begins the circuit; `isFirst` is true when the peer learns of it by this. */
  begin(now: number, isFirst: boolean, announces: boolean): void {
    this.#isStarted = true
    if (announces) this.#transmit(ANNOUNCEMENT, isFirst ? PAYLOAD_FLAG.circuitStart : 0, now)
    this.pump(now)
  }

  /** Notes that the peer understands the end of a single direction. */
  learnEnds(): void {
    this.#knowsEnds = true
  }

  /** Appends a chunk; true when nothing waits. After the end of the direction the chunk is lost. */
  write(chunk: Chunk, now: number): boolean {
    if (this.#state !== 'open') return true
    this.#waiting.push(chunk)
    this.#waitingBytes += costOf(chunk)
    this.pump(now)
    return this.#waiting.length === 0
  }

  /** Nothing more is written. */
  finish(now: number): void {
    if (this.#state !== 'open') return
    this.#state = 'finishing'
    this.pump(now)
  }

  /** Ends the direction, and tells the peer that the circuit ends, unless it knows (`isDone`). */
  end(now: number, isDone: boolean): void {
    if (this.#state === 'open') this.#state = 'finishing'
    if (!isDone) this.#farewell = 'wanted'
    this.pump(now)
  }

  /** Withdraws the message that the circuit ends: both directions are over, and the peer does not need it. */
  withdrawEnd(): void {
    if (this.#farewell === 'wanted') this.#farewell = 'none'
  }

  /** Sends once, without waiting for an answer, that the circuit ends. */
  sayEndOnce(now: number): void {
    if (this.#isStarted) this.#owner.payload(this.#sender.sendOnce(NOTHING, PAYLOAD_FLAG.circuitEnd, now))
  }

  acknowledge(acknowledgement: Acknowledgement, now: number): void {
    this.#sender.acknowledge(acknowledgement, now)
    this.pump(now)
  }

  /** Reports whether the peer has been silent for too long while payloads are under way. */
  isGivenUp(now: number): boolean {
    return this.#sender.isGivenUp(now)
  }

  /** Retransmits unacknowledged payloads, and tries a full peer that is silent. */
  sendAgain(now: number): void {
    for (const payload of this.#sender.due(now)) this.#owner.payload(payload)
    if (this.#sender.mayTry(now)) this.#send(now, true)
  }

  /** Drops waiting chunks: the peer accepts nothing more. */
  drop(): void {
    const hadWaiting = this.#waiting.length > 0
    this.#forgetWaiting()
    this.#state = 'finished'
    this.#sender.discard()
    // Its writer waits for room, and would wait until the end is over.
    if (hadWaiting) this.#owner.writable()
  }

  /** Stops the output for good. */
  abandon(): void {
    this.#isOver = true
    this.#forgetWaiting()
    this.#sender.discard()
  }

  /** Sends waiting chunks as far as the window permits. The owner may call back during the call that hands it a payload. */
  pump(now: number): void {
    this.#send(now, false)
  }

  /** `isTry` is true for a full peer: a single payload shows its state. */
  #send(now: number, isTry: boolean): void {
    if (!this.#isStarted) return
    const hadWaiting = this.#waiting.length > 0
    let isTrying = isTry
    const maySend = () => isTrying || this.#sender.maySend
    for (; maySend() && this.#waiting.length > 0; isTrying = false) this.#transmit(this.#takeNext(), 0, now)
    if (this.#sender.isExhausted) this.#owner.exhausted()
    if (this.#waiting.length > 0 || this.#isOver) return
    if (maySend()) this.#sendEnd(now)
    if (hadWaiting) this.#owner.writable()
  }

  #takeNext(): Chunk {
    const chunk = this.#waiting[this.#nextWaiting] ?? NOTHING
    this.#nextWaiting += 1
    this.#waitingBytes -= costOf(chunk)
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
    if (this.#farewell === 'wanted') {
      this.#farewell = 'said'
      this.#state = 'finished'
      this.#transmit(NOTHING, PAYLOAD_FLAG.circuitEnd, now)
    } else if (this.#state === 'finishing') {
      this.#state = 'finished'
      if (this.#knowsEnds) this.#transmit(NOTHING, PAYLOAD_FLAG.endOfInput, now)
      else this.#transmit(EDGE_END, 0, now)
    }
  }

  #transmit(chunk: Chunk, flags: number, now: number): void {
    this.#owner.payload(this.#sender.send(chunk, flags, now))
  }
}
