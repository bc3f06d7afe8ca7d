import type { Collection, Lifetime, RecordKind, StoredRecord, WriteTransaction } from './core.ts'
import { freezeRecord } from './frozen-record.ts'
import { readCollection, readTransaction, type Shared } from './read-transaction.ts'
import type { Draft } from './state.ts'

/** Reads and changes of one draft. */
export function writeTransaction(shared: Shared, draft: Draft, lifetime: Lifetime): WriteTransaction {
  return {
    ...readTransaction(shared, draft.base, lifetime),
    collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T> {
      lifetime.assertOpen()
      return writeCollection<T>(shared, draft, kind, lifetime)
    },
  }
}

function writeCollection<T extends StoredRecord>(
  shared: Shared,
  draft: Draft,
  kind: RecordKind,
  lifetime: Lifetime,
): Collection<T> {
  return {
    ...readCollection<T>(shared, lifetime, () => draft.table(kind)),
    async insert(record) {
      lifetime.assertOpen()
      draft.editableTable(kind).insert(freezeRecord(record))
      draft.note(kind, record.id, 'insert')
    },
    async update(record) {
      lifetime.assertOpen()
      const isFound = draft.editableTable(kind).update(freezeRecord(record))
      if (isFound) draft.note(kind, record.id, 'update')
      return isFound
    },
    async delete(id) {
      lifetime.assertOpen()
      const isFound = draft.editableTable(kind).delete(id)
      if (isFound) draft.note(kind, id, 'delete')
      return isFound
    },
  }
}
