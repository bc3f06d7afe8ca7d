import type { EngineContext } from '../context/context.ts'

/** Who asks again within so many ms is told what was found before, so that asking often costs nothing. */
const FRESH_MS = 1_000

/** Whether the store could be read when somebody last looked. Instants are epoch milliseconds. */
export interface StorageLook {
  readonly isHealthy: boolean
  readonly at: number
  /** How long the look took, ms. */
  readonly durationMs: number
  /** How many looks failed in a row, and the instant of the first of them. */
  readonly failures: number
  readonly failingSince: number | undefined
}

/** Looks whether the store can be read, for whoever watches the controller. */
export class StorageHealth {
  readonly #context: EngineContext
  #last: StorageLook | undefined
  #looking: Promise<StorageLook> | undefined

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** What a look found, at most a second ago. It never rejects: a store that cannot be read is an answer. */
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
      // Why it failed is told to the operator by those whose work it kept from being done.
      .catch(() => false)
    const at = clock.now()
    const failures = isHealthy ? 0 : (this.#last?.failures ?? 0) + 1
    const failingSince = isHealthy ? undefined : (this.#last?.failingSince ?? at)
    this.#last = { isHealthy, at, durationMs: Math.max(0, at - begun), failures, failingSince }
    return this.#last
  }
}
