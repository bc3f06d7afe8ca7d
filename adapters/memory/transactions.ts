import type {
  Collection,
  Lifetime,
  ReadCollection,
  ReadTransaction,
  RecordKind,
  StoredRecord,
  WriteTransaction,
} from './core.ts'
import { freezeRecord } from './frozen-record.ts'
import { find, scan } from './lookup.ts'
import type { ChangeFeed, Draft, State } from './state.ts'
import type { Table } from './table.ts'
import type { Turns } from './turns.ts'

/** The state that all transactions of one storage share. */
export interface Shared {
  readonly feed: ChangeFeed
  readonly turns: Turns
}

/** Reads of one committed state. */
export function readTransaction(shared: Shared, state: State, lifetime: Lifetime): ReadTransaction {
  return {
    revision: state.revision,
    collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T> {
      lifetime.assertOpen()
      const table = state.table(kind)
      return readCollection<T>(shared, lifetime, () => table)
    },
    async changesSince(revision) {
      lifetime.assertOpen()
      return shared.feed.between(revision, state.revision)
    },
  }
}

/** Reads of one kind of record, each of the table as it is at the time. */
function readCollection<T extends StoredRecord>(
  { turns }: Shared,
  lifetime: Lifetime,
  table: () => Table,
): ReadCollection<T> {
  return {
    async get(id) {
      lifetime.assertOpen()
      return ofKind<T | undefined>(table().records.get(id))
    },
    async find(query = {}) {
      lifetime.assertOpen()
      // Held still, because the write may go on changing the table while a long scan is under way.
      const { items, totalCount } = await find(table().clone(), query, turns)
      return { items: ofKind<readonly T[]>(items), totalCount }
    },
    async findIds(query = {}) {
      lifetime.assertOpen()
      return (await find(table().clone(), query, turns)).items.map(({ id }) => id)
    },
    async *scan() {
      lifetime.assertOpen()
      for await (const items of scan(table().clone(), turns)) {
        yield { items: ofKind<readonly T[]>(items) }
        lifetime.assertOpen()
      }
    },
  }
}

function ofKind<R>(stored: unknown): R {
  // A table is reached through its kind alone, so what it holds is what the kind's own insert and update took in.
  return stored as R
}

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
