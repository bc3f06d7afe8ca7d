import type { Storage } from 'portcullis'
import type { Collection, RecordKind, StoredRecord, WriteTransaction } from 'portcullis/storage'

/** A storage that counts how many records each committed write inserts, updates or deletes, the audit trail aside. */
export interface CountedStorage extends Storage {
  /** The changes of each write since the last look, oldest first; writes that changed nothing are left out. */
  take(): readonly number[]
}

/** A write that calls `count` for each record that it inserts, updates or deletes. */
export function counting(tx: WriteTransaction, count: () => void): WriteTransaction {
  return {
    revision: tx.revision,
    line: tx.line,
    changesSince: (revision, line) => tx.changesSince(revision, line),
    collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T> {
      const inner = tx.collection(kind)
      if (kind.name.startsWith('audit-')) return inner
      const counted = async <R>(change: Promise<R>) => {
        count()
        return change
      }
      return {
        get: (id) => inner.get(id),
        find: (query) => inner.find(query),
        findIds: (query) => inner.findIds(query),
        scan: (fields) => inner.scan(fields),
        insert: (record) => counted(inner.insert(record)),
        update: (record) => counted(inner.update(record)),
        delete: (id) => counted(inner.delete(id)),
      }
    },
  }
}

/** Wraps a storage. */
export function countedWrites(storage: Storage): CountedStorage {
  let counts: number[] = []
  return {
    ...storage,
    async write(work) {
      let changes = 0
      const result = await storage.write((tx) => {
        changes = 0
        return work(counting(tx, () => (changes += 1)))
      })
      if (changes > 0) counts.push(changes)
      return result
    },
    take() {
      const taken = counts
      counts = []
      return taken
    },
  }
}

/** Inserts `count` copies of a stored record, which differ as `change` says. */
export async function copyRecord<T extends StoredRecord>(
  storage: Storage,
  kind: RecordKind<T>,
  id: string,
  count: number,
  change: (position: number) => Partial<T>,
): Promise<void> {
  await storage.write(async (tx) => {
    const collection = tx.collection(kind)
    const original = await collection.get(id)
    if (original === undefined) throw new Error(`no ${kind.name} ${id}`)
    for (let position = 0; position < count; position += 1) {
      await collection.insert({ ...original, id: `${id}-${position}`, ...change(position) })
    }
  })
}
