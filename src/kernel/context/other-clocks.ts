import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

/** Milliseconds by which the clock of another machine may be ahead: sessions bear no more. */
export const CLOCK_TOLERANCE_MS = 60_000
/** Milliseconds for which what was noticed counts, and after which it is told again. */
const NOTICED_MS = 5 * 60_000

/**
 * Notices that this process and another one over the same store disagree about the time, by instants of the other that are yet
 * to come. Only the one that is behind can notice; what it refuses then, such as a token that is not valid yet, says nothing of
 * clocks to whoever is refused.
 */
export class OtherClocks {
  readonly #clock: Clock
  readonly #logger: Logger
  #noticed: { readonly behindMs: number; readonly at: number } | undefined

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  /** Something was written at an instant (epoch ms), by whichever process. */
  seen(writtenAt: number): void {
    const now = this.#clock.now()
    const behindMs = writtenAt - now
    if (!(behindMs > CLOCK_TOLERANCE_MS)) return
    const isNew = this.#noticed === undefined || Math.abs(now - this.#noticed.at) >= NOTICED_MS
    if (!isNew) return
    this.#noticed = { behindMs, at: now }
    const message =
      'the clock is behind that of another process over the same storage: sessions of one are refused by the other'
    this.#logger.warn(message, { behindSeconds: Math.round(behindMs / 1000) })
  }

  /** By how many milliseconds this clock was behind another one within the last minutes; 0 where nothing shows it. */
  behindMs(): number {
    const { behindMs = 0, at = 0 } = this.#noticed ?? {}
    return Math.abs(this.#clock.now() - at) < NOTICED_MS ? behindMs : 0
  }
}
