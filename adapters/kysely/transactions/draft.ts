import type { CompiledQuery } from 'kysely'
import { type Change, Lifetime } from '../../../src/storage.ts'
import type { Uncommitted } from '../cache/cached-reads.ts'
import type { Connection, Row } from '../driver/connection.ts'
import type { StoredState } from '../records/change-feed.ts'
import type { WriteUnderWay } from '../records/write-record.ts'
import { TRANSACTION_OVER } from './read-transaction.ts'

/** What one write has done so far. */
export class Draft implements WriteUnderWay {
  readonly connection: Connection
  readonly state: StoredState
  readonly lifetime = new Lifetime(TRANSACTION_OVER)
  readonly changes: Change[] = []
  readonly #uncommitted: Uncommitted
  /** The first error by which a change may have been left half done; the write is then rolled back, caught or not. */
  failure: unknown

  /** What it changes is noted in `uncommitted` too. */
  constructor(connection: Connection, state: StoredState, uncommitted: Uncommitted) {
    this.connection = connection
    this.#uncommitted = uncommitted
    this.state = state
  }

  run(query: CompiledQuery): Promise<number> {
    return this.#watched(() => this.connection.run(query))
  }

  rows(query: CompiledQuery): Promise<readonly Row[]> {
    return this.#watched(() => this.connection.rows(query))
  }

  note(kind: string, id: string, operation: Change['operation']): void {
    this.#uncommitted.add(kind, id)
    this.changes.push({ revision: this.state.revision + 1, kind, id, operation })
  }

  async #watched<T>(work: () => Promise<T>): Promise<T> {
    this.lifetime.assertOpen()
    try {
      return await work()
    } catch (error) {
      this.failure ??= error
      throw error
    }
  }
}
