import type { ChangeFeed } from './change-feed.ts'
import type { Lifetime, ReadCollection, ReadTransaction, RecordKind, StoredRecord } from './core.ts'
import { find } from './find.ts'
import { scan } from './scan.ts'
import type { State } from './state.ts'
import type { Table } from './table.ts'
import type { Turns } from './turns.ts'

/** What all transactions of one storage share. */
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
export function readCollection<T extends StoredRecord>(
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
