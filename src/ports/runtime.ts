/** The controller's only source of time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

/** The controller's only source of randomness; every value is unpredictable to a caller. */
export interface Random {
  /** The id of an entity: ten URL-safe characters that start with a letter or digit. */
  id(): string
  /** A version 4 UUID (122 bits), for API session tokens and enrollment tokens. */
  uuid(): string
  /** Text of `length` characters of `A-Z2-7`, five bits each, for codes that people type. */
  base32(length: number): string
}

/** Receives the controller's messages for operators. Values in `fields` never hold a secret. */
export interface Logger {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Wakes the controller at instants of its clock. It does not keep the process alive. */
export interface Scheduler {
  /**
   * Runs `work` once, at `instant` (epoch ms) or as soon as possible after it, never earlier by the clock. This holds for any distance and
   * for any jump of the clock. Answers the function that cancels it. `work` does not reject.
   */
  at(instant: number, work: () => Promise<void>): () => void
}

/** Shares the thread between long work and everything else. */
export interface Turns {
  /**
   * Begins a piece of work. All work shares one slice of a few milliseconds in each turn of the event loop. Call the returned function
   * between small steps: it answers `undefined` while the slice lasts, else a promise of a later turn.
   */
  begin(): () => Promise<void> | undefined
}

/** The outcome of an attempt: allowed, or refused with the milliseconds until a retry may succeed. */
export type Taken = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterMs: number }

/** Counts attempts by a key, such as an address or an identity's id, and refuses too many. */
export interface RateLimiter {
  /**
   * Takes `cost` (default: 1) from the budget of `key`. Refused attempts count as well. Keys are independent of each other; a limiter with
   * limited memory may forget the least recently used keys. Never rejects because of the key itself.
   */
  take(key: string, cost?: number): Promise<Taken>
}

/** The limiters of a controller. */
export interface RateLimiters {
  /** Requests without an identity: open operations and refused tokens, by network address. */
  readonly anonymous: RateLimiter
  /** Requests in an API session, by identity. */
  readonly identity: RateLimiter
  /** Logins by password, by network address. */
  readonly passwordsByAddress: RateLimiter
  /** Logins by password, by username, which need not exist. */
  readonly passwordsByUsername: RateLimiter
}

/** The first violation of a schema in a value. */
export interface SchemaViolation {
  /** Members and positions from the root to the violation; empty for the root itself. */
  readonly path: readonly string[]
  /** The violated demand of the schema, in words. */
  readonly requirement: string
  /** The value at that place. */
  readonly value: unknown
}

/**
 * Judges values by JSON schemas (draft 7). Schemas are untrusted: no document is fetched, patterns match in linear time, and a schema or
 * value that would take long to process is refused.
 */
export interface JsonSchema {
  /** The reason why a schema is unusable; `undefined` for a usable schema. */
  problemOf(schema: Readonly<Record<string, unknown>>): Promise<string | undefined>
  /** The violation of a usable schema by a value; `undefined` for a valid value. */
  violationOf(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<SchemaViolation | undefined>
}
