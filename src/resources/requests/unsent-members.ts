import { z } from 'zod'
import { required } from '../declaration/field-kind.ts'

/**
 * A body without the members that are null where they may as well be left out, at any depth: generated clients write null
 * for what they were not given, and forms an empty choice where there is a default. Members of maps, whose
 * names no declaration knows, keep their nulls.
 */
export function withoutUnsent(schema: z.core.$ZodType, value: unknown): unknown {
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

/** One of a few words, of which one stands where none is given. */
function isDefaultedChoice(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodDefault && required(schema) instanceof z.ZodEnum
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
