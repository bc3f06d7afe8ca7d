import { z } from 'zod'
import { described } from './words.ts'

/** The id of an entity: opaque, compared exactly. */
export const Id = z.string().max(256)

/** A name: never empty, unique within its kind. */
export const Name = z.string().max(1024)

/** Short free text. */
export const Text = z.string().max(4096)

/** Bytes in standard base64. */
export const Base64 = z.base64().max(4096)

/** PEM text; a larger one than 64 KiB is refused before it is parsed. */
export const Pem = z.string().max(65_536)

/** An instant: epoch milliseconds inside, RFC 3339 on the wire. */
export const Instant = z.codec(z.iso.datetime({ offset: true }), z.int(), {
  decode: (text) => Date.parse(text),
  encode: (milliseconds) => new Date(milliseconds).toISOString(),
})

/** An instant as epoch milliseconds, within what dates can tell. */
export const EpochMs = z.int().min(-8.64e15).max(8.64e15)

/** Integer cost of hosting or routing, 0..65535. */
export const Cost = z.int().min(0).max(65_535)

export const Precedence = z.enum(['default', 'required', 'failed'])
export const Semantic = z.enum(['AllOf', 'AnyOf'])

/** A list that is kept as a set: sorted, without duplicates. */
export const TextSet = z.array(z.string().max(1024)).max(10_000)

/** Selects role attributes: `#attribute`, `#all` or `@id`. As a set it cannot tell that `#all` was written twice. */
export const Roles = TextSet.refine((roles) => roles.filter((role) => role === '#all').length < 2, {
  message: 'if using #all, it should be the only role specified',
})

/** The role attributes that couple an entity to policies. */
export const RoleAttributes = TextSet

/** User-defined keys. Values are null, text or boolean; numbers and nested values are kept as given. */
export const Tags = freeMap()

/** A free JSON object. */
export const JsonObject = freeMap()

/** A JSON object whose absence of shape is a rule of its own: anything else is refused with the field's name. */
export const FreeObject = z
  .custom<Readonly<Record<string, unknown>>>(isMap, 'invalid type, expected object')
  .meta({ type: 'object' })

const HOLDING_MORE = new WeakSet<z.core.$ZodType>()

/** The same schema of an object in which clients may tell more than it knows: that is dropped, and never refused. */
export function holdingMore<S extends z.ZodObject>(schema: S): S {
  HOLDING_MORE.add(schema)
  return schema
}

/** Reports whether a schema is of an object in which clients may tell more than it knows. */
export function mayHoldMore(schema: z.core.$ZodType): boolean {
  return HOLDING_MORE.has(schema)
}

/** What links an entity to its related collections; hrefs are relative to the API's base. */
export const Links = z.record(
  z.string(),
  described(z.object({ href: z.string() }), { href: 'The address, below the base path of the API.' }),
)

const REFERENCE_WORDS = {
  _links: 'Where the entity is found.',
  entity: 'The kind of the entity, as paths name it: `identities`.',
  id: 'The id of the entity.',
  name: 'The name of the entity.',
}

/** Points to another entity. */
export const EntityRef = described(
  z.object({ _links: Links, entity: z.string(), id: z.string(), name: z.string() }),
  REFERENCE_WORDS,
)
export type EntityRef = z.output<typeof EntityRef>

/** An entity reference as enrollments show it. */
export const EntityRefWithUrlName = described(EntityRef.extend({ urlName: z.string() }), {
  ...REFERENCE_WORDS,
  urlName: 'The same as `entity`.',
})

/** A role as it is displayed: `@id` shows the entity's current name. */
export const NamedRole = described(z.object({ role: z.string(), name: z.string() }), {
  role: 'The entry as it was written: `#attribute`, or `@` and an id.',
  name: 'The entry for people: `@` and the present name of the entity, or the attribute.',
})
export type NamedRole = z.output<typeof NamedRole>

/** Any object, without a look at each of its members: there may be tens of thousands in a request. */
function freeMap() {
  return z
    .custom<Readonly<Record<string, unknown>>>()
    .check(({ value, issues }) => {
      if (!isMap(value)) issues.push({ code: 'invalid_type', expected: 'record', input: value })
    })
    .meta({ type: 'object', additionalProperties: {} })
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
