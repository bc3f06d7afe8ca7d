import { equals } from '../../domain/filter/index.ts'
import { tooLarge } from '../../domain/limits.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf, Resource } from '../../resources/resource.ts'
import type { EngineContext } from '../context/context.ts'
import { deleteEntity } from './deletion.ts'

/** So many are ended for a new one at most, where a store holds more than the limit from before. */
const ENDED_AT_ONCE = 10

/**
 * Makes room for a record that is about to be inserted, by the declaration of its resource: beyond the limit the earliest
 * records of its owner are ended. Error: `COULD_NOT_VALIDATE` naming the owner's field and the limit where none is.
 */
export async function makeRoom<R extends Resource>(
  { settings: { limits } }: EngineContext,
  tx: WriteTransaction,
  resource: R,
  record: RecordOf<R>,
): Promise<void> {
  const { mostPerOwner, storeName } = resource.definition
  if (mostPerOwner === undefined) return
  const { owner, limit, endsEarliest } = mostPerOwner
  const of: unknown = record[owner]
  if (typeof of !== 'string') return
  const most = limits[limit]
  const where = equals(owner, of)
  const { totalCount } = await tx.collection(resource).find({ where, limit: 0 })
  if (totalCount < most) return
  if (endsEarliest === undefined) throw tooLarge(owner, `${totalCount} ${storeName}`, most, limit)
  const orderBy = [...new Set([endsEarliest, 'createdAt'])].map(earliestFirst)
  const beyond = Math.min(totalCount - most + 1, ENDED_AT_ONCE)
  const { items } = await tx.collection(resource).find({ where, orderBy, limit: beyond })
  for (const { id } of items) await deleteEntity(tx, resource, id)
}

function earliestFirst(field: string) {
  return { field, kind: 'instant', direction: 'asc' } as const
}
