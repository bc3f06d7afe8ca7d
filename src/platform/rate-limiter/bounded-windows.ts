import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RateLimiter, Taken } from '../../ports/rate-limiter.ts'

export interface BoundedWindowsOptions {
  /** What a key may take in one window. */
  readonly limit: number
  /** Milliseconds from the first taking to the end of a window. */
  readonly windowMs: number
  /** Keys that are remembered; beyond, the one that was not used for the longest time is forgotten. */
  readonly maxKeys: number
  readonly clock: Clock
}

interface Window {
  readonly points: number
  readonly endsAt: number
}

/**
 * Counts in fixed windows, in the memory of this process. It follows the clock port, holds no timers, and is bounded: an
 * attacker who makes up keys cannot make it grow. (The known libraries count by the system's clock and without a bound.)
 */
export class BoundedWindows implements RateLimiter {
  readonly #windows: BoundedMap<string, Window>
  readonly #options: BoundedWindowsOptions

  constructor(options: BoundedWindowsOptions) {
    this.#options = options
    this.#windows = new BoundedMap(options.maxKeys)
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#windows.size
  }

  async take(key: string, cost = 1): Promise<Taken> {
    const { limit, windowMs, clock } = this.#options
    const now = clock.now()
    const current = this.#windows.get(key)
    // A window that ends further away than a window lasts was begun before the clock was put back.
    const isOpen = current !== undefined && current.endsAt > now && current.endsAt <= now + windowMs
    const window = isOpen ? { ...current, points: current.points + cost } : { points: cost, endsAt: now + windowMs }
    this.#windows.set(key, window)
    return window.points <= limit ? { allowed: true } : { allowed: false, retryAfterMs: window.endsAt - now }
  }
}
