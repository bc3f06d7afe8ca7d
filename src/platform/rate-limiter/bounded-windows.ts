import { RateLimiterRes, RateLimiterStoreAbstract } from 'rate-limiter-flexible'
import type { Clock } from '../../ports/clock.ts'

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
 * A store for rate-limiter-flexible that follows a clock, holds no timers, and is bounded: the library's own memory store
 * grows with the keys that an attacker makes up. The methods with an underscore are those that the library asks of a store.
 */
export class BoundedWindows extends RateLimiterStoreAbstract {
  /** In the order of use, oldest first. */
  readonly #windows = new Map<string, Window>()
  readonly #maxKeys: number
  readonly #clock: Clock

  constructor({ limit, windowMs, maxKeys, clock }: BoundedWindowsOptions) {
    super({ storeClient: undefined, points: limit, duration: windowMs / 1000 })
    this.#maxKeys = maxKeys
    this.#clock = clock
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#windows.size
  }

  async _upsert(key: string, points: number, durationMs: number, restart: boolean): Promise<Window> {
    const now = this.#clock.now()
    const current = this.#windows.get(key)
    // A window that ends further away than a window lasts was begun before the clock was put back.
    const isOpen = current !== undefined && current.endsAt > now && current.endsAt <= now + durationMs
    const window =
      isOpen && !restart ? { ...current, points: current.points + points } : { points, endsAt: now + durationMs }
    this.#windows.delete(key)
    this.#windows.set(key, window)
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined && this.#windows.size > this.#maxKeys) this.#windows.delete(oldest)
    return window
  }

  async _get(key: string): Promise<Window | null> {
    return this.#windows.get(key) ?? null
  }

  async _delete(key: string): Promise<boolean> {
    return this.#windows.delete(key)
  }

  _getRateLimiterRes(_key: string, changed: number, { points, endsAt }: Window): RateLimiterRes {
    const remaining = Math.max(this.points - points, 0)
    return new RateLimiterRes(remaining, Math.max(endsAt - this.#clock.now(), 0), points, points === changed)
  }
}
