import { z } from 'zod'
import { didYouMean } from '../../base/arguments.ts'
import { invalidField } from '../../base/errors.ts'
import { isStorable } from '../../base/text.ts'
import { mayHoldMore, required } from './fields.ts'
import { inputName, type Quirks } from './quirks.ts'
import type { ResourceDefinition } from './resource.ts'
import { MAX_BODY_BYTES, requireKeepable, tooLarge, validate } from './validation.ts'

type Members = Readonly<Record<string, unknown>>

/** The declaration of a body. */
export interface BodyRules {
  readonly body: z.ZodType
  /** Other spellings of the body, or of each element of a list, put right before it is validated. */
  readonly spellings?: ((body: Members) => Members) | undefined
  /** Refuses members that are not declared, also null ones; else they are dropped. */
  readonly refusesUnknown?: boolean
}

const READ = Symbol('read')
const SENT = Symbol('sent')

/**
 * A body, or a list in one, that a schema has made: it is validated once, however often it is handed on. Neither copies nor
 * JSON of it have these members.
 */
type Read<T> = T & {
  /** The schema that has made it. */
  readonly [READ]?: z.core.$ZodType
  /** The body as it was sent, without members that count as not sent. */
  readonly [SENT]?: object
}

/**
 * A body of the wire as it is declared: other spellings are put right, members that are null count as not sent, what is
 * left out has its default, and what is not declared is not there. The first violation is thrown.
 */
export function readBody(rules: BodyRules, value: unknown): unknown {
  if (rules.refusesUnknown) requireKnownMembers(rules.body, respelled(rules.spellings, value))
  return accepted(rules, value, 'body')
}

/**
 * The same for what a host hands in, by the limits of the wire. Nothing that it changes later changes the answer. What
 * {@link readBody} answered for the same schema is taken as it is.
 */
export function readInput(rules: BodyRules, value: unknown): unknown {
  if (typeof value === 'object' && value !== null && isReadBy(rules.body, value)) return value
  requireKeepable(value, 'input')
  const text = JSON.stringify(value)
  if (text === undefined) throw invalidField('input', 'input is required', undefined)
  if (new TextEncoder().encode(text).byteLength > MAX_BODY_BYTES) throw tooLarge()
  return accepted(rules, JSON.parse(text), 'input')
}

/** Reports whether a body that was read holds a member because it was sent, and not as its default. */
export function isSent(body: object, member: string): boolean {
  const { [SENT]: sent = {} }: Read<object> = body
  return Object.hasOwn(sent, member)
}

/** Reads a request of a host to a method of the engine, by the schema of the request, as {@link readInput} does. */
export function readRequest<S extends z.ZodType>(schema: S, request: unknown): z.output<S> {
  // The schema has made it so.
  return readInput({ body: schema }, request) as z.output<S>
}

/**
 * A value that a host hands to an engine method by itself: an id, a code, a PEM text. Errors: `COULD_NOT_VALIDATE`, with the
 * name of the parameter as the field.
 */
export function readValue<S extends z.ZodType>(name: string, schema: S, value: unknown): z.output<S> {
  if (typeof value === 'string' && !isStorable(value)) {
    throw invalidField(name, `${name} holds U+0000 or half a surrogate pair`, '')
  }
  // The schema has made it so.
  return validate(schema, value, 'input', name) as z.output<S>
}

/** A text that a host hands in by itself. Errors: as of {@link readValue}. */
export function readText(name: string, text: string): string {
  return readValue(name, ANY_TEXT, text)
}

/** The id of an entity, as a host hands it in. */
export function readId(id: string, name = 'id'): string {
  return readText(name, id)
}

const ANY_TEXT = z.string()

function accepted({ body, spellings }: BodyRules, value: unknown, source: 'body' | 'input'): unknown {
  const sent = withoutUnsent(body, spelled(spellings, value))
  const result = validate(body, sent, source)
  remember(body, result)
  if (isObject(result) && isObject(sent)) mark(result, SENT, sent)
  return result
}

function isReadBy(schema: z.core.$ZodType, value: Read<object>): boolean {
  return value[READ] === schema
}

/** Other code sees nothing of the mark, and cannot make one. A value that is frozen stays unmarked and is read again. */
function mark(value: object, name: typeof READ | typeof SENT, content: object): void {
  Reflect.defineProperty(value, name, { value: content, writable: true, configurable: true })
}

/** The elements of a list are good by themselves, and so are the lists that are members of a body. */
function remember(schema: z.core.$ZodType, value: unknown): void {
  if (schema instanceof z.ZodOptional) remember(schema.unwrap(), value)
  else if (typeof value === 'object' && value !== null) mark(value, READ, schema)
  if (schema instanceof z.ZodArray && Array.isArray(value)) for (const one of value) remember(schema.element, one)
  if (!(schema instanceof z.ZodObject) || !isObject(value)) return
  for (const [name, member] of Object.entries(value)) {
    const declared = schema.shape[name]
    if (Array.isArray(member) && declared !== undefined) remember(declared, member)
  }
}

/** A body, or each element of a list, in the spelling of the declaration. Members inside of maps keep their nulls. */
function spelled(spellings: BodyRules['spellings'], body: unknown): unknown {
  if (Array.isArray(body)) return body.map((element) => spelled(spellings, element))
  if (!isObject(body)) return body
  return respelled(spellings, Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)))
}

/** The same with every member that was sent. */
function respelled(spellings: BodyRules['spellings'], body: unknown): unknown {
  if (Array.isArray(body)) return body.map((element) => respelled(spellings, element))
  return isObject(body) ? (spellings?.(body) ?? body) : body
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Spellings = NonNullable<Quirks['spellings']>

/**
 * How a patch may be spelled: like every request, and an empty text for one of a few words means the word that stands where none
 * is given, as it does for deployed controllers.
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
 * Refuses a body that holds a member which its schema does not know, at any depth. Maps hold what they like, and a body
 * of another form than the schema's is left to validation. Error: `COULD_NOT_VALIDATE` with the path of the member as the field.
 */
function requireKnownMembers(schema: z.core.$ZodType, body: unknown): void {
  const unknown = unknownMember(schema, body, [])
  if (unknown === undefined) return
  const field = unknown.path.join('.')
  // A password may stand under a name that was meant to be `password`: the value is not shown.
  throw invalidField(field, `${field} in body is unknown${unknown.meant}`, '')
}

/** A member that is not known, and the name that is most like its own, for people. */
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

/** The variant that a value says it is; undefined for none, which validation refuses. */
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
 * A body without the members that are null where they may as well be left out, at any depth: generated clients write null
 * for what they were not given, and forms an empty choice where there is a default. Members of maps, whose
 * names no declaration knows, keep their nulls.
 */
function withoutUnsent(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodType ? required(schema) : schema
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((element) => withoutUnsent(inner.element, element))
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value
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
