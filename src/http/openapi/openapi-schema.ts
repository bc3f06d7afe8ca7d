import { z } from 'zod'
import { type Meaning, meaningOf } from '../../kernel/declaration/words.ts'

export type JsonObject = Record<string, unknown>

/** Where a schema carries its meaning from zod's writer to ours; the written document does not hold it. */
const MEANING = 'x-meaning'

/** Many operations share a schema; it is written once, and the result is never changed. */
const WRITTEN = new WeakMap<z.core.$ZodType, JsonObject>()

/** The JSON schema (2020-12, as OpenAPI 3.1 has it) of a value on the wire, described: instants as text, defaults optional. */
export function jsonSchema(schema: z.core.$ZodType): JsonObject {
  const known = WRITTEN.get(schema)
  if (known !== undefined) return known
  const written = write(schema)
  WRITTEN.set(schema, written)
  return written
}

function write(schema: z.core.$ZodType): JsonObject {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    // Schemas that are used twice are shared here still, so that words are put in afterwards.
    override: ({ zodSchema, jsonSchema: json }) => {
      const meaning = meaningOf(zodSchema)
      if (meaning !== undefined) Object.assign(json, { [MEANING]: meaning })
      // Every name is text.
      delete json.propertyNames
      // Generators of clients know a list with one choice, but not all of them know a constant.
      if (json.const !== undefined) {
        json.enum = [json.const]
        delete json.const
      }
    },
  })
  return asObject(inWords(written))
}

function inWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inWords)
  if (typeof value !== 'object' || value === null) return value
  const { [MEANING]: meaning, ...schema } = asObject(value)
  const written = orNull(Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, inWords(part)])))
  return isMeaning(meaning) ? describedBy(written, meaning) : written
}

/** Puts null among the types of a schema that is a choice of a type and null: generated clients then have a single type for it. */
function orNull({ anyOf, ...rest }: JsonObject): JsonObject {
  const [schema, other, ...more] = Array.isArray(anyOf) ? anyOf.map(asObject) : []
  if (schema === undefined || typeof schema.type !== 'string' || other?.type !== 'null' || more.length > 0) {
    return anyOf === undefined ? rest : { ...rest, anyOf }
  }
  const choices = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
  return { ...rest, ...schema, type: [schema.type, 'null'], ...choices }
}

function describedBy(schema: JsonObject, { itself, members }: Meaning): JsonObject {
  const properties = Object.entries(asObject(schema.properties)).map(([name, part]) => [
    name,
    { ...asObject(part), ...(members[name] !== undefined && { description: members[name] }) },
  ])
  return { ...(itself !== undefined && { description: itself }), ...schema, properties: Object.fromEntries(properties) }
}

function isMeaning(value: unknown): value is Meaning {
  return typeof value === 'object' && value !== null && 'members' in value
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
