import type { Payload } from './payload.ts'

/** How much a receiver keeps. */
export interface ReceiverLimits {
  /** Bytes that wait in order to be read; one payload more is taken at the most. */
  readonly readyBytes: number
  /** Bytes that came before their turn. */
  readonly earlyBytes: number
  /** Numbers beyond the one whose turn it is: what is further ahead comes again later. */
  readonly reach: number
}

/** As deployed routers have it; the reach bounds records where payloads are small. */
export const RECEIVER_LIMITS: ReceiverLimits = { readyBytes: 4_194_304, earlyBytes: 4_194_304, reach: 16_384 }

/** The fate of a payload: kept, known already (and to be acknowledged again), or dropped until it is sent again. */
export type Reception = 'kept' | 'known' | 'dropped'

/** The report of a full buffer from which on its sender waits for news. */
const LEAST_REPORT_BYTES = 10_000

/** Puts the payloads of one direction in order, each once, and holds what is not read yet within {@link ReceiverLimits}. */
export class Receiver {
  readonly #limits: ReceiverLimits
  /** In order and unread; those before `#read` are read. */
  #ready: Payload[] = []
  #read = 0
  readonly #early = new Map<number, Payload>()
  #readyBytes = 0
  #earlyBytes = 0
  #next = 0
  #reported = 0

  constructor(limits: ReceiverLimits = RECEIVER_LIMITS) {
    this.#limits = limits
  }

  /** Bytes that are kept. */
  get bufferedBytes(): number {
    return this.#readyBytes + this.#earlyBytes
  }

  take(payload: Payload): Reception {
    const { sequence, body } = payload
    if (sequence < this.#next || this.#early.has(sequence)) return 'known'
    if (this.#readyBytes > this.#limits.readyBytes) return 'dropped'
    if (sequence === this.#next) {
      this.#append(payload)
      this.#moveEarly()
      return 'kept'
    }
    const isTooFar = sequence - this.#next > this.#limits.reach
    if (isTooFar || this.#earlyBytes + body.length > this.#limits.earlyBytes) return 'dropped'
    this.#early.set(sequence, payload)
    this.#earlyBytes += body.length
    return 'kept'
  }

  /** The next payload in order; undefined while it is not there. */
  read(): Payload | undefined {
    const payload = this.#ready[this.#read]
    if (payload === undefined) return undefined
    this.#read += 1
    this.#readyBytes -= payload.body.length
    if (this.#read === this.#ready.length || this.#read > 1024) {
      this.#ready = this.#ready.slice(this.#read)
      this.#read = 0
    }
    return payload
  }

  /** Forgets what is unread: nobody reads any more. */
  discard(): void {
    this.#ready = []
    this.#read = 0
    this.#readyBytes = 0
  }

  /** The fill for the next acknowledgement. */
  report(): number {
    this.#reported = this.bufferedBytes
    return this.#reported
  }

  /** Whether the fill has halved since the sender last heard of it: it may be waiting for that. */
  get hasNews(): boolean {
    return this.#reported > LEAST_REPORT_BYTES && this.bufferedBytes < this.#reported / 2
  }

  #append(payload: Payload): void {
    this.#ready.push(payload)
    this.#readyBytes += payload.body.length
    this.#next += 1
  }

  #moveEarly(): void {
    for (let payload = this.#early.get(this.#next); payload !== undefined; payload = this.#early.get(this.#next)) {
      this.#early.delete(this.#next)
      this.#earlyBytes -= payload.body.length
      this.#append(payload)
    }
  }
}
