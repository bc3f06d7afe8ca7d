import type { Clock } from '../../ports/clock.ts'
import type { RateLimiter, RateLimiters } from '../../ports/rate-limiter.ts'
import { createRateLimiter, unlimited } from './rate-limiter.ts'

/** How often something may be done in how many milliseconds, counted from the first time. */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
}

/** Another rate, a limiter of the host's own (shared by several processes, for example), or none. */
export type RateLimit = Rate | RateLimiter | false

/**
 * What is limited; beyond it the answer is 429 `SERVER_TOO_MANY_REQUESTS` with `Retry-After`. Addresses are those that the
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
    if (asked === false) return unlimited
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
