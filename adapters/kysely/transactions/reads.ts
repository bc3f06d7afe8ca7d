import { Lifetime, type ReadOptions, type ReadTransaction } from '../../../src/storage.ts'
import { cachedNow, levelReads } from '../cache/cached-reads.ts'
import type { RecordCache } from '../cache/record-cache.ts'
import type { Connection } from '../driver/connection.ts'
import type { ConnectionSource } from '../driver/connections.ts'
import { DeferredSnapshot } from './deferred-snapshot.ts'
import { readTransaction, TRANSACTION_OVER } from './read-transaction.ts'
import { SharedLook } from './shared-look.ts'
import type { StoredTables } from './stored-tables.ts'

type Work<T> = (tx: ReadTransaction) => Promise<T>

/**
 * Runs reads over snapshots of the database, and answers from the cache what it holds of them. A read that may begin again asks
 * only where the database stands; when the cache is level with that, it needs no snapshot until it misses something.
 */
export class Reads {
  readonly #stored: StoredTables
  readonly #readers: ConnectionSource
  readonly #cache: RecordCache | undefined
  readonly #look: SharedLook

  constructor(stored: StoredTables, readers: ConnectionSource, cache: RecordCache | undefined) {
    this.#stored = stored
    this.#readers = readers
    this.#cache = cache
    this.#look = new SharedLook(readers, stored.feed)
  }

  async run<T>(work: Work<T>, { mayBeginAgain = false }: ReadOptions = {}): Promise<T> {
    const cache = this.#cache
    if (!mayBeginAgain || cache === undefined || cache.revision < 0) return this.#overSnapshot(work)
    const state = await this.#look.take()
    // A database that was put back to an older state is not where the cache is.
    if (cache.revision !== state.revision) return this.#overSnapshot(work)
    const snapshot = new DeferredSnapshot(this.#stored.database, this.#readers, this.#stored.feed, state)
    const handle = new Lifetime(TRANSACTION_OVER)
    try {
      const answer = await work(readTransaction(this.#stored, snapshot, state, handle, cachedNow(cache)))
      if (!snapshot.hasMoved) return answer
    } catch (error) {
      if (!snapshot.hasMoved) throw error
    } finally {
      handle.end()
      await snapshot.end()
    }
    return this.#overSnapshot(work)
  }

  #overSnapshot<T>(work: Work<T>): Promise<T> {
    const { database, feed } = this.#stored
    const cache = this.#cache
    return this.#readers.use(async (connection: Connection) => {
      const handle = new Lifetime(TRANSACTION_OVER)
      const before = cache?.revision ?? 0
      await connection.command(database.language.beginRead)
      try {
        const state = await feed.read(connection)
        const cached = cache && (await levelReads(cache, feed, connection, state, before))
        return await work(readTransaction(this.#stored, connection, state, handle, cached))
      } finally {
        handle.end()
        await connection.command('commit').catch(() => {
          connection.isBroken = true
          cache?.clear()
        })
      }
    })
  }
}
