import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import type { ReadTransaction, StoredRecord } from '../ports/record-storage.ts'
import { collectionOf, ifReadable } from './read-records.ts'

/** The `dueAt` of a record at which time never looks: the last instant that dates can tell. */
export const NEVER = 8.64e15

/** The records looked at in one read. */
const BATCH = 100

/** The records of a kind that are due, and when the next one is. */
interface Due {
  readonly ids: readonly string[]
  /** Epoch ms; undefined where more than `ids` is due, or nothing is due ever. */
  readonly next: number | undefined
}

/** A resource whose records say when time looks at them: `dueAt`, epoch ms, indexed. */
type WithDueAt = Resource & { readonly recordType?: StoredRecord & { readonly dueAt: number } }

/** Finds the first records that are due at `now` (epoch ms), whichever process wrote them. It costs what is due. */
export async function dueRecords<R extends WithDueAt>(tx: ReadTransaction, resource: R, now: number): Promise<Due> {
  const collection = collectionOf(tx, resource)
  const due: string[] = []
  const orderBy = [{ field: 'dueAt', kind: 'instant', direction: 'asc' }] as const
  for (const id of await collection.findIds({ orderBy, limit: BATCH })) {
    const record: RecordOf<R> | undefined = await ifReadable(() => collection.get(id))
    // A record that cannot be read is left to the repair of the store.
    if (record === undefined) continue
    const dueAt = Number(record.dueAt)
    if (dueAt > now) return { ids: due, next: dueAt === NEVER ? undefined : dueAt }
    due.push(id)
  }
  return { ids: due, next: undefined }
}
