import { ControllerError } from '../../base/errors.ts'
import type { EngineContext } from '../../context/context.ts'

/** Milliseconds between two snapshots. */
const INTERVAL_MS = 60_000
/** The place of a snapshot whose storage names none. */
const NAMELESS = 'beside the store'

/** Copies of the store, made by the storage where it can. */
export class Snapshots {
  readonly #context: EngineContext
  #last: number | undefined

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Makes a snapshot and answers where it lies. Answers undefined when the storage makes none.
   *
   * @throws {ControllerError} RATE_LIMITED within a minute of the last one.
   */
  async create(): Promise<string | undefined> {
    const { storage, clock } = this.#context
    if (storage.snapshot === undefined) return undefined
    const now = clock.now()
    const isRecent = this.#last !== undefined && this.#last <= now && now - this.#last < INTERVAL_MS
    if (isRecent) throw new ControllerError('RATE_LIMITED')
    const before = this.#last
    this.#last = now
    try {
      return (await storage.snapshot()) ?? NAMELESS
    } catch (error) {
      // A failed snapshot must not keep the next from being made.
      this.#last = before
      throw error
    }
  }
}

/** Milliseconds for which a look is answered again, so that frequent questions cost nothing. */
const FRESH_MS = 1_000

/** Whether the store could be read at the last look. Instants are epoch milliseconds. */
export interface StorageLook {
  readonly isHealthy: boolean
  readonly at: number
  /** How long the look took, ms. */
  readonly durationMs: number
  /** How many looks failed in a row, and the instant of the first of them. */
  readonly failures: number
  readonly failingSince: number | undefined
}

/** Looks whether the store can be read, for the monitoring of the controller. */
export class StorageHealth {
  readonly #context: EngineContext
  #last: StorageLook | undefined
  #looking: Promise<StorageLook> | undefined

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Looks at the store, at most once a second. It never rejects: a store that cannot be read is an answer. */
  look(): Promise<StorageLook> {
    const age = this.#last === undefined ? undefined : this.#context.clock.now() - this.#last.at
    if (this.#last !== undefined && age !== undefined && age >= 0 && age < FRESH_MS) return Promise.resolve(this.#last)
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look(): Promise<StorageLook> {
    const { clock, storage } = this.#context
    const begun = clock.now()
    const isHealthy = await storage
      .read(async (tx) => tx.revision >= 0)
      // The operations that it prevents log the reason for the operator.
      .catch(() => false)
    const at = clock.now()
    const failures = isHealthy ? 0 : (this.#last?.failures ?? 0) + 1
    const failingSince = isHealthy ? undefined : (this.#last?.failingSince ?? at)
    this.#last = { isHealthy, at, durationMs: Math.max(0, at - begun), failures, failingSince }
    return this.#last
  }
}
