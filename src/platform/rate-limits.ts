import { BoundedMap } from '../base/collections.ts'
import { MINUTE_MS } from '../base/time.ts'
import type { Clock, RateLimiter, RateLimiters, Taken } from '../ports/runtime.ts'

export interface BoundedWindowsOptions {
  /** Attempts that a key may make in one window. */
  readonly limit: number
  /** Milliseconds from the first attempt to the end of a window. */
  readonly windowMs: number
  /** Keys that are remembered; beyond it the least recently used key is forgotten. */
  readonly maxKeys: number
  readonly clock: Clock
}

interface Window {
  readonly points: number
  readonly endsAt: number
}

/**
 * Counts in fixed windows, in the memory of this process. It follows the clock port, holds no timers, and is bounded: an attacker cannot
 * make it grow with invented keys. (The known libraries use the system's clock and have no bound.)
 */
export class BoundedWindows implements RateLimiter {
  readonly #windows: BoundedMap<string, Window>
  readonly #options: BoundedWindowsOptions

  constructor(options: BoundedWindowsOptions) {
    this.#options = options
    this.#windows = new BoundedMap(options.maxKeys)
  }

  /** The number of remembered keys. */
  get size(): number {
    return this.#windows.size
  }

  async take(key: string, cost = 1): Promise<Taken> {
    const { limit, windowMs, clock } = this.#options
    const now = clock.now()
    const current = this.#windows.get(key)
    // A window whose end is further away than its length began before the clock was set back.
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

/** A number of attempts in a window of milliseconds, which begins with the first attempt. */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
}

/** Another rate, a limiter of the host (for example shared by several processes), or `false` for no limit. */
export type RateLimit = Rate | RateLimiter | false

/**
 * Limits by name; beyond a limit the answer is 429 `SERVER_TOO_MANY_REQUESTS` with `Retry-After`. Addresses come from the host
 * (`ConnectionInfo.remoteAddress`); for IPv6, the first 64 bits count. Requests without an address are not counted by address.
 *
 * | Option | Default, per minute |
 * |---|---|
 * | `anonymous` | 60,000 by address |
 * | `identity` | 600,000 by identity |
 * | `passwordsByAddress` | 6,000 by address |
 * | `passwordsByUsername` | 1,200 by username |
 */
export type RateLimitOptions = { readonly [Name in keyof RateLimiters]?: RateLimit }

/** Keys of each limiter: a few megabytes. */
const MAX_KEYS = 25_000

const DEFAULTS: Readonly<Record<keyof RateLimiters, Rate>> = {
  anonymous: { limit: 60_000, windowMs: MINUTE_MS },
  identity: { limit: 600_000, windowMs: MINUTE_MS },
  passwordsByAddress: { limit: 6_000, windowMs: MINUTE_MS },
  passwordsByUsername: { limit: 1_200, windowMs: MINUTE_MS },
}

/**
 * Makes the limiters of a host. `false` turns all limits off; `unlimitedLogins` turns off the limits for passwords that the host does not
 * set. Throws for a rate that is not a positive number.
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
