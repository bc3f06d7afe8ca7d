import { ControllerError, notFound } from '../domain/errors.ts'
import { equals } from '../domain/filter/index.ts'
import type { WriteTransaction } from '../ports/storage.ts'
import { RESOURCES, resourceNamed } from '../resources/index.ts'
import type { RecordOf, Resource } from '../resources/resource.ts'

/** Refuses a record that refers to an entity which does not exist. Only references that differ from `before` are judged. */
export async function checkReferences(
  tx: WriteTransaction,
  resource: Resource,
  record: RecordOf<Resource>,
  before: RecordOf<Resource> | undefined,
): Promise<void> {
  for (const [field, { to }] of Object.entries(resource.definition.references ?? {})) {
    const id = record[field]
    if (typeof id !== 'string' || id === before?.[field]) continue
    const target = resourceNamed(to)
    if ((await tx.collection(target).get(id)) === undefined) throw notFound(target.definition.singular, id)
  }
}

/** A record that refers to a deleted one, with what its declaration says about that. */
interface Dependent {
  readonly resource: Resource
  readonly field: string
  readonly onDelete: 'restrict' | 'cascade' | 'clear'
  readonly records: readonly RecordOf<Resource>[]
}

/** The records that refer to an entity. Throws `CAN_NOT_DELETE_REFERENCED_ENTITY` when one of them forbids its deletion. */
export async function dependentsOf(tx: WriteTransaction, target: Resource, id: string): Promise<readonly Dependent[]> {
  const dependents: Dependent[] = []
  for (const resource of RESOURCES) {
    for (const [field, { to, onDelete }] of Object.entries(resource.definition.references ?? {})) {
      if (to !== target.name) continue
      const { items: records } = await tx.collection(resource).find({ where: equals(field, id) })
      if (records.length === 0) continue
      if (onDelete === 'restrict') throw stillReferenced(target, resource, field, records)
      dependents.push({ resource, field, onDelete, records })
    }
  }
  return dependents
}

function stillReferenced(
  target: Resource,
  resource: Resource,
  field: string,
  records: readonly RecordOf<Resource>[],
): ControllerError {
  const named = records.slice(0, 10).map((record) => record.id)
  const value = `[${named.join(' ')}]`
  const reason = `entity type ${target.definition.storeName} referenced by ${resource.definition.storeName}: ${value}`
  return new ControllerError('CAN_NOT_DELETE_REFERENCED_ENTITY', { field, reason, value })
}
