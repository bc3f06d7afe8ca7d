import { z } from 'zod'
import { invalidField } from '../../domain/errors.ts'
import { isStorable } from '../../domain/storable-text.ts'
import { MAX_BODY_BYTES, requireKeepable, tooLarge } from './json-limits.ts'
import { requireKnownMembers } from './unknown-members.ts'
import { withoutUnsent } from './unsent-members.ts'
import { validate } from './validation.ts'

type Members = Readonly<Record<string, unknown>>

/** What is declared of a body. */
export interface BodyRules {
  readonly body: z.ZodType
  /** Other spellings of the body, or of each element of a list, put right before it is validated. */
  readonly spellings?: ((body: Members) => Members) | undefined
  /** Refuses members that are not declared, also null ones; else they are dropped. */
  readonly refusesUnknown?: boolean
}

/** What a schema has made of a body, by which it is known again: a body is validated once, however often it is handed on. */
const READ = new WeakMap<object, z.core.$ZodType>()
/** What was sent, without what counts as not sent, by what a schema has made of it. */
const SENT = new WeakMap<object, object>()

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
  if (typeof value === 'object' && value !== null && READ.get(value) === rules.body) return value
  requireKeepable(value, 'input')
  const text = JSON.stringify(value)
  if (text === undefined) throw invalidField('input', 'input is required', undefined)
  if (new TextEncoder().encode(text).byteLength > MAX_BODY_BYTES) throw tooLarge()
  return accepted(rules, JSON.parse(text), 'input')
}

/** Reports whether a body that was read holds a member because it was sent, and not as its default. */
export function isSent(body: object, member: string): boolean {
  return Object.hasOwn(SENT.get(body) ?? {}, member)
}

/** What a host asks a method of the engine for, by the schema of the request, read as {@link readInput} does. */
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
  if (isObject(result) && isObject(sent)) SENT.set(result, sent)
  return result
}

/** The elements of a list are good by themselves, and so are the lists that are members of a body. */
function remember(schema: z.core.$ZodType, value: unknown): void {
  if (schema instanceof z.ZodOptional) remember(schema.unwrap(), value)
  else if (typeof value === 'object' && value !== null) READ.set(value, schema)
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
