import type { RateLimiter } from '../../ports/rate-limiter.ts'
import { BoundedWindows, type BoundedWindowsOptions } from './bounded-windows.ts'

/** Counts in the memory of this process. */
export function createRateLimiter(options: BoundedWindowsOptions): RateLimiter {
  return new BoundedWindows(options)
}

/** A limiter that refuses nothing. */
export const unlimited: RateLimiter = { take: async () => ({ allowed: true }) }
