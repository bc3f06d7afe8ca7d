import { ControllerError, notFound } from '../../domain/errors.ts'
import { equals, type Filter } from '../../domain/filter/index.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { RESOURCES, resourceNamed } from '../../resources/index.ts'
import type { RecordOf, Resource } from '../../resources/resource.ts'

/** Refuses a record that refers to an entity which does not exist. Only references that differ from `before` are judged. */
export async function checkReferences(
  tx: WriteTransaction,
  resource: Resource,
  record: RecordOf<Resource>,
  before: RecordOf<Resource> | undefined,
): Promise<void> {
  for (const [field, { to, orTo }] of Object.entries(resource.definition.references ?? {})) {
    const known = idsIn(before?.[field])
    const target = resourceNamed(to)
    for (const id of idsIn(record[field]).filter((named) => !known.includes(named))) {
      if ((await tx.collection(target).get(id)) !== undefined) continue
      const other = orTo === undefined ? undefined : await tx.collection(resourceNamed(orTo)).get(id)
      if (other === undefined) throw notFound(target.definition.singular, id)
    }
  }
}

/** A record that refers to a deleted one, with what its declaration says about that. */
interface Dependent {
  readonly resource: Resource
  readonly field: string
  readonly onDelete: 'restrict' | 'cascade' | 'clear'
  readonly records: readonly RecordOf<Resource>[]
  /** The ids of those that are damaged: they can go, and cannot be changed. */
  readonly damaged: readonly string[]
}

/** The records that refer to an entity. Throws `CAN_NOT_DELETE_REFERENCED_ENTITY` when one of them forbids its deletion. */
export async function dependentsOf(tx: WriteTransaction, target: Resource, id: string): Promise<readonly Dependent[]> {
  const dependents: Dependent[] = []
  for (const resource of RESOURCES) {
    for (const [field, { to, orTo, onDelete }] of Object.entries(resource.definition.references ?? {})) {
      if (to !== target.name && orTo !== target.name) continue
      const { items: records, damaged: unreadable = [] } = await tx
        .collection(resource)
        .find({ where: refersTo(resource, field, id) })
      const damaged = unreadable.map((record) => record.id)
      if (records.length + damaged.length === 0) continue
      const holders = [...records.map((record) => record.id), ...damaged]
      if (onDelete === 'restrict') throw stillReferenced(target, resource, field, holders)
      dependents.push({ resource, field, onDelete, records, damaged })
    }
  }
  return dependents
}

/** The ids in a field that refers to one entity or to several. */
export function idsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value : []
}

function refersTo(resource: Resource, field: string, id: string): Filter {
  if (resource.fields[field] !== 'set') return equals(field, id)
  return { kind: 'compare', operand: { kind: 'anyOf', field }, operator: '=', value: id }
}

function stillReferenced(
  target: Resource,
  resource: Resource,
  field: string,
  holders: readonly string[],
): ControllerError {
  const named = holders.slice(0, 10)
  const value = `[${named.join(' ')}]`
  const reason = `entity type ${target.definition.storeName} referenced by ${resource.definition.storeName}: ${value}`
  return new ControllerError('CAN_NOT_DELETE_REFERENCED_ENTITY', { field, reason, value })
}
