import type { CompiledQuery } from 'kysely'
import { Lifetime, type ReadOptions, type ReadTransaction, StorageUnavailable } from '../../../src/storage.ts'
import { cachedNow, levelReads } from '../cache/cached-collection.ts'
import type { RecordCache } from '../cache/record-cache.ts'
import type { Connection, ConnectionSource, Row, RowSource } from '../driver/connections.ts'
import type { Database } from '../language/database.ts'
import type { ChangeFeed, StoredState } from '../records/change-feed.ts'
import { readTransaction, type StoredTables, TRANSACTION_OVER } from './read-transaction.ts'

/** A snapshot that the database is asked for with the first statement, for a read that may need none. */
class DeferredSnapshot implements RowSource {
  readonly #database: Database
  readonly #readers: ConnectionSource
  readonly #feed: ChangeFeed
  readonly #state: StoredState
  #connection: Promise<Connection> | undefined
  #using: Promise<void> | undefined
  #hasMoved = false
  #isOver = false
  #letGo: () => void = () => undefined

  /** A snapshot of `state`, as long as nobody writes before the first statement. */
  constructor(database: Database, readers: ConnectionSource, feed: ChangeFeed, state: StoredState) {
    this.#database = database
    this.#readers = readers
    this.#feed = feed
    this.#state = state
  }

  /** Whether somebody wrote before the first statement, which was refused then with all that followed. */
  get hasMoved(): boolean {
    return this.#hasMoved
  }

  async rows(query: CompiledQuery): Promise<readonly Row[]> {
    if (this.#isOver) throw new Error(TRANSACTION_OVER)
    this.#connection ??= this.#begin()
    return (await this.#connection).rows(query)
  }

  /** Lets go of the connection, where there is one. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#letGo()
    await this.#using
  }

  #begin(): Promise<Connection> {
    const ended = new Promise<void>((resolve) => {
      this.#letGo = resolve
    })
    return new Promise((resolve, reject) => {
      const hold = async (connection: Connection) => {
        await connection.command(this.#database.language.beginRead)
        try {
          const { revision } = await this.#feed.read(connection)
          this.#hasMoved = revision !== this.#state.revision
          if (this.#hasMoved) throw new StorageUnavailable('busy', 'another write came between a look and its snapshot')
          resolve(connection)
          await ended
        } finally {
          await connection.command('commit').catch(() => {
            connection.isBroken = true
          })
        }
      }
      this.#using = this.#readers.use(hold).catch(reject)
    })
  }
}

/**
 * Asks a database where it stands. Those who ask while a look is under way share the next one: each sees what was committed
 * when it asked, and a hundred at a time cost little more than one.
 */
export class SharedLook {
  readonly #readers: ConnectionSource
  readonly #feed: ChangeFeed
  #underWay: Promise<unknown> | undefined
  #next: Promise<StoredState> | undefined

  constructor(readers: ConnectionSource, feed: ChangeFeed) {
    this.#readers = readers
    this.#feed = feed
  }

  /** The state of the database at a moment after the call. */
  take(): Promise<StoredState> {
    this.#next ??= this.#takeNext()
    return this.#next
  }

  async #takeNext(): Promise<StoredState> {
    await this.#underWay
    // From here on it is too late to join this look.
    this.#next = undefined
    const look = this.#readers.use((connection) => this.#feed.read(connection))
    const over = look.then(nothing, nothing)
    this.#underWay = over
    try {
      return await look
    } finally {
      if (this.#underWay === over) this.#underWay = undefined
    }
  }
}

function nothing(): void {}

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
