/** A JSON schema, draft 7, as plain data. */
export type JsonSchemaDocument = Readonly<Record<string, unknown>>

/** An object that has no members but these. */
export function closed(properties: JsonSchemaDocument, required: readonly string[] = []): JsonSchemaDocument {
  const needs = required.length === 0 ? {} : { required: [...required] }
  return { type: 'object', additionalProperties: false, properties, ...needs }
}

/** A list of distinct elements, at least one. */
export function inhabitedSet(items: JsonSchemaDocument): JsonSchemaDocument {
  return { type: 'array', items, minItems: 1, uniqueItems: true }
}

export const TEXT = { type: 'string' } as const
export const PORT = { type: 'integer', minimum: 0, maximum: 65_535 } as const
export const PORT_RANGE = closed({ low: PORT, high: PORT }, ['low', 'high'])
export const PROTOCOL = { type: 'string', enum: ['tcp', 'udp'] } as const
export const TIMEOUT_SECONDS = { type: 'integer', minimum: 0, maximum: 2_147_483_647 } as const

/** A span such as `5s` or `300ms`; deployed controllers look for it anywhere in the text. */
export const DURATION = { type: 'string', pattern: '[0-9]+(h|m|s|ms)' } as const

/** A host name, IP address, CIDR block or wildcard domain. No validator knows the format; only emptiness is refused. */
export const ADDRESS = { type: 'string', format: 'idn-hostname', not: { pattern: '^$' } } as const
