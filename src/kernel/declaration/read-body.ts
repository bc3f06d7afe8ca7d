import { z } from 'zod'
import { didYouMean } from '../../base/arguments.ts'
import { invalidField } from '../../base/errors.ts'
import { isMap } from '../../base/members.ts'
import { isStorable } from '../../base/text.ts'
import { mayHoldMore, required } from './fields.ts'
import { inputName, type Quirks } from './quirks.ts'
import type { ResourceDefinition } from './resource.ts'
import { MAX_BODY_BYTES, requireKeepable, tooLarge, validate } from './validation.ts'

type Members = Readonly<Record<string, unknown>>

/** The declaration of a body. */
export interface BodyRules {
  readonly body: z.ZodType
  /** Corrects alternative spellings of the body, or of each element of a list, before validation. */
  readonly spellings?: ((body: Members) => Members) | undefined
  /** Refuses undeclared members, including null; otherwise they are dropped. */
  readonly refusesUnknown?: boolean
}

const READ = Symbol('read')
const SENT = Symbol('sent')

/**
 * A body, or a list in a body, that a schema has made. It is validated once, however often it is passed on. Copies and JSON of it lack
 * these members.
 */
type Read<T> = T & {
  /** The schema that made it. */
  readonly [READ]?: z.core.$ZodType
  /** The body as the caller sent it, without members that count as unsent. */
  readonly [SENT]?: object
}

/**
 * Reads a request body by its declaration: corrects alternative spellings, treats null members as unsent, fills in defaults, and drops
 * undeclared members. Throws the first violation.
 */
export function readBody(rules: BodyRules, value: unknown): unknown {
  if (rules.refusesUnknown) requireKnownMembers(rules.body, respelled(rules.spellings, value))
  return accepted(rules, value, 'body')
}

/**
 * The same for a value from the host, by the limits of the wire. The answer does not depend on later changes by the host. An answer of
 * {@link readBody} for the same schema is accepted unchanged.
 */
export function readInput(rules: BodyRules, value: unknown): unknown {
  if (typeof value === 'object' && value !== null && isReadBy(rules.body, value)) return value
  requireKeepable(value, 'input')
  const text = JSON.stringify(value)
  if (text === undefined) throw invalidField('input', 'input is required', undefined)
  if (new TextEncoder().encode(text).byteLength > MAX_BODY_BYTES) throw tooLarge()
  return accepted(rules, JSON.parse(text), 'input')
}

/** Reports whether the caller sent a member of a body; false for a default. */
export function isSent(body: object, member: string): boolean {
  const { [SENT]: sent = {} }: Read<object> = body
  return Object.hasOwn(sent, member)
}

/** Reads a request from the host to a method of the engine, by its schema, as {@link readInput} does. */
export function readRequest<S extends z.ZodType>(schema: S, request: unknown): z.output<S> {
  // The schema made it.
  return readInput({ body: schema }, request) as z.output<S>
}

/**
 * Reads a single argument from the host to a method of the engine: an id, a code, a PEM text. Errors: `COULD_NOT_VALIDATE`, with the name
 * of the parameter as the field.
 */
export function readValue<S extends z.ZodType>(name: string, schema: S, value: unknown): z.output<S> {
  if (typeof value === 'string' && !isStorable(value)) {
    throw invalidField(name, `${name} holds U+0000 or half a surrogate pair`, '')
  }
  // The schema made it.
  return validate(schema, value, 'input', name) as z.output<S>
}

/** Reads a text argument from the host. Errors: as of {@link readValue}. */
export function readText(name: string, text: string): string {
  return readValue(name, ANY_TEXT, text)
}

/** Reads the id of an entity from the host. */
export function readId(id: string, name = 'id'): string {
  return readText(name, id)
}

const ANY_TEXT = z.string()

function accepted({ body, spellings }: BodyRules, value: unknown, source: 'body' | 'input'): unknown {
  const sent = withoutUnsent(body, spelled(spellings, value))
  const result = validate(body, sent, source)
  remember(body, result)
  if (isMap(result) && isMap(sent)) mark(result, SENT, sent)
  return result
}

function isReadBy(schema: z.core.$ZodType, value: Read<object>): boolean {
  return value[READ] === schema
}

/** Marks a value under a private symbol, which other code can neither see nor set. A frozen value stays unmarked and is read again. */
function mark(value: object, name: typeof READ | typeof SENT, content: object): void {
  Reflect.defineProperty(value, name, { value: content, writable: true, configurable: true })
}

/** Marks a value as valid, together with the elements of lists and the lists in a body. */
function remember(schema: z.core.$ZodType, value: unknown): void {
  if (schema instanceof z.ZodOptional) remember(schema.unwrap(), value)
  else if (typeof value === 'object' && value !== null) mark(value, READ, schema)
  if (schema instanceof z.ZodArray && Array.isArray(value)) for (const one of value) remember(schema.element, one)
  if (!(schema instanceof z.ZodObject) || !isMap(value)) return
  for (const [name, member] of Object.entries(value)) {
    const declared = schema.shape[name]
    if (Array.isArray(member) && declared !== undefined) remember(declared, member)
  }
}

