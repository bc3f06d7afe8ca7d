import type { CompiledQuery } from 'kysely'
import { isStorable } from '../../../../src/base/text.ts'
import {
  isSamePoint,
  Lifetime,
  type Page,
  type ReadCollection,
  type ReadOptions,
  type ReadTransaction,
  type RecordKind,
  type Slice,
  StorageUnavailable,
  type StoredRecord,
} from '../../../../src/storage.ts'
import {
  type CachedReads,
  cachedCollection,
  cachedNow,
  levelReads,
  type RecordReads,
  type RecordSource,
} from '../cache/cached-collection.ts'
import type { RecordCache } from '../cache/record-cache.ts'
import type { Database } from '../driver/language.ts'
import type { Connection, ConnectionSource, Row, RowSource } from '../driver/pooled-connections.ts'
import { type ChangeFeed, changeFeed, type StoredState } from '../records/change-feed.ts'
import { find, findIds, scan } from '../records/find.ts'
import { type JointStatements, jointStatements } from '../records/joint-statements.ts'
import { type RecordStatements, recordStatements } from '../records/record-statements.ts'
import { decodeRecord, pageOf, readable } from '../records/write-record.ts'
import type { RecordTable, RecordTables } from '../schema/record-table.ts'

/** The message of the error when a transaction is used after its end. */
export const TRANSACTION_OVER = 'the transaction has ended: what it gave out cannot be used any more'

/** Reads through one connection, whose snapshot has reached `state`. Where a cache is given, its records are read from there. */
export function readTransaction(
  stored: StoredTables,
  connection: RowSource,
  state: StoredState,
  lifetime: Lifetime,
  cached?: CachedReads,
): ReadTransaction {
  return {
    revision: state.revision,
    line: state.line,
    collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T> {
      lifetime.assertOpen()
      return readCollection<T>(stored, connection, kind, lifetime, cached)
    },
    async changesSince(revision, line) {
      lifetime.assertOpen()
      const since = { revision, line }
      const isKnown = cached?.cache.isAt(state) && revision <= state.revision
      const known = isKnown ? cached?.cache.changesSince(since) : undefined
      return known ?? (await stored.feed.changesSince(connection, state, since))?.changes
    },
  }
}

export function readCollection<T extends StoredRecord>(
  stored: StoredTables,
  connection: RowSource,
  kind: RecordKind,
  lifetime: Lifetime,
  cached?: CachedReads,
): ReadCollection<T> {
  const table = stored.tableOf(kind)
  const statements = stored.statementsOf(table)
  const search: RecordSource['find'] = (query, recordOf) => find(stored.database, connection, table, query, recordOf)
  const inTables: RecordReads = {
    async get(id) {
      if (!isStorable(id)) return undefined
      const [row] = await connection.rows(statements.get([id]))
      return row && readable(decodeRecord(table, row))
    },
    find: (query = {}) => search(query, (row) => decodeRecord(table, row)),
  }
  const collection =
    // A journal is always read from its table: a verifier must see the stored rows.
    cached === undefined || kind.isJournal
      ? inTables
      : cachedCollection(cached, { connection, table, statements, find: search })
  return {
    async get(id) {
      lifetime.assertOpen()
      return ofKind<T | undefined>(await collection.get(id))
    },
    async find(query) {
      lifetime.assertOpen()
      return ofKind<Page<T>>(await collection.find(query))
    },
    async findIds(query = {}) {
      lifetime.assertOpen()
      return findIds(stored.database, connection, table, query)
    },
    async *scan(fields) {
      lifetime.assertOpen()
      for await (const found of scan(stored.database, connection, table, fields)) {
        yield ofKind<Slice<T>>(pageOf(found, found.length))
        lifetime.assertOpen()
      }
    },
  }
}

function ofKind<R>(stored: unknown): R {
  // A table is reached through its kind alone, so its records came through the kind's own insert and update.
  return stored as R
}

/** The tables of one storage and the statements on them, which all its transactions share. */
export interface StoredTables {
  readonly database: Database
  readonly feed: ChangeFeed
  readonly runJointly: JointStatements
  /** The table of a kind. Throws a TypeError for a kind that the storage was not opened for. */
  tableOf(kind: RecordKind): RecordTable
  statementsOf(table: RecordTable): RecordStatements
}

export function storedTables(database: Database, kinds: RecordTables): StoredTables {
  const statements = new Map<RecordTable, RecordStatements>()
  return {
    database,
    feed: changeFeed(database),
    runJointly: jointStatements(database),
    tableOf({ name }) {
      const table = kinds.get(name)
      if (table === undefined) throw new TypeError(`the storage was not opened for records of the kind ${name}`)
      return table
    },
    statementsOf(table) {
      let made = statements.get(table)
      if (made === undefined) {
        made = recordStatements(database, table)
        statements.set(table, made)
      }
      return made
    },
  }
}

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

  /** A snapshot of `state`, unless a write commits before the first statement. */
  constructor(database: Database, readers: ConnectionSource, feed: ChangeFeed, state: StoredState) {
    this.#database = database
    this.#readers = readers
    this.#feed = feed
    this.#state = state
  }

  /** Whether a write committed before the first statement. That statement and all later ones were refused then. */
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
          this.#hasMoved = !isSamePoint(await this.#feed.read(connection), this.#state)
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
 * Asks a database for its revision. Readers that ask during a look share the next look: each reader sees every commit from before its
 * question, and a hundred readers cost little more than one.
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
 * Runs reads over snapshots of the database, and answers from the cache where it can. A read that may begin again asks only for the
 * database's revision. When the cache has that revision, the read needs no snapshot until a record is missing.
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
    if (!mayBeginAgain || cache === undefined || cache.place.revision < 0) return this.#overSnapshot(work)
    const state = await this.#look.take()
    // Nor is a database where the cache is that was put back to an older state.
    if (!cache.isAt(state)) return this.#overSnapshot(work)
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
      const before = cache?.place.revision ?? 0
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
