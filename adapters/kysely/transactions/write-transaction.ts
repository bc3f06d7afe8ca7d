import type { Connection } from '../connections/connection.ts'
import type { Change, Collection, RecordKind, StoredRecord, WriteTransaction } from '../core.ts'
import { deleteRecord, insertRecord, updateRecord } from '../records/write-record.ts'
import type { Lifetime } from './lifetime.ts'
import { readCollection, readTransaction } from './read-transaction.ts'
import type { Shared } from './shared.ts'
import type { StoredState } from './state.ts'

/** What one write has done so far. */
export class Draft {
  readonly state: StoredState
  readonly changes: Change[] = []
  /** The first error by which a change may have been left half done; the write is then rolled back, caught or not. */
  failure: unknown

  constructor(state: StoredState) {
    this.state = state
  }

  note(kind: RecordKind, id: string, operation: Change['operation']): void {
    this.changes.push({ revision: this.state.revision + 1, kind: kind.name, id, operation })
  }
}

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
