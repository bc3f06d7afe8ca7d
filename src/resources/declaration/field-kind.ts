import { z } from 'zod'
import type { FieldKind } from '../../domain/filter/index.ts'
import { Instant } from './fields.ts'

/** Tells how a field is stored and compared, from its schema alone. */
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

/** What a field that is stored as JSON always holds; undefined for one that may hold anything, and for other fields. */
export function jsonTypeOf(schema: z.ZodType): 'list' | 'object' | undefined {
  const inner = required(schema)
  if (kindOf(schema) !== 'json') return undefined
  if (inner instanceof z.ZodArray) return 'list'
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord ? 'object' : undefined
}

/** Reports whether a field may hold nothing. */
export function mayBeNull(schema: z.ZodType): boolean {
  const stored = withoutDefault(schema)
  return stored.safeParse(null).success || stored.safeParse(undefined).success
}

/** What a field holds that nobody has written: its default, null where it may be null, or the zero of its kind. */
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

/** The schema of a value that is there: without default, optional and nullable. */
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

// zod types the inside of a wrapper by its core interface; every schema of ours is a full ZodType.
function toType(schema: z.core.$ZodType): z.ZodType {
  return schema as z.ZodType
}
