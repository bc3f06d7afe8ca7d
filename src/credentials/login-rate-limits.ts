import { networkOf } from '../base/addresses.ts'
import { TooManyAttempts } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { RateLimiter, RateLimiters } from '../ports/runtime.ts'

/** Takes room under a key. Error: `SERVER_TOO_MANY_REQUESTS` when none is left. */
async function requireRate(limiter: RateLimiter, key: string): Promise<void> {
  const taken = await limiter.take(key)
  if (!taken.allowed) throw new TooManyAttempts(taken.retryAfterMs, 'SERVER_TOO_MANY_REQUESTS')
}

/** The same by network; a caller without a known address is not counted. */
async function requireRateFor(limiter: RateLimiter, address: string | undefined): Promise<void> {
  if (address !== undefined) await requireRate(limiter, networkOf(address))
}

/** Takes room for one look at a password, wherever it is given. Error: `SERVER_TOO_MANY_REQUESTS`. */
export async function requirePasswordRate(
  { passwordsByAddress, passwordsByUsername }: RateLimiters,
  address: string | undefined,
  username: string,
): Promise<void> {
  await requireRateFor(passwordsByAddress, address)
  await requireRate(passwordsByUsername, username)
}

/** The network of a caller, for whose passwords those of other networks do not wait; undefined without a known address. */
export function networkOfCall({ remoteAddress }: Pick<Call, 'remoteAddress'>): string | undefined {
  return remoteAddress === undefined ? undefined : networkOf(remoteAddress)
}

/** The rates at which callers may send requests at all. Error of both: `SERVER_TOO_MANY_REQUESTS`. */
export class RequestRates {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Counts a request of an unknown caller, by network. */
  countAnonymous(address: string | undefined): Promise<void> {
    return requireRateFor(this.#context.rateLimiters.anonymous, address)
  }

  /** Counts a request of an identity. */
  countIdentity(identityId: string): Promise<void> {
    return requireRate(this.#context.rateLimiters.identity, identityId)
  }
}
