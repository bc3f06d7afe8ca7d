import type { Collection, RecordKind, StoredRecord, WriteTransaction } from '../../../src/index.ts'
import type { CachedReads } from '../cache/cached-reads.ts'
import { deleteRecord, insertRecord, type RecordWriter, updateRecord } from '../records/write-record.ts'
import type { Draft } from './draft.ts'
import { readCollection, readTransaction } from './read-transaction.ts'
import type { StoredTables } from './stored-tables.ts'

/** Reads and changes of one write; what is not changed yet is read from the cache, where one is given that is level with it. */
export function writeTransaction(stored: StoredTables, draft: Draft, cached?: CachedReads): WriteTransaction {
  const { connection, lifetime, state } = draft
  return {
    ...readTransaction(stored, connection, state, lifetime, cached),
    collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T> {
      lifetime.assertOpen()
      const table = stored.tableOf(kind)
      const { database } = stored
      const writer: RecordWriter = { database, table, statements: stored.statementsOf(table), write: draft }
      return {
        ...readCollection<T>(stored, connection, kind, lifetime, cached),
        async insert(record) {
          lifetime.assertOpen()
          await insertRecord(writer, record)
        },
        async update(record) {
          lifetime.assertOpen()
          return updateRecord(writer, record)
        },
        async delete(id) {
          lifetime.assertOpen()
          return deleteRecord(writer, id)
        },
      }
    },
  }
}
