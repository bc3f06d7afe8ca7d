import type { z } from 'zod'
import { ControllerError, invalidField } from '../../base/errors.ts'
import { memberOf } from '../../base/members.ts'
import { isStorable } from '../../base/text.ts'

/** The origin of a value, as messages name it: a part of an HTTP request, or an argument from the host. */
export type Source = 'body' | 'query' | 'input'

type Issue = z.core.$ZodIssue

/**
 * Validates a value. Throws the first violation with its path in the words of the wire: `COULD_NOT_VALIDATE` for a missing or invalid
 * member, `COULD_NOT_PARSE_BODY` for a member of a body with the wrong JSON type. The cause names the field, which is `name` for the value
 * itself.
 */
export function validate(schema: z.ZodType, value: unknown, source: Source, name: string = source): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw issue === undefined ? invalidField(name, 'is invalid', '') : problemOf(issue, value, source, name)
}

function problemOf(issue: Issue, root: unknown, source: Source, name: string): ControllerError {
  const field = issue.path.map(String).join('.') || name
  const value = issue.path.reduce<unknown>(memberOf, root)
  const where = field === name ? field : `${field} in ${source}`
  if (value === undefined || value === null) return invalidField(field, `${where} is required`, value)
  const shown = isSecret(field) ? '' : value
  if (issue.code === 'custom') return invalidField(field, issue.message, shown)
  const unreadAs = source === 'body' ? typeThatCannotBeRead(issue) : undefined
  if (unreadAs !== undefined) {
    const reason = `${where} must be of type ${unreadAs}`
    const { details } = invalidField(field, reason, typeof shown === 'object' ? '' : shown)
    return new ControllerError('COULD_NOT_PARSE_BODY', { ...details, code: 'UNHANDLED', message: reason })
  }
  return invalidField(field, `${where} ${requirement(issue)}`, shown)
}

/** The type as which deployed controllers parse a member before they validate its value. */
function typeThatCannotBeRead(issue: Issue): string | undefined {
  if (issue.code === 'invalid_type') return issue.expected
  return issue.code === 'invalid_format' && issue.format === 'base64' ? 'byte' : undefined
}

/** Deployed controllers parse this type of access and refuse it afterwards, so the list of choices leaves it out. */
const REFUSED = 'Invalid'

function requirement(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_value':
      return `should be one of [${issue.values
        .filter((one) => one !== REFUSED)
        .map(String)
        .join(' ')}]`
    case 'too_small':
      return bound(issue.origin, issue.minimum, 'least', 'greater')
    case 'too_big':
      return bound(issue.origin, issue.maximum, 'most', 'less')
    case 'invalid_format':
      return `must be of type ${issue.format === 'datetime' ? 'date-time' : issue.format}`
    case 'invalid_type':
      return `must be of type ${issue.expected}`
    default:
      return 'is invalid'
  }
}

function bound(origin: string, limit: number | bigint, most: 'least' | 'most', less: 'greater' | 'less'): string {
  if (origin === 'string') return `should be at ${most} ${limit} chars long`
  return origin === 'array' ? `should have at ${most} ${limit} items` : `should be ${less} than or equal to ${limit}`
}

/** Values of these members are never echoed. */
function isSecret(field: string): boolean {
  return /password|code|token|secret|csr|pem/i.test(field)
}

/** The largest request in bytes, as JSON in UTF-8. */
export const MAX_BODY_BYTES = 1_048_576
const MAX_JSON_DEPTH = 64
const MAX_JSON_MEMBERS = 50_000

/**
 * Refuses JSON that cannot be stored. Errors: `COULD_NOT_PARSE_BODY` for more than 64 levels, `COULD_NOT_VALIDATE` for a member called
 * `__proto__`, more than 50,000 members, text that no database can keep (the character U+0000, half a surrogate pair), and values without a
 * form in JSON: a date, a function, NaN or an infinity.
 */
export function requireKeepable(root: unknown, source: Source): void {
  requireValue(root, source, () => source)
  if (typeof root !== 'object' || root === null) return
  const open: Part[] = [{ value: root, name: source, depth: 0, around: undefined }]
  let members = 0
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const at = part
    if (at.depth >= MAX_JSON_DEPTH) throw unparsable(`${source} is nested deeper than ${MAX_JSON_DEPTH} levels`)
    const isList = Array.isArray(at.value)
    const keys = Object.keys(at.value)
    members += keys.length
    if (members > MAX_JSON_MEMBERS) {
      throw invalidField(source, `${source} has more than ${MAX_JSON_MEMBERS} members`, '')
    }
    for (const key of keys) {
      if (key === '__proto__') throw invalidField(key, `__proto__ in ${source} is not allowed as a name`, '')
      if (!isList && !isStorable(key)) throw unstorable(nameOf(at), source)
      const value: unknown = Reflect.get(at.value, key)
      requireValue(value, source, () => nameOf(at, key))
      if (typeof value === 'object' && value !== null) open.push({ value, name: key, depth: at.depth + 1, around: at })
    }
  }
}

/** A part to check, with the parts around it: its path is composed only for an error. */
interface Part {
  readonly value: object
  readonly name: string
  readonly depth: number
  readonly around: Part | undefined
}

function requireValue(value: unknown, source: Source, name: () => string): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) throw unstorable(name(), source)
  } else if (!isJson(value)) {
    throw invalidField(name(), `${name()} in ${source} is no JSON`, '')
  }
}

/** The path of a part, or of a member of it, in the words of the wire. */
function nameOf(part: Part, member?: string): string {
  const names = member === undefined ? [] : [member]
  for (let at: Part = part; at.around !== undefined; at = at.around) names.unshift(at.name)
  return names.length === 0 ? part.name : names.join('.')
}

/** Reports whether JSON can hold a value; undefined counts as absent. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return ['string', 'boolean', 'undefined'].includes(typeof value)
  if (value === null || Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function unstorable(field: string, source: Source): ControllerError {
  return invalidField(field, `${field} in ${source} holds U+0000 or half a surrogate pair`, '')
}

export function tooLarge(): ControllerError {
  return new ControllerError('REQUEST_ENTITY_TOO_LARGE')
}

export function unparsable(message: string): ControllerError {
  return new ControllerError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message })
}
