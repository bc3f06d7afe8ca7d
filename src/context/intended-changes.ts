import { compareBy, matches } from '../kernel/filter/index.ts'
import type { FindQuery, ReadCollection, ReadTransaction, RecordKind, StoredRecord } from '../ports/record-storage.ts'
import type { RecordedChange } from './recorded-changes.ts'
import { placeOf } from './store-level.ts'

/**
 * Shows the records of a write as they will be after further changes: records to be deleted are absent, and records to be changed have
 * their new values. Scans show the current records.
 */
export function asIntended(tx: ReadTransaction, intended: readonly RecordedChange[]): ReadTransaction {
  return {
    ...placeOf(tx),
    changesSince: (revision, line) => tx.changesSince(revision, line),
    collection: <T extends StoredRecord>(kind: RecordKind<T>) => {
      // The changes of a kind hold its records, which no type of `kind` can say.
      const own = intended.filter(
        (change) => change.kind === kind.name,
      ) as readonly unknown[] as readonly RecordedChange<T>[]
      return own.length === 0 ? tx.collection(kind) : intendedCollection(tx.collection(kind), own)
    },
  }
}

function intendedCollection<T extends StoredRecord>(
  collection: ReadCollection<T>,
  changes: readonly RecordedChange<T>[],
): ReadCollection<T> {
  const after = new Map(changes.map((change) => [change.id, change.after]))
  const find = async ({ where, orderBy = [], limit, offset = 0 }: FindQuery = {}) => {
    const page = await collection.find({ ...(where && { where }) })
    const unchanged = page.items.filter(({ id }) => !after.has(id))
    const changed = [...after.values()].filter((record): record is T & {} => {
      return record !== undefined && (where === undefined || matches(where, record))
    })
    const items = [...unchanged, ...changed].sort(compareBy<T>(orderBy))
    const { damaged } = page
    const totalCount = items.length + (damaged?.length ?? 0)
    const end = limit === undefined ? undefined : offset + limit
    return { items: items.slice(offset, end), totalCount, ...(damaged && { damaged }) }
  }
  return {
    get: (id) => (after.has(id) ? Promise.resolve(after.get(id)) : collection.get(id)),
    find,
    findIds: async (query) => (await find(query)).items.map(({ id }) => id),
    scan: (fields) => collection.scan(fields),
  }
}
