import { type Collection, DamagedRecord, type StoredRecord, type WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'

/** What a write did to one record. `before` is kept for the kinds that somebody asks for it. */
export interface RecordedChange<T extends StoredRecord = StoredRecord> {
  readonly operation: 'insert' | 'update' | 'delete'
  readonly kind: string
  readonly id: string
  readonly before?: T | undefined
  readonly after?: T | undefined
}

/** Kinds of which it matters what they were before: what was lost, and to whom, and whose rights that concerns. */
const WITH_BEFORE: ReadonlySet<string> = new Set([
  'api-sessions',
  'auth-policies',
  'authenticators',
  'cas',
  'enrollments',
  'external-jwt-signers',
  'identities',
  'mfas',
  'service-configs',
  'services',
  'sessions',
])

/** The changes to records of one resource, in the order in which they were made. */
export function changesTo<R extends Resource>(
  changes: readonly RecordedChange[],
  resource: R,
): readonly RecordedChange<RecordOf<R>>[] {
  // The collection of a resource holds its records, which no type of `kind` can say.
  return changes.filter(({ kind }) => kind === resource.name) as readonly unknown[] as readonly RecordedChange<
    RecordOf<R>
  >[]
}

/** The write, noting in `changes` what is done through it. */
export function recording(tx: WriteTransaction, changes: RecordedChange[]): WriteTransaction {
  return {
    revision: tx.revision,
    changesSince: (revision) => tx.changesSince(revision),
    collection: (kind) => recordingCollection(kind.name, tx.collection(kind), changes),
  }
}

function recordingCollection<T extends StoredRecord>(
  kind: string,
  collection: Collection<T>,
  changes: RecordedChange[],
): Collection<T> {
  const beforeOf = async (id: string) => (WITH_BEFORE.has(kind) ? whatIsLeft(() => collection.get(id)) : undefined)
  return {
    get: (id) => collection.get(id),
    find: (query) => collection.find(query),
    findIds: (query) => collection.findIds(query),
    scan: (fields) => collection.scan(fields),
    insert: async (record) => {
      await collection.insert(record)
      changes.push({ operation: 'insert', kind, id: record.id, after: record })
    },
    update: async (record) => {
      const before = await beforeOf(record.id)
      const updated = await collection.update(record)
      if (updated) changes.push({ operation: 'update', kind, id: record.id, before, after: record })
      return updated
    },
    delete: async (id) => {
      const before = await beforeOf(id)
      const deleted = await collection.delete(id)
      if (deleted) changes.push({ operation: 'delete', kind, id, before })
      return deleted
    },
  }
}

/** What is read, or what is left of it: for those who only have to know that it was there, and whose it was. */
export async function whatIsLeft<T extends StoredRecord>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    // A storage fills in every field that cannot be read with what its kind declares for it.
    if (error instanceof DamagedRecord) return error.remains as T
    throw error
  }
}
