import { z } from 'zod'
import { compareStrings } from '../../../domain/filter/index.ts'
import { inputName } from '../../../resources/declaration/derive.ts'
import type { BaseRecord, Resource } from '../../../resources/declaration/resource.ts'
import { readCreate } from '../../../resources/requests/entity-requests.ts'
import { validate } from '../../../resources/requests/validation.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * The record of an entity that another controller shows, under its own id: what can be written is read as a request to
 * create it is, what is the controller's own is taken over by its declaration. Error: `COULD_NOT_VALIDATE` with the field.
 */
export function importedRecord(resource: Resource, shown: Members, now: number): BaseRecord & Members {
  const { definition } = resource
  const written = readCreate(resource, requestOf(resource, shown))
  const asked = Object.keys(definition.createRequest ?? {})
  const fields = Object.entries(written).filter(([field]) => !asked.includes(field))
  const record = {
    ...Object.fromEntries(fields),
    ...systemFields(resource, shown),
    id: String(shown.id),
    createdAt: instantOf(shown.createdAt, now),
    updatedAt: instantOf(shown.updatedAt, now),
    tags: isMembers(shown.tags) ? shown.tags : {},
  }
  return withSortedSets(resource, record)
}

function requestOf({ definition }: Resource, shown: Members): Members {
  const fields = Object.keys({ ...definition.writable, ...definition.createOnly })
  const sent = fields.flatMap((field) => {
    const value = shown[field]
    return value === undefined || value === null ? [] : [[inputName(definition, field), value] as const]
  })
  return Object.fromEntries(sent)
}

/** A member that is not shown holds what it holds in an entity that is new. */
function systemFields({ definition, defaults }: Resource, shown: Members): Members {
  const fields = Object.entries(definition.system ?? {}).map(([field, schema]) => {
    const value = shown[field]
    if (value === undefined || value === null) return [field, defaults[field]] as const
    return [
      field,
      Reflect.get(Object(validate(z.object({ [field]: schema }), { [field]: value }, 'input')), field),
    ] as const
  })
  return Object.fromEntries(fields)
}

/** Other controllers tell the beginning of time where they do not know an instant. */
function instantOf(value: unknown, now: number): number {
  const instant = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(instant) && instant > 0 ? instant : now
}

function withSortedSets<R extends Members>({ fields }: Resource, record: R): R {
  const sorted = Object.entries(record).map(([field, value]) => [
    field,
    fields[field] === 'set' && Array.isArray(value) ? [...new Set(value.map(String))].sort(compareStrings) : value,
  ])
  // The same members, with sets as they are kept.
  return Object.fromEntries(sorted) as R
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
