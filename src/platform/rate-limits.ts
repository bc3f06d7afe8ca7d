import { BoundedMap } from '../base/collections.ts'
import type { Clock, RateLimiter, RateLimiters, Taken } from '../ports/runtime.ts'

export interface BoundedWindowsOptions {
  /** Attempts that a key may make in one window. */
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

/** Counts in the memory of this process. */
export function createRateLimiter(options: BoundedWindowsOptions): RateLimiter {
  return new BoundedWindows(options)
}

/** A limiter that refuses nothing. */
const UNLIMITED: RateLimiter = { take: async () => ({ allowed: true }) }

/** How often something may be done in how many milliseconds, counted from the first time. */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
}

/** Another rate, a limiter of the host's own (shared by several processes, for example), or none. */
export type RateLimit = Rate | RateLimiter | false

/**
 * Limits by name; beyond one the answer is 429 `SERVER_TOO_MANY_REQUESTS` with `Retry-After`. Addresses are those that the
 * host hands over (`ConnectionInfo.remoteAddress`), of IPv6 the first 64 bits; requests without address are not counted by
 * address.
 *
 * | Option | Default, per minute |
 * |---|---|
 * | `anonymous` | 60,000 by address |
 * | `identity` | 600,000 by identity |
 * | `passwordsByAddress` | 6,000 by address |
 * | `passwordsByUsername` | 1,200 by username |
 */
export type RateLimitOptions = { readonly [Name in keyof RateLimiters]?: RateLimit }

const MINUTE_MS = 60_000
/** Of each limiter: a few megabytes. */
const MAX_KEYS = 25_000

const DEFAULTS: Readonly<Record<keyof RateLimiters, Rate>> = {
  anonymous: { limit: 60_000, windowMs: MINUTE_MS },
  identity: { limit: 600_000, windowMs: MINUTE_MS },
  passwordsByAddress: { limit: 6_000, windowMs: MINUTE_MS },
  passwordsByUsername: { limit: 1_200, windowMs: MINUTE_MS },
}

/**
 * Makes the limiters that a host asks for; `false` is none at all, and `unlimitedLogins` none for passwords unless one is
 * asked for. Throws on a rate that is no positive number.
 */
export function createRateLimiters(
  options: RateLimitOptions | false,
  clock: Clock,
  unlimitedLogins = false,
): RateLimiters {
  const limiter = (name: keyof RateLimiters): RateLimiter => {
    const usual = unlimitedLogins && name.startsWith('passwords') ? false : DEFAULTS[name]
    const asked = options === false ? false : (options[name] ?? usual)
    if (asked === false) return UNLIMITED
    if ('take' in asked) return asked
    if (!(asked.limit > 0 && asked.windowMs > 0))
      throw new Error(`rateLimits.${name} needs a positive limit and windowMs`)
    return createRateLimiter({ ...asked, maxKeys: MAX_KEYS, clock })
  }
  return {
    anonymous: limiter('anonymous'),
    identity: limiter('identity'),
    passwordsByAddress: limiter('passwordsByAddress'),
    passwordsByUsername: limiter('passwordsByUsername'),
  }
}
