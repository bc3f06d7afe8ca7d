/** A JSON schema, draft 7, as plain data. */
export type JsonSchemaDocument = Readonly<Record<string, unknown>>

/** An object that has no members but these. */
export function closed(properties: JsonSchemaDocument, required: readonly string[] = []): JsonSchemaDocument {
  const needs = required.length === 0 ? {} : { required: [...required] }
  return { type: 'object', additionalProperties: false, properties, ...needs }
}

/** What the definitions of the schema hold under a name; clients show the description beside the field. */
export function defined(name: string, description?: string): JsonSchemaDocument {
  return { $ref: `#/definitions/${name}`, ...(description !== undefined && { description }) }
}

/**
 * A list of distinct elements, at least one. The type is told by reference: the admin console writes an empty list into every
 * member that says `type: array` itself, and this one may not be empty.
 */
export function inhabitedSetOf(name: string, description?: string): JsonSchemaDocument {
  return {
    allOf: [defined('inhabitedSet'), { items: defined(name) }],
    ...(description !== undefined && { description }),
  }
}

export const TEXT = { type: 'string' } as const
export const PORT = { type: 'integer', minimum: 0, maximum: 65_535 } as const
export const PROTOCOL = { type: 'string', enum: ['tcp', 'udp'] } as const
