/** What became of an attempt: room was there and is taken, or there will be some after `retryAfterMs`. */
export type Taken = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterMs: number }

/** Counts what is done under a key, such as an address or an identity's id, and says when it is too much. */
export interface RateLimiter {
  /**
   * Takes `cost` (default: 1) from what `key` has left. Attempts that are refused count as well. Keys are independent of
   * each other; a limiter of limited memory may forget those that were not used for the longest time. Never rejects for
   * a reason of the key's own.
   */
  take(key: string, cost?: number): Promise<Taken>
}

/** The limiters of a controller, by what they count. */
export interface RateLimiters {
  /** Requests by nobody in particular: open operations and refused tokens, by network address. */
  readonly anonymous: RateLimiter
  /** Requests in an API session, by identity. */
  readonly identity: RateLimiter
  /** Logins by password, by network address. */
  readonly passwordsByAddress: RateLimiter
  /** Logins by password, by username; the username need not exist. */
  readonly passwordsByUsername: RateLimiter
}
