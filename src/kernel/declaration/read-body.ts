import { z } from 'zod'
import { invalidField } from '../../base/errors.ts'
import { isStorable } from '../../base/text.ts'
import { inputName } from '../declaration/derive.ts'
import { required } from '../declaration/fields.ts'
import type { ResourceDefinition } from '../declaration/resource.ts'
import { requireKnownMembers, withoutUnsent } from './unknown-members.ts'
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

type Spellings = NonNullable<ResourceDefinition['spellings']>

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
  const spellings = definition.spellings ?? ((body) => body)
  return (body) => {
    const meant = words.filter(([name]) => body[name] === '')
    return spellings({ ...body, ...Object.fromEntries(meant) })
  }
}
