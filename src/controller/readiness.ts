import type { AccessFeed } from '../access/access-feed.ts'
import { runtime } from '../concurrency/process-runtime.ts'
import type { Writes } from '../context/writes.ts'
import { type Storage, StorageUnavailable } from '../ports/record-storage.ts'
import type { Clock, Logger } from '../ports/runtime.ts'

/** How long a readiness question waits for the access index, in ms: orchestrators give up after a second. */
const PATIENCE_MS = 500
/**
 * How long a refused write counts, in ms. When clients stop sending requests because of it, nothing else would show
 * that there is room again.
 */
const REFUSAL_COUNTS_MS = 30_000

/** The parts that readiness is judged by. */
export interface ReadinessParts {
  readonly storage: Pick<Storage, 'read'>
  readonly access: Pick<AccessFeed, 'at' | 'standing'>
  readonly writes: Pick<Writes, 'watch'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error' | 'info'>
}

/** Judges whether a controller can serve requests: its storage answers and takes changes, and the access index is built. */
export class Readiness {
  readonly #parts: ReadinessParts
  #building: Promise<void> | undefined
  #refusedAt: number | undefined

  constructor(parts: ReadinessParts) {
    this.#parts = parts
    parts.writes.watch((error) => this.#written(error))
  }

  /** Begins to build the access index, so that no question waits for it. */
  begin(): void {
    void this.#built()
  }

  /** Says why the controller is not ready, in one line; undefined where it is. Rejects where the storage is away. */
  async problem(): Promise<string | undefined> {
    await this.#parts.storage.read(async () => undefined)
    if (this.refusesWrites()) return 'the storage is full: changes are refused'
    await within(PATIENCE_MS, this.#built())
    const { stands, recordsRead } = this.#parts.access.standing()
    return stands ? undefined : `the access index is being built: ${recordsRead} records were read`
  }

  /** Whether the storage recently refused a change because it is full, and has taken none since. */
  refusesWrites(): boolean {
    return this.#refusedAt !== undefined && this.#parts.clock.now() - this.#refusedAt < REFUSAL_COUNTS_MS
  }

  #written(error: unknown): void {
    const { clock, logger } = this.#parts
    if (error instanceof StorageUnavailable && error.reason === 'full') {
      if (!this.refusesWrites()) logger.error('the storage is full: changes are refused until there is room')
      this.#refusedAt = clock.now()
    } else if (error === undefined && this.#refusedAt !== undefined) {
      this.#refusedAt = undefined
      logger.info('the storage takes changes again')
    }
  }

  /** Builds the index where it is missing; all waiting questions share one build. The next question of the storage reports a failure. */
  #built(): Promise<void> {
    const { storage, access } = this.#parts
    if (access.standing().stands) return Promise.resolve()
    this.#building ??= storage
      .read(async (tx) => void (await access.at(tx)))
      .catch(() => undefined)
      .finally(() => {
        this.#building = undefined
      })
    return this.#building
  }
}

/** Waits for work, but no longer than `ms`. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let cancel: (() => void) | undefined
  const passed = new Promise<void>((resolve) => {
    cancel = runtime.timer(ms, resolve, true)
  })
  await Promise.race([work, passed])
  cancel?.()
}
