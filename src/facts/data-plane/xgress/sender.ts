import { HOUR_MS } from '../../../base/time.ts'
import { type Acknowledgement, type Chunk, costOf, PAYLOAD_FLAG, type Payload, shortClock } from './payload.ts'

/** The limits of a sender's window and its retransmissions. */
export interface SenderLimits {
  /** The greatest and the least number of bytes that may be under way, as {@link costOf} counts them. */
  readonly mostBytes: number
  readonly leastBytes: number
  /** Bytes that may be in the peer's buffer or on their way there: a peer drops what finds no room. */
  readonly peerBytes: number
  /** Milliseconds without an acknowledgement after which the sender gives up. */
  readonly giveUpMs: number
  /** The same for a peer that reported a full buffer: deployed peers are silent then until their reader goes on. */
  readonly giveUpFullMs: number
}

/** The limits of deployed routers, where they have such limits. */
export const SENDER_LIMITS: SenderLimits = {
  mostBytes: 4_194_304,
  leastBytes: 16_384,
  peerBytes: 4_194_304,
  giveUpMs: 180_000,
  giveUpFullMs: HOUR_MS,
}

/** Good acknowledgements after which the window grows. */
const GROW_AFTER = 28
/** Retransmissions after which the window shrinks, and the factor of the shrinking. */
const SHRINK_AFTER = 64
const SHRINK_TO = 0.75
/** Duplicate acknowledgements after which retransmissions wait longer. */
const SLOWER_AFTER = 64
const SLOWER_BY = 0.2
const LEAST_SCALE = 1
const MOST_SCALE = 10
/** Milliseconds to wait for an acknowledgement before the first measurement: a busy path at the start is no loss. */
const FIRST_WAIT_MS = 1000
/** The weight of a sample in the mean round trip and in its deviation, and the deviations to wait beyond the mean (RFC 6298). */
const MEAN_SHARE = 1 / 8
const DEVIATION_SHARE = 1 / 4
const DEVIATIONS = 4
/** The least milliseconds before a retransmission, however short the round trip: a busy peer is no loss. */
const LEAST_WAIT_MS = 100
/** Shorter than the time for which a finished end still acknowledges: its peer retransmits once within it. */
const MOST_WAIT_MS = 4000
/** Milliseconds of silence after which a full peer is tried: its report that it has room may be lost. */
const TRY_FULL_MS = 1000
/** Payloads that one turn sends again; the rest waits for the next turn. */
const MOST_AT_ONCE = 64
/** The highest number that fits the wire. */
const LAST_SEQUENCE = 0x7f_ff_ff_ff

interface Unacknowledged {
  readonly payload: Payload
  readonly firstAt: number
  sentAt: number
  tries: number
}

/** The sender of a direction: numbers payloads, keeps them until they are acknowledged, and retransmits them. */
export class Sender {
  readonly #circuitId: string
  readonly #flags: number
  readonly #limits: SenderLimits
  /** Ascending by number. */
  readonly #unacknowledged = new Map<number, Unacknowledged>()
  #next = 0
  #bytes = 0
  #window: number
  #peerBytes = 0
  #heardAt = 0
  #meanMs: number | undefined
  #deviationMs = 0
  #scale = LEAST_SCALE
  #goodSinceGrowth = 0
  #bytesSinceShrink = 0
  #retransmissions = 0
  #repeats = 0
  /** A payload was sent again since nothing was under way. */
  #hasRepeated = false

  /** `flags` are set on every payload of this side. */
  constructor(circuitId: string, flags: number, limits: SenderLimits = SENDER_LIMITS) {
    this.#circuitId = circuitId
    this.#flags = flags
    this.#limits = limits
    this.#window = limits.mostBytes
  }

  /** Bytes under way. */
  get bytes(): number {
    return this.#bytes
  }

  get isDrained(): boolean {
    return this.#unacknowledged.size === 0
  }

  /** Reports whether the next payload may be sent. A full peer reports when its reader has gone on. */
  get maySend(): boolean {
    return this.#bytes <= this.#window && this.#bytes + this.#peerBytes <= this.#limits.peerBytes
  }

  /** Reports whether a payload may be sent to a full peer at `now`, to learn its state. */
  mayTry(now: number): boolean {
    return this.isDrained && !this.maySend && now - this.#heardAt >= TRY_FULL_MS
  }

  /** True when no sequence number is left: the circuit must end. */
  get isExhausted(): boolean {
    return this.#next > LAST_SEQUENCE
  }

  /** Makes the payload of a chunk, which is under way from `now` on (ms). */
  send(chunk: Chunk, flags: number, now: number): Payload {
    const payload = this.#payload(chunk, flags, now)
    this.#next += 1
    this.#unacknowledged.set(payload.sequence, { payload, firstAt: now, sentAt: now, tries: 0 })
    this.#bytes += costOf(payload)
    return payload
  }

