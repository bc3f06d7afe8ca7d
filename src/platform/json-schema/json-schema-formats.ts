import type { FormatName } from 'ajv-formats'
import { isMap } from '../../base/members.ts'

type Document = Readonly<Record<string, unknown>>

/** Keywords whose members are schemas by names. */
export const SCHEMAS_BY_NAME: readonly string[] = [
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependencies',
]
const SCHEMAS = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'propertyNames',
  'then',
]

/** Translates the keywords of draft 4 to later drafts: boolean `exclusiveMinimum` and `exclusiveMaximum`, and `id`. Other keywords stay. */
export function fromDraft4(schema: Document): Document {
  const members = Object.entries(schema).flatMap(([name, member]) => {
    if (name === 'id' && typeof member === 'string') return []
    if (typeof member === 'boolean' && isExclusive(name)) return []
    return [[name, memberFrom(name, member)]]
  })
  return { ...Object.fromEntries(members), ...bounds(schema) }
}

function memberFrom(name: string, member: unknown): unknown {
  if (SCHEMAS_BY_NAME.includes(name) && isMap(member)) {
    return Object.fromEntries(Object.entries(member).map(([key, value]) => [key, schemaFrom(value)]))
  }
  return SCHEMAS.includes(name) ? schemaFrom(member) : member
}

function schemaFrom(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(schemaFrom)
  return isMap(value) ? fromDraft4(value) : value
}

function bounds({ exclusiveMinimum, exclusiveMaximum, minimum, maximum }: Document): Document {
  return {
    ...(exclusiveMinimum === true && minimum !== undefined && { exclusiveMinimum: minimum }),
    ...(exclusiveMaximum === true && maximum !== undefined && { exclusiveMaximum: maximum }),
  }
}

function isExclusive(name: string): boolean {
  return name === 'exclusiveMinimum' || name === 'exclusiveMaximum'
}

/**
 * The checked formats, by their names in JSON Schema. Text in any other format passes, such as `idn-hostname`. Callers supply schemas, so
 * no format may take more than linear time: `url` of the library does.
 */
export const FORMATS: readonly FormatName[] = [
  'date',
  'time',
  'date-time',
  'hostname',
  'email',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
  'regex',
  'json-pointer',
  'relative-json-pointer',
]
