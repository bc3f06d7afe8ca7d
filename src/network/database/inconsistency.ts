import { z } from 'zod'
import { required, withoutDefault } from '../../kernel/declaration/fields.ts'
import type { RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import type { DamagedRecord, StoredRecord } from '../../ports/record-storage.ts'
import { idsIn } from '../../records/references.ts'

/** A violation of the declarations: a reference to a missing entity, or a value that two records share. */
export interface Inconsistency {
  readonly description: string
  /** How to mend it; absent when only a person can decide. */
  readonly repair?: Repair
  /** Present where a stored record cannot be read, or is not as declared. */
  readonly damage?: Damage
}

/** A record with fields that hold no usable value. */
export interface Damage {
  readonly resource: Resource
  readonly fields: readonly string[]
  /** The usable part of the record. */
  readonly remains: StoredRecord
}

/** Removes a dangling entry from a field, or the record that cannot exist without it. */
export interface Repair {
  readonly resource: Resource
  readonly id: string
  readonly field: string
  readonly entry: string
  readonly action: 'take-out' | 'remove'
}

/** An unreadable record. Only a person can decide its contents, or its deletion. */
export function damage(resource: Resource, { id, fields, remains }: DamagedRecord): Inconsistency {
  const description = `${resource.definition.storeName} ${id} is damaged: ${fields.join(', ')} cannot be read`
  return { description, damage: { resource, fields, remains } }
}

/** The ids of all records of a kind. */
export type KnownIds = (kind: string) => ReadonlySet<string>

/** Every violation of a resource's declaration by its records, and `undefined` after each look at a record. */
export function* inconsistenciesOf(
  resource: Resource,
  records: readonly RecordOf<Resource>[],
  known: KnownIds,
): Generator<Inconsistency | undefined> {
  yield* sharedValues(resource, records)
  for (const record of records) {
    yield undefined
    yield* undeclaredValues(resource, record)
    yield* danglingReferences(resource, record, known)
    yield* danglingRoles(resource, record, known)
  }
}

function* sharedValues(
  resource: Resource,
  records: readonly RecordOf<Resource>[],
): Generator<Inconsistency | undefined> {
  const { storeName } = resource.definition
  for (const field of resource.unique) {
    const holders = new Map<unknown, string>()
    for (const record of records) {
      yield undefined
      const value = record[field]
      if (value === null || value === undefined) continue
      const other = holders.get(value)
      if (other === undefined) holders.set(value, record.id)
      else {
        const both = `both ${other} and ${record.id} have the same value`
        yield { description: `unique index ${storeName}.${field} has constraint violation as ${both}` }
      }
    }
  }
}

/** Values that a storage accepts, but no declaration allows: inside of objects and lists, and names of kinds. */
function* undeclaredValues(resource: Resource, record: RecordOf<Resource>): Generator<Inconsistency> {
  const { definition, fields } = resource
  const stored = { ...definition.writable, ...definition.createOnly, ...definition.system }
  const undeclared = Object.entries(stored).flatMap(([field, schema]) => {
    const value = record[field]
    const isLookedInto = fields[field] === 'json' || required(schema) instanceof z.ZodEnum
    return isLookedInto && value !== undefined && !withoutDefault(schema).safeParse(value).success ? field : []
  })
  if (undeclared.length === 0) return
  const names = undeclared.join(', ')
  const description = `${definition.storeName} ${record.id} is damaged: ${names} not as declared`
  yield { description, damage: { resource, fields: undeclared, remains: record } }
}

function* danglingReferences(
  resource: Resource,
  record: RecordOf<Resource>,
  known: KnownIds,
): Generator<Inconsistency> {
  const { storeName, references = {} } = resource.definition
  for (const [field, { to, orTo, isLoose, onDelete }] of Object.entries(references)) {
    if (isLoose) continue
    const isKnown = (id: string) => known(to).has(id) || (orTo !== undefined && known(orTo).has(id))
    for (const entry of idsIn(record[field]).filter((id) => !isKnown(id))) {
      const what = `${storeName}.${field} has invalid value for ${storeName} ${record.id}`
      const description = `${what}, which references invalid ${to} ${entry}`
      const repair = { resource, id: record.id, field, entry }
      if (onDelete === 'restrict') yield { description }
      else yield { description, repair: { ...repair, action: onDelete === 'cascade' ? 'remove' : 'take-out' } }
    }
  }
}

function* danglingRoles(resource: Resource, record: RecordOf<Resource>, known: KnownIds): Generator<Inconsistency> {
  const { storeName, selects = {} } = resource.definition
  for (const [field, target] of Object.entries(selects)) {
    const named = idsIn(record[field]).filter((role) => role.startsWith('@'))
    for (const entry of named.filter((role) => !known(target).has(role.slice(1)))) {
      yield {
        description: `${storeName} ${record.id} references ${target} ${entry.slice(1)}, which doesn't exist`,
        repair: { resource, id: record.id, field, entry, action: 'take-out' },
      }
    }
  }
}
