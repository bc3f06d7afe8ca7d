import { cachedCollection, type RecordSource } from '../cache/cached-collection.ts'
import type { CachedReads } from '../cache/cached-reads.ts'
import type { Connection } from '../connections/connection.ts'
import type { Page, ReadCollection, ReadTransaction, RecordKind, StoredRecord } from '../core.ts'
import { find } from '../records/find.ts'
import { decodeRecord } from '../records/record-row.ts'
import { isStorable } from '../values/text.ts'
import type { Lifetime } from './lifetime.ts'
import type { Shared } from './shared.ts'
import type { StoredState } from './state.ts'

/** Reads through one connection, whose snapshot has reached `state`; from the cache what it holds, where one is given. */
export function readTransaction(
  shared: Shared,
  connection: Connection,
  state: StoredState,
  lifetime: Lifetime,
  cached?: CachedReads,
): ReadTransaction {
  return {
    revision: state.revision,
    collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T> {
      lifetime.assertOpen()
      return readCollection<T>(shared, connection, kind, lifetime, cached)
    },
    async changesSince(revision) {
      lifetime.assertOpen()
      return shared.state.changesSince(connection, state, revision)
    },
  }
}

export function readCollection<T extends StoredRecord>(
  shared: Shared,
  connection: Connection,
  kind: RecordKind,
  lifetime: Lifetime,
  cached?: CachedReads,
): ReadCollection<T> {
  const table = shared.tableOf(kind)
  const statements = shared.statementsOf(table)
  const search: RecordSource['find'] = (query, recordOf) => find(shared.database, connection, table, query, recordOf)
  const stored: ReadCollection<StoredRecord> = {
    async get(id) {
      if (!isStorable(id)) return undefined
      const [row] = await connection.rows(statements.get([id]))
      return row && decodeRecord(table, row)
    },
    find: (query = {}) => search(query, (row) => decodeRecord(table, row)),
  }
  const collection =
    cached === undefined ? stored : cachedCollection(cached, { connection, table, statements, find: search })
  return {
    async get(id) {
      lifetime.assertOpen()
      return ofKind<T | undefined>(await collection.get(id))
    },
    async find(query) {
      lifetime.assertOpen()
      return ofKind<Page<T>>(await collection.find(query))
    },
  }
}

function ofKind<R>(stored: unknown): R {
  // A table is reached through its kind alone, so what it holds is what the kind's own insert and update took in.
  return stored as R
}