/** A body, or each element of a list, in the spelling of the declaration, without null members. Members of maps keep their nulls. */
function spelled(spellings: BodyRules['spellings'], body: unknown): unknown {
  if (Array.isArray(body)) return body.map((element) => spelled(spellings, element))
  if (!isMap(body)) return body
  return respelled(spellings, Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)))
}

/** The same, but keeps null members. */
function respelled(spellings: BodyRules['spellings'], body: unknown): unknown {
  if (Array.isArray(body)) return body.map((element) => respelled(spellings, element))
  return isMap(body) ? (spellings?.(body) ?? body) : body
}

type Spellings = NonNullable<Quirks['spellings']>

/**
 * Corrects the spellings of a patch: as in every request, and an empty text in a field of a few words means the default word, as on
 * deployed controllers.
 */
export function patchSpellings(definition: ResourceDefinition): Spellings {
  const words = Object.entries(definition.writable).flatMap(([field, schema]) =>
    schema instanceof z.ZodDefault && required(schema) instanceof z.ZodEnum
      ? [[inputName(definition, field), schema.parse(undefined)] as const]
      : [],
  )
  const spellings = definition.quirks?.spellings ?? ((body) => body)
  return (body) => {
    const meant = words.filter(([name]) => body[name] === '')
    return spellings({ ...body, ...Object.fromEntries(meant) })
  }
}

type Path = readonly (string | number)[]

/**
 * Refuses unknown members of a body at any depth. Maps may hold any members, and validation judges a body of another form. Error:
 * `COULD_NOT_VALIDATE` with the path of the member as the field.
 */
function requireKnownMembers(schema: z.core.$ZodType, body: unknown): void {
  const unknown = unknownMember(schema, body, [])
  if (unknown === undefined) return
  const field = unknown.path.join('.')
  // The value is not shown: it may be a password under a misspelled name.
  throw invalidField(field, `${field} in body is unknown${unknown.meant}`, '')
}

/** An unknown member, and a hint at the most similar known name. */
interface UnknownMember {
  readonly path: Path
  readonly meant: string
}

function unknownMember(schema: z.core.$ZodType, value: unknown, path: Path): UnknownMember | undefined {
  const inner = schema instanceof z.ZodType ? required(schema) : schema
  if (inner instanceof z.ZodArray) return firstOf(listed(value), () => inner.element, path)
  if (inner instanceof z.ZodDiscriminatedUnion) {
    const variant = variantOf(inner, value)
    return variant && unknownMember(variant, value, path)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (inner instanceof z.ZodRecord) return firstOf(Object.entries(value), () => inner.valueType, path)
  if (!(inner instanceof z.ZodObject) || mayHoldMore(inner)) return undefined
  const { shape } = inner
  const name = Object.keys(value).find((member) => !Object.hasOwn(shape, member))
  if (name !== undefined) return { path: [...path, name], meant: didYouMean(name, Object.keys(shape)) }
  return firstOf(Object.entries(value), (member) => shape[member], path)
}

/** The first unknown member inside of some members or elements. */
function firstOf<Key extends string | number>(
  entries: Iterable<readonly [Key, unknown]>,
  schemaOf: (key: Key) => z.core.$ZodType | undefined,
  path: Path,
): UnknownMember | undefined {
  for (const [key, value] of entries) {
    const schema = schemaOf(key)
    const found = schema && unknownMember(schema, value, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

function listed(value: unknown): Iterable<readonly [number, unknown]> {
  return Array.isArray(value) ? value.entries() : []
}

/** The variant that the discriminator of a value names; undefined for an unknown variant, which validation refuses. */
function variantOf(union: z.ZodDiscriminatedUnion, value: unknown): z.core.$ZodType | undefined {
  const { discriminator } = union.def
  const given: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, discriminator) : undefined
  return union.options.find((option) => saysOf(option, discriminator, given))
}

function saysOf(option: z.core.$ZodType, discriminator: string, given: unknown): boolean {
  if (option instanceof z.ZodDiscriminatedUnion) return option.options.some((one) => saysOf(one, discriminator, given))
  const declared = option instanceof z.ZodObject ? option.shape[discriminator] : undefined
  return declared !== undefined && z.safeParse(declared, given).success
}

/**
 * Removes null members that may as well be absent, at any depth: generated clients write null for unset members, and forms send an empty
 * choice where a default exists. Members of maps keep their nulls, since no declaration names them.
 */
function withoutUnsent(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodType ? required(schema) : schema
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((element) => withoutUnsent(inner.element, element))
  }
  if (!(inner instanceof z.ZodObject) || !isMap(value)) return value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const declared = Object.hasOwn(inner.shape, name) ? inner.shape[name] : undefined
    if (declared === undefined) return [[name, member]]
    const isUnsent = (member === null && mayBeLeftOut(declared)) || (member === '' && isDefaultedChoice(declared))
    return isUnsent ? [] : [[name, withoutUnsent(declared, member)]]
  })
  return Object.fromEntries(members)
}

function mayBeLeftOut(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, undefined).success
}

/** A choice among words with a default. */
function isDefaultedChoice(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodDefault && required(schema) instanceof z.ZodEnum
}
