import type { EndReasons } from '../context/writes.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import type { Filter } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { forgetInRoleLists, referencesTo, refersTo, refuseReferenced } from './references.ts'
import { changeEach, MORE, WHOLE, type WriteBatch } from './write-batches.ts'

/** Ids that are read at a time. */
const IDS_PER_READ = 100

/**
 * Removes an entity, the records that by declaration are deleted with it, and its `@id` from every role list. False for an unknown entity.
 * Throws `CAN_NOT_DELETE_REFERENCED_ENTITY` while another entity needs it.
 */
export async function deleteEntity(tx: WriteTransaction, resource: Resource, id: string): Promise<boolean> {
  return (await deleteBatch(tx, resource, id, WHOLE)) === true
}

/**
 * The same up to the end of a batch: first the dependent records, then the references to the entity, and the entity with the last batch.
 */
export async function deleteBatch(
  tx: WriteTransaction,
  resource: Resource,
  id: string,
  batch: WriteBatch,
): Promise<boolean | typeof MORE> {
  await refuseReferenced(tx, resource, id)
  const references = referencesTo(resource)
  for (const { resource: holders, field } of references.filter(({ onDelete }) => onDelete === 'cascade')) {
    if ((await deleteEach(tx, holders, refersTo(holders, field, id), batch)) === MORE) return MORE
  }
  for (const reference of references.filter(({ onDelete }) => onDelete === 'clear')) {
    const { resource: holders, field } = reference
    const isDone = await changeEach(tx, holders, refersTo(holders, field, id), batch, (record) =>
      without(record, field, id),
    )
    if (!isDone) return MORE
  }
  if ((await forgetInRoleLists(tx, resource.name, id, batch)) === MORE) return MORE
  batch.count()
  return tx.collection(resource).delete(id)
}

/** Removes the entities that match `where` with their dependent records, up to the end of a batch. */
export async function deleteEach(
  tx: WriteTransaction,
  resource: Resource,
  where: Filter,
  batch: WriteBatch,
): Promise<undefined | typeof MORE> {
  const remaining = () => tx.collection(resource).findIds({ where, limit: IDS_PER_READ })
  for (let found = await remaining(); found.length > 0; found = await remaining()) {
    for (const id of found) {
      if (batch.isOver() || (await deleteBatch(tx, resource, id, batch)) === MORE) return MORE
    }
  }
  return undefined
}

/** The reasons for which sessions end with an entity of a resource, the same in each batch of the deletion. */
export function endReasonsOf({ name }: Resource): EndReasons {
  if (name === 'services') return { sessions: 'service-deleted' }
  if (name === 'identities') return { sessions: 'api-session-ended', apiSessions: 'identity-deleted' }
  return name === 'sessions' ? {} : { sessions: 'api-session-ended' }
}

function without(record: RecordOf<Resource>, field: string, id: string): RecordOf<Resource> {
  const value = record[field]
  return { ...record, [field]: Array.isArray(value) ? value.filter((other) => other !== id) : null }
}
