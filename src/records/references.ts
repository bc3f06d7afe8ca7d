import { ControllerError, invalidField, notFound } from '../base/errors.ts'
import { RESOURCES, resourceNamed } from '../facts/resources/index.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { equals, type Filter, ids } from '../kernel/filter/index.ts'
import { type ReadTransaction, UniqueViolation, type WriteTransaction } from '../ports/record-storage.ts'
import { findOne } from './read-records.ts'
import { changeEach, MORE, type WriteBatch } from './write-batches.ts'

/** Refuses a record with a reference to an unknown entity. Only references that differ from `before` are judged. */
export async function checkReferences(
  tx: WriteTransaction,
  resource: Resource,
  record: RecordOf<Resource>,
  before: RecordOf<Resource> | undefined,
): Promise<void> {
  for (const [field, { to, orTo, isLoose }] of Object.entries(resource.definition.references ?? {})) {
    if (isLoose) continue
    const known = new Set(idsIn(before?.[field]))
    const target = resourceNamed(to)
    const named = idsIn(record[field]).filter((id) => !known.has(id))
    const missing = await missingOf(tx, target, named)
    const gone = orTo === undefined ? missing : await missingOf(tx, resourceNamed(orTo), missing)
    for (const id of gone.slice(0, 1)) throw notFound(target.definition.singular, id)
  }
}

/** The ids without an entity of a resource, in order. One query, however many ids there are. */
export async function missingOf(
  tx: ReadTransaction,
  target: Resource,
  named: readonly string[],
): Promise<readonly string[]> {
  if (named.length === 0) return []
  const found = new Set(await tx.collection(target).findIds({ where: ids(named) }))
  return named.filter((id) => !found.has(id))
}

/** A field that refers to entities of a resource, with its declared effect on their deletion. */
export interface ReferenceTo {
  readonly resource: Resource
  readonly field: string
  readonly onDelete: 'restrict' | 'cascade' | 'clear'
}

const REFERENCES = new Map<string, readonly ReferenceTo[]>()

/** Every field that refers to entities of a resource. */
export function referencesTo(target: Resource): readonly ReferenceTo[] {
  const references = REFERENCES.get(target.name) ?? findReferencesTo(target)
  REFERENCES.set(target.name, references)
  return references
}

function findReferencesTo(target: Resource): readonly ReferenceTo[] {
  return RESOURCES.flatMap((resource) =>
    Object.entries(resource.definition.references ?? {}).flatMap(([field, { to, orTo, onDelete }]) =>
      to === target.name || orTo === target.name ? [{ resource, field, onDelete }] : [],
    ),
  )
}

/** Throws `CAN_NOT_DELETE_REFERENCED_ENTITY` while another entity needs the entity. */
export async function refuseReferenced(tx: WriteTransaction, target: Resource, id: string): Promise<void> {
  for (const { resource, field } of referencesTo(target).filter(({ onDelete }) => onDelete === 'restrict')) {
    const holders = await tx.collection(resource).findIds({ where: refersTo(resource, field, id), limit: MOST_NAMED })
    if (holders.length > 0) throw stillReferenced(target, resource, field, holders)
  }
}

/** Referring entities that the error names. */
const MOST_NAMED = 10

/** The ids in a field that refers to one entity or to several. */
export function idsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value : []
}

/** The records that refer to an entity by a field. */
export function refersTo(resource: Resource, field: string, id: string): Filter {
  if (resource.fields[field] !== 'set') return equals(field, id)
  return { kind: 'compare', operand: { kind: 'anyOf', field }, operator: '=', value: id }
}

function stillReferenced(
  target: Resource,
  resource: Resource,
  field: string,
  holders: readonly string[],
): ControllerError {
  const value = `[${holders.join(' ')}]`
  const reason = `entity type ${target.definition.storeName} referenced by ${resource.definition.storeName}: ${value}`
  return new ControllerError('CAN_NOT_DELETE_REFERENCED_ENTITY', { field, reason, value })
}

