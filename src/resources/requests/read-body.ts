import { z } from 'zod'
import { invalidField } from '../../domain/errors.ts'
import { MAX_BODY_BYTES, requireKeepable, tooLarge } from './json-limits.ts'
import { withoutUnsent } from './unsent-members.ts'
import { validate } from './validation.ts'

type Members = Readonly<Record<string, unknown>>

/** What is declared of a body. */
export interface BodyRules {
  readonly body: z.ZodType
  /** Other spellings of the body, or of each element of a list, put right before it is validated. */
  readonly spellings?: ((body: Members) => Members) | undefined
}

/** What a schema has made of a body, by which it is known again: a body is validated once, however often it is handed on. */
const READ = new WeakMap<object, z.core.$ZodType>()

/**
 * A body of the wire as it is declared: other spellings are put right, members that are null count as not sent, what is
 * left out has its default, and what is not declared is not there. The first violation is thrown.
 */
export function readBody(rules: BodyRules, value: unknown): unknown {
  return accepted(rules, value, 'body')
}

/**
 * The same for what a host hands in, by the limits of the wire. Nothing that it changes later changes the answer. What
 * {@link readBody} answered for the same schema is taken as it is.
 */
export function readInput(rules: BodyRules, value: unknown): unknown {
  if (isObject(value) && READ.get(value) === rules.body) return value
  requireKeepable(value, 'input')
  const text = JSON.stringify(value)
  if (text === undefined) throw invalidField('input', 'input is required', undefined)
  if (new TextEncoder().encode(text).byteLength > MAX_BODY_BYTES) throw tooLarge()
  return accepted(rules, JSON.parse(text), 'input')
}

function accepted({ body, spellings }: BodyRules, value: unknown, source: 'body' | 'input'): unknown {
  const result = validate(body, withoutUnsent(body, spelled(spellings, value)), source)
  remember(body, result)
  return result
}

/** The elements of a list are good by themselves. */
function remember(schema: z.core.$ZodType, value: unknown): void {
  if (isObject(value)) READ.set(value, schema)
  if (schema instanceof z.ZodArray && Array.isArray(value)) for (const one of value) remember(schema.element, one)
}

/** A body, or each element of a list, in the spelling of the declaration. Members inside of maps keep their nulls. */
function spelled(spellings: BodyRules['spellings'], body: unknown): unknown {
  if (Array.isArray(body)) return body.map((element) => spelled(spellings, element))
  if (!isObject(body)) return body
  const sent = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  return spellings?.(sent) ?? sent
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