  /** Makes a payload that needs no acknowledgement. */
  sendOnce(chunk: Chunk, flags: number, now: number): Payload {
    return this.#payload(chunk, flags, now)
  }

  acknowledge({ sequences, bufferedBytes, sentAt }: Acknowledgement, now: number): void {
    this.#peerBytes = bufferedBytes
    this.#heardAt = now
    if (sentAt !== undefined && sequences.length > 0) this.#measure((shortClock(now) - sentAt + 65_536) % 65_536)
    let hasProgress = false
    for (const sequence of sequences) {
      const known = this.#unacknowledged.get(sequence)
      if (known === undefined) this.#repeated()
      else {
        this.#acknowledged(sequence, costOf(known.payload))
        hasProgress = true
      }
    }
    if (hasProgress && this.#hasRepeated) this.#hastenOldest()
  }

  /** The payloads to be sent again at `now`, the oldest first. */
  due(now: number): readonly Payload[] {
    const due: Payload[] = []
    const base = this.#waitMs
    for (const entry of this.#unacknowledged.values()) {
      const isDue = now - entry.sentAt >= Math.min(MOST_WAIT_MS, base * 2 ** entry.tries)
      // All payloads after a payload that was sent once were sent later.
      if (!isDue && entry.tries === 0) break
      if (!isDue) continue
      entry.sentAt = now
      entry.tries += 1
      this.#retransmitted()
      due.push({
        ...entry.payload,
        flags: entry.payload.flags | PAYLOAD_FLAG.retransmit,
        sentAt: shortClock(now),
      })
      if (due.length === MOST_AT_ONCE) break
    }
    return due
  }

  /** Reports whether the peer has been silent for too long while payloads are under way. */
  isGivenUp(now: number): boolean {
    const [oldest] = this.#unacknowledged.values()
    if (oldest === undefined) return false
    const isFull = this.#peerBytes > this.#limits.peerBytes / 2
    const waitsFrom = Math.max(oldest.firstAt, this.#heardAt)
    return now - waitsFrom > (isFull ? this.#limits.giveUpFullMs : this.#limits.giveUpMs)
  }

  /** Drops the payloads under way: the peer no longer acknowledges. */
  discard(): void {
    this.#unacknowledged.clear()
    this.#bytes = 0
  }

  #payload({ items, body }: Chunk, flags: number, now: number): Payload {
    const all = flags | this.#flags
    return { circuitId: this.#circuitId, sequence: this.#next, flags: all, sentAt: shortClock(now), items, body }
  }

  #acknowledged(sequence: number, bytes: number): void {
    this.#unacknowledged.delete(sequence)
    this.#bytes -= bytes
    this.#bytesSinceShrink += bytes
    this.#goodSinceGrowth += 1
    if (this.#goodSinceGrowth < GROW_AFTER) return
    this.#goodSinceGrowth = 0
    this.#window = Math.min(this.#limits.mostBytes, this.#window + this.#bytesSinceShrink)
    this.#scale = Math.max(LEAST_SCALE, this.#scale - 0.01)
  }

  /** Payloads arrive: the oldest, for which the reader waits, goes on as after its first repetition, however often it was lost. */
  #hastenOldest(): void {
    const [oldest] = this.#unacknowledged.values()
    if (oldest === undefined) this.#hasRepeated = false
    else oldest.tries = Math.min(oldest.tries, 1)
  }

  #repeated(): void {
    this.#repeats += 1
    if (this.#repeats < SLOWER_AFTER) return
    this.#repeats = 0
    this.#scale = Math.min(MOST_SCALE, this.#scale + SLOWER_BY)
  }

  #retransmitted(): void {
    this.#hasRepeated = true
    this.#retransmissions += 1
    if (this.#retransmissions < SHRINK_AFTER) return
    this.#retransmissions = 0
    this.#bytesSinceShrink = 0
    this.#window = Math.max(this.#limits.leastBytes, this.#window * SHRINK_TO)
  }

  /** Milliseconds without an acknowledgement after which a payload is sent again for the first time. */
  get #waitMs(): number {
    if (this.#meanMs === undefined) return FIRST_WAIT_MS
    return Math.max(LEAST_WAIT_MS, (this.#meanMs + DEVIATIONS * this.#deviationMs) * this.#scale)
  }

  /**
   * Updates the mean round trip and its deviation. Circuits wait for their turns at both ends, so the deviation matters as much as the
   * mean.
   */
  #measure(sampleMs: number): void {
    const sample = Math.min(sampleMs, MOST_WAIT_MS)
    const meanMs = this.#meanMs ?? sample
    const away = this.#meanMs === undefined ? sample : Math.abs(sample - meanMs)
    this.#deviationMs += (away - this.#deviationMs) * (this.#meanMs === undefined ? 1 : DEVIATION_SHARE)
    this.#meanMs = meanMs + (sample - meanMs) * MEAN_SHARE
  }
}
