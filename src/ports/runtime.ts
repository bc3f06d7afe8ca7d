/** The controller's only source of time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** The controller's only source of randomness; every value is unpredictable to a caller. */
export interface Random {
  /** A short opaque id of ten URL-safe characters that starts with a letter or digit: the id of an entity. */
  id(): string
  /** A version 4 UUID: API session tokens and enrollment tokens (122 bits). */
  uuid(): string
  /** How many characters of `A-Z2-7`, five bits each: codes that people type. */
  base32(length: number): string
}

/** Where the controller reports what a host's operator should know. Values passed in `fields` never hold a secret. */
export interface Logger {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Wakes the controller at instants of its clock. It holds no process alive. */
export interface Scheduler {
  /**
   * Runs `work` once, at `instant` (epoch ms) or as soon after it as possible, never earlier by the clock, however far
   * away it is and however the clock jumps. Answers the function that cancels it. `work` does not reject.
   */
  at(instant: number, work: () => Promise<void>): () => void
}

/** Shares the thread between long work and everything else. */
export interface Turns {
  /**
   * Begins a piece of work. All work shares one slice of a few milliseconds in each turn of the event loop. The function that
   * is answered is called between small steps: it answers `undefined` while the slice lasts, else a promise of a later turn.
   */
  begin(): () => Promise<void> | undefined
}

/** The outcome of an attempt: room was there and is taken, or there will be some after `retryAfterMs`. */
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

/** The first place where a value does not fulfil its schema. */
export interface SchemaViolation {
  /** Members and positions from the root down to the place; empty for the root itself. */
  readonly path: readonly string[]
  /** The demand of the schema there, in words. */
  readonly requirement: string
  /** The value at that place. */
  readonly value: unknown
}

/**
 * Judges values by JSON schemas (draft 7). Schemas come from strangers: nothing is ever fetched, patterns match in linear
 * time, and a schema or value that would take long to work through is refused.
 */
export interface JsonSchema {
  /** Why a schema cannot be used; `undefined` for one that can. */
  problemOf(schema: Readonly<Record<string, unknown>>): Promise<string | undefined>
  /** Where a value violates a schema without problem; `undefined` when it fulfils it. */
  violationOf(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<SchemaViolation | undefined>
}
