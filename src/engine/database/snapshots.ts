import { ControllerError } from '../../domain/errors.ts'
import type { EngineContext } from '../context/context.ts'

/** Milliseconds between two snapshots. */
const INTERVAL_MS = 60_000

/** Copies of the store, made by the storage where it can. */
export class Snapshots {
  readonly #context: EngineContext
  #last: number | undefined

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Makes a snapshot. Answers false when the storage makes none.
   *
   * @throws {ControllerError} RATE_LIMITED within a minute of the last one.
   */
  async create(): Promise<boolean> {
    const { storage, clock } = this.#context
    if (storage.snapshot === undefined) return false
    const now = clock.now()
    const isRecent = this.#last !== undefined && this.#last <= now && now - this.#last < INTERVAL_MS
    if (isRecent) throw new ControllerError('RATE_LIMITED')
    const before = this.#last
    this.#last = now
    try {
      await storage.snapshot()
    } catch (error) {
      // One that failed must not keep the next from being made.
      this.#last = before
      throw error
    }
    return true
  }
}
