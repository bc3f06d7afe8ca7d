import { z } from 'zod'
import { isMap } from '../../base/members.ts'
import type { FieldKind } from '../filter/index.ts'
import { described } from './words.ts'

/** The id of an entity: opaque, compared exactly. */
export const Id = z.string().max(256)

/** A name: never empty, unique within its kind. */
export const Name = z.string().max(1024)

/** Short free text. */
export const Text = z.string().max(4096)

/** Bytes in standard base64. */
export const Base64 = z.base64().max(4096)

/** PEM text; text above 64 KiB is refused before it is parsed. */
export const Pem = z.string().max(65_536)

/** An instant: epoch milliseconds in records, RFC 3339 on the wire. */
export const Instant = z.codec(z.iso.datetime({ offset: true }), z.int(), {
  decode: (text) => Date.parse(text),
  encode: (milliseconds) => new Date(milliseconds).toISOString(),
})

/** An instant as epoch milliseconds, within the range of dates. */
export const EpochMs = z.int().min(-8.64e15).max(8.64e15)

/** Integer cost of hosting or routing, 0..65535. */
export const Cost = z.int().min(0).max(65_535)

export const Precedence = z.enum(['default', 'required', 'failed'])
export const Semantic = z.enum(['AllOf', 'AnyOf'])

/** A list that is kept as a set: sorted, without duplicates. */
export const TextSet = z.array(z.string().max(1024)).max(10_000)

/** Selects role attributes: `#attribute`, `#all` or `@id`. A second `#all` is refused here, because the stored set would lose it. */
export const Roles = TextSet.refine((roles) => roles.filter((role) => role === '#all').length < 2, {
  message: 'if using #all, it should be the only role specified',
})

/** The role attributes that couple an entity to policies. */
export const RoleAttributes = TextSet

/** User-defined keys. Values are null, text or boolean; numbers and nested values are kept as given. */
export const Tags = freeMap()

/** A free JSON object. */
export const JsonObject = freeMap()

/** A JSON object of any shape; other values are refused with the field's name. */
export const FreeObject = z
  .custom<Readonly<Record<string, unknown>>>(isMap, 'invalid type, expected object')
  .meta({ type: 'object' })

const HOLDING_MORE = new WeakSet<z.core.$ZodType>()

/** Marks the schema of an object that may hold unknown members: they are dropped, never refused. */
export function holdingMore<S extends z.ZodObject>(schema: S): S {
  HOLDING_MORE.add(schema)
  return schema
}

/** Reports whether a schema accepts and drops unknown members. */
export function mayHoldMore(schema: z.core.$ZodType): boolean {
  return HOLDING_MORE.has(schema)
}

/** Links from an entity to its related collections; hrefs are relative to the API's base. */
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

/** A reference to another entity. */
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

/** A displayed role: `@id` shows the entity's current name. */
export const NamedRole = described(z.object({ role: z.string(), name: z.string() }), {
  role: 'The entry as it was written: `#attribute`, or `@` and an id.',
  name: 'The entry for people: `@` and the present name of the entity, or the attribute.',
})
export type NamedRole = z.output<typeof NamedRole>

/** Any object. Its members are not checked, since a request may hold tens of thousands of them. */
function freeMap() {
  return z
    .custom<Readonly<Record<string, unknown>>>()
    .check(({ value, issues }) => {
      if (!isMap(value)) issues.push({ code: 'invalid_type', expected: 'record', input: value })
    })
    .meta({ type: 'object', additionalProperties: {} })
}

/** Derives the storage and comparison of a field from its schema alone. */
export function kindOf(schema: z.ZodType): FieldKind {
  const inner = required(schema)
  if (inner === Instant) return 'instant'
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum || inner instanceof z.ZodStringFormat) return 'string'
  if (inner instanceof z.ZodBoolean) return 'boolean'
  if (inner instanceof z.ZodNumberFormat) return 'integer'
  if (inner instanceof z.ZodNumber) return 'number'
  if (inner instanceof z.ZodArray && kindOf(toType(inner.element)) === 'string') return 'set'
  return 'json'
}

/** The type of a field that is stored as JSON; undefined for a field of any JSON type, and for other fields. */
export function jsonTypeOf(schema: z.ZodType): 'list' | 'object' | undefined {
  const inner = required(schema)
  if (kindOf(schema) !== 'json') return undefined
  if (inner instanceof z.ZodArray) return 'list'
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord ? 'object' : undefined
}

/** Reports whether a field may be null or absent. */
export function mayBeNull(schema: z.ZodType): boolean {
  const stored = withoutDefault(schema)
  return stored.safeParse(null).success || stored.safeParse(undefined).success
}

/** Makes the initial value of a field: its default, null for a nullable field, or the zero of its kind. */
export function emptyOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodDefault) return schema.parse(undefined)
  if (schema instanceof z.ZodNullable) return null
  return jsonTypeOf(schema) === 'list' ? [] : ZERO_OF[kindOf(schema)]
}

const ZERO_OF: Readonly<Record<FieldKind, unknown>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  instant: 0,
  set: [],
  json: {},
}

/** The schema of a present value: without default, optional and nullable. */
export function required(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return required(toType(schema.unwrap()))
  }
  return schema
}

/** The schema of a stored value: without default, still nullable where the field is. */
export function withoutDefault(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodDefault ? toType(schema.unwrap()) : schema
}

// zod types the schema inside a wrapper by its core interface; all our schemas are full ZodTypes.
function toType(schema: z.core.$ZodType): z.ZodType {
  return schema as z.ZodType
}

/**
 * Narrows the input type of a schema for the compiler: a writer of the value has to write a variant of `Variant`. Reading and validation do
 * not change.
 */
export function narrowed<Variant>(): <S extends z.ZodType>(
  schema: Variant extends z.input<S> ? S : never,
) => z.ZodType<z.output<S>, Variant> {
  // The type of the parameter ensures that every variant is an input of the schema.
  return (schema) => schema as never
}

/** A network interface of a host, as a router or a client reports it. */
export const NetworkInterface = described(
  z.object({
    addresses: z.array(z.string()).nullable(),
    hardwareAddress: z.string(),
    index: z.int(),
    isBroadcast: z.boolean(),
    isLoopback: z.boolean(),
    isMulticast: z.boolean(),
    isRunning: z.boolean(),
    isUp: z.boolean(),
    mtu: z.int(),
    name: z.string(),
  }),
  {
    addresses: 'Its addresses, each with the length of its prefix; null when none is known.',
    hardwareAddress: 'Its MAC address.',
    index: 'Its number on the host, from 1.',
    isBroadcast: 'Whether it can send to all.',
    isLoopback: 'Whether it leads back to the host.',
    isMulticast: 'Whether it can send to groups.',
    isRunning: 'Whether it is in operation.',
    isUp: 'Whether it is switched on.',
    mtu: 'The largest packet that it takes, in bytes.',
    name: 'Its name on the host, as `eth0`.',
  },
)