/** Runs a write of a resource's entities. A taken value becomes the error of its field. */
export async function refusingDuplicates<T>(resource: Resource, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    const { storeName } = resource.definition
    const reason =
      error.field === 'name'
        ? 'name must be unique'
        : `duplicate value '${error.value}' in unique index on ${storeName} store`
    throw invalidField(error.field, reason, error.value)
  }
}

/** Refuses a change to a unique value of another entity before the change is made. Error: {@link UniqueViolation}. */
export async function refuseDuplicates<R extends Resource>(
  tx: ReadTransaction,
  resource: R,
  record: RecordOf<R>,
  before: RecordOf<R>,
): Promise<void> {
  for (const field of resource.unique) {
    const value: unknown = record[field]
    if (typeof value !== 'string' || value === before[field]) continue
    if ((await findOne(tx, resource, field, value)) !== undefined)
      throw new UniqueViolation(resource.name, field, value)
  }
}

/** Refuses a name that an entity of another resource has, where two resources share their names. */
export async function refuseTakenName(tx: ReadTransaction, other: Resource, name: string): Promise<void> {
  if ((await findOne(tx, other, 'name', name)) !== undefined) throw invalidField('name', 'name must be unique', name)
}

/**
 * Refuses role lists and role attributes without a meaning: an entry without `#` or `@`, `#all` beside other entries, an `@id` of no
 * entity, an attribute that begins with the mark of a selector. Only lists that differ from `before` are judged.
 */
export async function checkRoleLists(
  tx: ReadTransaction,
  resource: Resource,
  record: RecordOf<Resource>,
  before: RecordOf<Resource> | undefined,
): Promise<void> {
  if (resource.name !== 'posture-checks') checkRoleAttributes('roleAttributes', record.roleAttributes)
  for (const [field, target] of Object.entries(resource.definition.selects ?? {})) {
    if (record[field] === before?.[field]) continue
    await checkRoleList(tx, field, roleList(record[field]), resourceNamed(target))
  }
}

async function checkRoleList(
  tx: ReadTransaction,
  field: string,
  roles: readonly string[],
  target: Resource,
): Promise<void> {
  const unmarked = roles.filter((role) => !role.startsWith('#') && !role.startsWith('@'))
  if (unmarked.length > 0) {
    const reason = 'role entries must prefixed with # (to indicate role attributes) or @ (to indicate a name or id)'
    throw invalidField(field, reason, unmarked)
  }
  if (roles.includes('#all') && roles.length > 1) {
    throw invalidField(field, 'if using #all, it should be the only role specified', roles)
  }
  const wanted = roles.filter((role) => role.startsWith('@')).map((role) => role.slice(1))
  const missing = await missingOf(tx, target, wanted)
  if (missing.length > 0) {
    // The message begins as on deployed controllers.
    const reason = `no ${target.definition.storeName} found with the given ids: @ takes an id, not a name`
    throw invalidField(field, reason, missing)
  }
}

/** Refuses role attributes that begin with a selector's mark: no request could give them to an entity. */
export function checkRoleAttributes(field: string, attributes: unknown): void {
  for (const mark of ['#', '@']) {
    if (roleList(attributes).some((attribute) => attribute.startsWith(mark))) {
      throw invalidField(field, `role attributes may not be prefixed with ${mark}`, attributes)
    }
  }
}

/**
 * Removes `@id` of a deleted entity from every role list, up to the end of a batch. The policies' `updatedAt` stays, since no caller edited
 * them.
 */
export async function forgetInRoleLists(
  tx: WriteTransaction,
  target: string,
  id: string,
  batch: WriteBatch,
): Promise<typeof MORE | undefined> {
  const entry = `@${id}`
  for (const resource of RESOURCES) {
    const fields = Object.entries(resource.definition.selects ?? {}).flatMap(([field, kind]) =>
      kind === target ? [field] : [],
    )
    for (const field of fields) {
      const where = {
        kind: 'compare',
        operand: { kind: 'anyOf', field },
        operator: '=',
        value: entry,
      } as const
      const isDone = await changeEach(tx, resource, where, batch, (policy) => ({
        ...policy,
        [field]: roleList(policy[field]).filter((role) => role !== entry),
      }))
      if (!isDone) return MORE
    }
  }
  return undefined
}

function roleList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
