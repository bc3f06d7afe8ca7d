import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'
import type { EndReasons } from '../context/writes.ts'
import { MORE, type Part, WHOLE } from './parts.ts'
import { findDependentIds, findDependents, referencesTo, refuseReferenced } from './references.ts'
import { forgetInRoleLists } from './role-lists.ts'

/** So many ids are read at a time. */
const BATCH = 100

/**
 * Removes an entity, what its references' declarations say goes with it, and its `@id` from every role list. Answers
 * whether it was there. Throws `CAN_NOT_DELETE_REFERENCED_ENTITY` while another entity needs it.
 */
export async function deleteEntity(tx: WriteTransaction, resource: Resource, id: string): Promise<boolean> {
  return (await deletePart(tx, resource, id, WHOLE)) === true
}

/** The same as far as a part goes: what goes with the entity goes first, and the entity with the last part. */
export async function deletePart(
  tx: WriteTransaction,
  resource: Resource,
  id: string,
  part: Part,
): Promise<boolean | typeof MORE> {
  await refuseReferenced(tx, resource, id)
  const references = referencesTo(resource)
  for (const reference of references.filter(({ onDelete }) => onDelete === 'cascade')) {
    const remaining = () => findDependentIds(tx, reference, id, BATCH)
    for (let holders = await remaining(); holders.length > 0; holders = await remaining()) {
      for (const holder of holders) {
        if (part.isOver() || (await deletePart(tx, reference.resource, holder, part)) === MORE) return MORE
      }
    }
  }
  for (const reference of references.filter(({ onDelete }) => onDelete === 'clear')) {
    for (const record of await findDependents(tx, reference, id)) await takeOut(tx, reference, record, id)
  }
  await forgetInRoleLists(tx, resource.name, id)
  part.count()
  return tx.collection(resource).delete(id)
}

/** Why sessions end that go with an entity of a resource, whichever part of the deletion takes them. */
export function endReasonsOf({ name }: Resource): EndReasons {
  if (name === 'services') return { sessions: 'service-deleted' }
  if (name === 'identities') return { sessions: 'api-session-ended', apiSessions: 'identity-deleted' }
  return name === 'sessions' ? {} : { sessions: 'api-session-ended' }
}

async function takeOut(
  tx: WriteTransaction,
  { resource, field }: { readonly resource: Resource; readonly field: string },
  record: RecordOf<Resource>,
  id: string,
): Promise<void> {
  const value = record[field]
  const left = Array.isArray(value) ? value.filter((other) => other !== id) : null
  await tx.collection(resource).update({ ...record, [field]: left })
}
