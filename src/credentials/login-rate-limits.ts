import { TooManyAttempts } from '../../domain/errors.ts'
import { networkOf } from '../../domain/network-of.ts'
import type { RateLimiter, RateLimiters } from '../../ports/rate-limiter.ts'
import type { EngineContext } from '../context/context.ts'

/** Takes room under a key. Error: `SERVER_TOO_MANY_REQUESTS` when none is left. */
async function requireRoom(limiter: RateLimiter, key: string): Promise<void> {
  const taken = await limiter.take(key)
  if (!taken.allowed) throw new TooManyAttempts(taken.retryAfterMs, 'SERVER_TOO_MANY_REQUESTS')
}

/** The same by network; a caller whose address nobody knows is not counted. */
async function requireRoomFor(limiter: RateLimiter, address: string | undefined): Promise<void> {
  if (address !== undefined) await requireRoom(limiter, networkOf(address))
}

/** Takes room for one look at a password, wherever it is given. Error: `SERVER_TOO_MANY_REQUESTS`. */
export async function requirePasswordRoom(
  { passwordsByAddress, passwordsByUsername }: RateLimiters,
  address: string | undefined,
  username: string,
): Promise<void> {
  await requireRoomFor(passwordsByAddress, address)
  await requireRoom(passwordsByUsername, username)
}

/** How often callers may ask for anything at all. Error of both: `SERVER_TOO_MANY_REQUESTS`. */
export class RequestRates {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Counts a request of somebody who is not known, by network. */
  countAnonymous(address: string | undefined): Promise<void> {
    return requireRoomFor(this.#context.rateLimiters.anonymous, address)
  }

  /** Counts a request of an identity. */
  countIdentity(identityId: string): Promise<void> {
    return requireRoom(this.#context.rateLimiters.identity, identityId)
  }
}
