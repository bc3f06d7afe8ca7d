import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import type { ReadTransaction, StoredRecord } from '../ports/record-storage.ts'
import { collectionOf, ifReadable } from './read-records.ts'

/** The `dueAt` of a record that is never due: the last instant that a date can hold. */
export const NEVER = 8.64e15

/** Records in one read. */
const BATCH = 100

/** The due records of a kind, and the instant of the next. */
interface Due {
  readonly ids: readonly string[]
  /** Epoch ms; undefined where more than `ids` is due, or no further record will be due. */
  readonly next: number | undefined
}

/** A resource whose records hold the instant at which they are due: `dueAt`, epoch ms, indexed. */
type WithDueAt = Resource & { readonly recordType?: StoredRecord & { readonly dueAt: number } }

/**
 * Finds the first records that are due at `now` (epoch ms), whichever process wrote them. The cost depends on the number of due records
 * only.
 */
export async function dueRecords<R extends WithDueAt>(tx: ReadTransaction, resource: R, now: number): Promise<Due> {
  const collection = collectionOf(tx, resource)
  const due: string[] = []
  const orderBy = [{ field: 'dueAt', kind: 'instant', direction: 'asc' }] as const
  for (const id of await collection.findIds({ orderBy, limit: BATCH })) {
    const record: RecordOf<R> | undefined = await ifReadable(() => collection.get(id))
    // An unreadable record is left to the repair of the store.
    if (record === undefined) continue
    const dueAt = Number(record.dueAt)
    if (dueAt > now) return { ids: due, next: dueAt === NEVER ? undefined : dueAt }
    due.push(id)
  }
  return { ids: due, next: undefined }
}
