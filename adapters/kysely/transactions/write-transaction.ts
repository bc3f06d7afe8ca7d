import type { Connection } from '../connections/connection.ts'
import type { Collection, RecordKind, StoredRecord, WriteTransaction } from '../core.ts'
import { deleteRecord, insertRecord, updateRecord } from '../records/write-record.ts'
import type { Draft } from './draft.ts'
import type { Lifetime } from './lifetime.ts'
import { readCollection, readTransaction } from './read-transaction.ts'
import type { Shared } from './shared.ts'

/** Reads and changes of one write. */
export function writeTransaction(
  shared: Shared,
  connection: Connection,
  draft: Draft,
  lifetime: Lifetime,
): WriteTransaction {
  return {
    ...readTransaction(shared, connection, draft.state, lifetime),
    collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T> {
      lifetime.assertOpen()
      const writer = { shared, connection, draft, lifetime, table: shared.tableOf(kind) }
      return {
        ...readCollection<T>(shared, connection, kind, lifetime),
        insert: (record) => insertRecord(writer, record),
        update: (record) => updateRecord(writer, record),
        delete: (id) => deleteRecord(writer, id),
      }
    },
  }
}
