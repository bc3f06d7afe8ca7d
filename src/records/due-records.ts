import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import type { Filter } from '../kernel/filter/index.ts'
import type { ReadTransaction, StoredRecord } from '../ports/record-storage.ts'
import { collectionOf, ifReadable } from './read-records.ts'

/** The `dueAt` of a record that is never due: the last instant that a date can hold. */
export const NEVER = 8.64e15

/** Records in one read. */
const RECORDS_PER_READ = 100

/** The due records of a kind, and the instant of the next. */
interface Due {
  readonly ids: readonly string[]
  /** Epoch ms; undefined where more than `ids` is due, or no further record will be due. */
  readonly next: number | undefined
}

/** A resource whose records hold the instant at which they are due in a field: epoch ms, indexed. */
type WithInstant<F extends string> = Resource & {
  readonly recordType?: StoredRecord & { readonly [Field in F]: number | null }
}

/**
 * Finds the first records that are due by a field at `now` (epoch ms), whichever process wrote them. `where` leaves out the records without
 * an instant, of a field that may be null. The cost depends on the number of due records only.
 */
export async function dueRecords<F extends string, R extends WithInstant<F>>(
  tx: ReadTransaction,
  resource: R,
  field: F,
  now: number,
  where?: Filter,
): Promise<Due> {
  const collection = collectionOf(tx, resource)
  const due: string[] = []
  const orderBy = [{ field, kind: 'instant', direction: 'asc' }] as const
  for (const id of await collection.findIds({ ...(where && { where }), orderBy, limit: RECORDS_PER_READ })) {
    const record: RecordOf<R> | undefined = await ifReadable(() => collection.get(id))
    // An unreadable record is left to the repair of the store.
    if (record === undefined) continue
    const at = Number(record[field])
    if (at > now) return { ids: due, next: at === NEVER ? undefined : at }
    due.push(id)
  }
  return { ids: due, next: undefined }
}
