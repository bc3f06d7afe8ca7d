import { TooManyAttempts } from '../../domain/errors.ts'
import { networkOf } from '../../domain/network-of.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'

/** Takes room under a key. Error: `SERVER_TOO_MANY_REQUESTS` when none is left. */
export async function requireRoom(limiter: RateLimiter, key: string): Promise<void> {
  const taken = await limiter.take(key)
  if (!taken.allowed) throw new TooManyAttempts(taken.retryAfterMs, 'SERVER_TOO_MANY_REQUESTS')
}

/** The same by network; a caller whose address nobody knows is not counted. */
export async function requireRoomFor(limiter: RateLimiter, address: string | undefined): Promise<void> {
  if (address !== undefined) await requireRoom(limiter, networkOf(address))
}
