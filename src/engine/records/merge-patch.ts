import { z } from 'zod'
import { required } from '../../resources/declaration/field-kind.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'

/**
 * The record with the sent fields changed. A nested object with fixed members is merged member by member; maps and lists
 * are replaced whole; null and absent members are left as they are, and so is an object with fixed members of which none is
 * given: generated clients write one for what they do not change.
 */
export function mergePatch<R extends Resource>(resource: R, before: RecordOf<R>, patch: object): RecordOf<R> {
  return { ...before, ...mergeMembers(resource.definition.writable, before, { ...patch }) }
}

function mergeMembers(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  before: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const sent = Object.entries(patch).filter(([member, value]) => isSent(shape[member], value))
  return Object.fromEntries(sent.map(([member, value]) => [member, merged(shape[member], before[member], value)]))
}

/** Reports whether a member of a patch says anything. */
function isSent(schema: z.core.$ZodType | undefined, value: unknown): boolean {
  if (value === undefined || value === null) return false
  const inner = schema instanceof z.ZodType ? required(schema) : undefined
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return true
  return Object.entries(value).some(([member, part]) => isSent(inner.shape[member], part))
}

function merged(schema: z.core.$ZodType | undefined, before: unknown, value: unknown): unknown {
  const inner = schema instanceof z.ZodType ? required(schema) : undefined
  if (!(inner instanceof z.ZodObject) || !isObject(before) || !isObject(value)) return value
  return { ...before, ...mergeMembers(inner.shape, before, value) }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
