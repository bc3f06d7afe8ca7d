import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimiter, Taken } from '../../ports/rate-limiter.ts'
import type { BoundedWindowsOptions } from './bounded-windows.ts'

/** Counts in the memory of this process by rate-limiter-flexible, which is loaded on first use. */
export function createRateLimiter(options: BoundedWindowsOptions): RateLimiter {
  const windows = memoized(async () => new (await import('./bounded-windows.ts')).BoundedWindows(options))
  return {
    take: async (key, cost = 1) =>
      (await windows()).consume(key, cost).then(
        (): Taken => ({ allowed: true }),
        (refusal: RateLimiterRes | Error): Taken => {
          if (refusal instanceof Error) throw refusal
          return { allowed: false, retryAfterMs: refusal.msBeforeNext }
        },
      ),
  }
}

/** A limiter that refuses nothing. */
export const unlimited: RateLimiter = { take: async () => ({ allowed: true }) }

function memoized<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
