import type {
  Lifetime,
  Page,
  ReadCollection,
  ReadTransaction,
  RecordKind,
  Slice,
  StoredRecord,
} from '../../../src/storage.ts'
import { type CachedReads, cachedCollection, type RecordReads, type RecordSource } from '../cache/cached-collection.ts'
import type { RowSource } from '../driver/connections.ts'
import type { Database } from '../language/database.ts'
import { type ChangeFeed, changeFeed, type StoredState } from '../records/change-feed.ts'
import { find, findIds, scan } from '../records/find.ts'
import { type RecordStatements, recordStatements } from '../records/record-statements.ts'
import { decodeRecord, pageOf, readable } from '../records/write-record.ts'
import { isStorable } from '../schema/field-value.ts'
import type { RecordTable, RecordTables } from '../schema/record-table.ts'

/** The message of an error for whoever uses a transaction after its end. */
export const TRANSACTION_OVER = 'the transaction has ended: what it gave out cannot be used any more'

/** Reads through one connection, whose snapshot has reached `state`; from the cache what it holds, where one is given. */
export function readTransaction(
  stored: StoredTables,
  connection: RowSource,
  state: StoredState,
  lifetime: Lifetime,
  cached?: CachedReads,
): ReadTransaction {
  return {
    revision: state.revision,
    collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T> {
      lifetime.assertOpen()
      return readCollection<T>(stored, connection, kind, lifetime, cached)
    },
    async changesSince(revision) {
      lifetime.assertOpen()
      const isKnown = cached?.cache.revision === state.revision && revision <= state.revision
      return (isKnown && cached.cache.changesSince(revision)) || stored.feed.changesSince(connection, state, revision)
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
    // A journal is what it is in its table: who verifies it asks for that.
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
  // A table is reached through its kind alone, so what it holds is what the kind's own insert and update took in.
  return stored as R
}

/** The tables of one storage and the statements on them, which all its transactions share. */
export interface StoredTables {
  readonly database: Database
  readonly feed: ChangeFeed
  /** The table of a kind. Throws a TypeError for a kind that the storage was not opened for. */
  tableOf(kind: RecordKind): RecordTable
  statementsOf(table: RecordTable): RecordStatements
}

export function storedTables(database: Database, kinds: RecordTables): StoredTables {
  const statements = new Map<RecordTable, RecordStatements>()
  return {
    database,
    feed: changeFeed(database),
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
