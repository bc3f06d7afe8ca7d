import type { WriteTransaction } from '../../ports/storage.ts'
import type { Resource } from '../../resources/resource.ts'
import { dependentsOf } from './references.ts'
import { forgetInRoleLists } from './role-lists.ts'

/**
 * Removes an entity, what its references' declarations say goes with it, and its `@id` from every role list. Answers
 * whether it was there. Throws `CAN_NOT_DELETE_REFERENCED_ENTITY` while another entity needs it.
 */
export async function deleteEntity(tx: WriteTransaction, resource: Resource, id: string): Promise<boolean> {
  for (const { resource: kind, field, onDelete, records, damaged } of await dependentsOf(tx, resource, id)) {
    if (onDelete === 'cascade') for (const gone of damaged) await deleteEntity(tx, kind, gone)
    for (const record of records) {
      if (onDelete === 'cascade') await deleteEntity(tx, kind, record.id)
      else await tx.collection(kind).update({ ...record, [field]: without(record[field], id) })
    }
  }
  await forgetInRoleLists(tx, resource.name, id)
  return tx.collection(resource).delete(id)
}

function without(value: unknown, id: string): unknown {
  return Array.isArray(value) ? value.filter((other) => other !== id) : null
}
