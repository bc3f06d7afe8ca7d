import { isYetToCome } from '../../base/time.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

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
    if (!isYetToCome(writtenAt, now)) return
    const behindMs = writtenAt - now
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
