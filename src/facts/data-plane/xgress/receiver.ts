import { costOf, type Payload } from './payload.ts'

/** The limits of a receiver; bytes as {@link costOf} counts them. */
export interface ReceiverLimits {
  /** Bytes in order that wait to be read; at most one further payload is accepted. */
  readonly readyBytes: number
  /** Bytes that arrived before their turn. */
  readonly earlyBytes: number
  /** Sequence numbers ahead of the next expected number. Payloads further ahead are dropped, and sent again later. */
  readonly reach: number
}

/** The limits of deployed routers. */
export const RECEIVER_LIMITS: ReceiverLimits = { readyBytes: 4_194_304, earlyBytes: 4_194_304, reach: 16_384 }

/** The fate of a payload: kept, already known (and to be acknowledged again), or dropped until it is sent again. */
export type Reception = 'kept' | 'known' | 'dropped'

/** The reported fill from which on a sender may be waiting for a lower report. */
const LEAST_REPORT_BYTES = 10_000

/** Orders the payloads of one direction without duplicates, and holds unread payloads within {@link ReceiverLimits}. */
export class Receiver {
  readonly #limits: ReceiverLimits
  /** Payloads in order; payloads before `#read` have been read. */
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
    const { sequence } = payload
    if (sequence < this.#next || this.#early.has(sequence)) return 'known'
    if (this.#readyBytes > this.#limits.readyBytes) return 'dropped'
    if (sequence === this.#next) {
      this.#append(payload)
      this.#moveEarly()
      return 'kept'
    }
    const bytes = costOf(payload)
    const isTooFar = sequence - this.#next > this.#limits.reach
    if (isTooFar || this.#earlyBytes + bytes > this.#limits.earlyBytes) return 'dropped'
    this.#early.set(sequence, payload)
    this.#earlyBytes += bytes
    return 'kept'
  }

  /** The next payload in order; undefined until it arrives. */
  read(): Payload | undefined {
    const payload = this.#ready[this.#read]
    if (payload === undefined) return undefined
    this.#read += 1
    this.#readyBytes -= costOf(payload)
    if (this.#read === this.#ready.length || this.#read > 1024) {
      this.#ready = this.#ready.slice(this.#read)
      this.#read = 0
    }
    return payload
  }

  /** Drops unread payloads: the reader has stopped. */
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

  /** Reports whether the fill has halved since the last report: the sender may be waiting for that. */
  get hasNews(): boolean {
    return this.#reported > LEAST_REPORT_BYTES && this.bufferedBytes < this.#reported / 2
  }

  #append(payload: Payload): void {
    this.#ready.push(payload)
    this.#readyBytes += costOf(payload)
    this.#next += 1
  }

  #moveEarly(): void {
    for (let payload = this.#early.get(this.#next); payload !== undefined; payload = this.#early.get(this.#next)) {
      this.#early.delete(this.#next)
      this.#earlyBytes -= costOf(payload)
      this.#append(payload)
    }
  }
}
