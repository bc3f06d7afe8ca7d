import type { z } from 'zod'
import { ControllerError, invalidField } from '../../domain/errors.ts'

/** Where a value came from, as messages name it: parts of an HTTP request, or what a host hands in. */
export type Source = 'body' | 'query' | 'input'

type Issue = z.core.$ZodIssue

/**
 * Validates a value. The first violation is answered, by its path in the words of the wire: `COULD_NOT_VALIDATE` for a
 * missing or unacceptable member, for a body `COULD_NOT_PARSE_BODY` for one of the wrong JSON type; the cause names the
 * field, which is `name` for the value itself.
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

/** The type that deployed controllers read a member as before they look at what it says. */
function typeThatCannotBeRead(issue: Issue): string | undefined {
  if (issue.code === 'invalid_type') return issue.expected
  return issue.code === 'invalid_format' && issue.format === 'base64' ? 'byte' : undefined
}

/** Deployed controllers read it where a type of access is asked for, and refuse it then: nobody is to try it. */
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

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}

/** Values of these members are never echoed. */
function isSecret(field: string): boolean {
  return /password|code|token|secret|csr|pem/i.test(field)
}
