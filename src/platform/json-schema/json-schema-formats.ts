import { z } from 'zod'

type Document = Readonly<Record<string, unknown>>

const SCHEMAS_BY_NAME = ['properties', 'patternProperties', 'definitions', '$defs', 'dependencies']
const SCHEMAS = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'propertyNames',
  'then',
]

/**
 * The same schema in the words of later drafts, where it uses those of draft 4: `exclusiveMinimum` and `exclusiveMaximum`
 * that say of their neighbour whether it is exclusive, and `id`. Everything else stays as it is.
 */
export function fromDraft4(schema: Document): Document {
  const members = Object.entries(schema).flatMap(([name, member]) => {
    if (name === 'id' && typeof member === 'string') return []
    if (typeof member === 'boolean' && isExclusive(name)) return []
    return [[name, memberFrom(name, member)]]
  })
  return { ...Object.fromEntries(members), ...bounds(schema) }
}

function memberFrom(name: string, member: unknown): unknown {
  if (SCHEMAS_BY_NAME.includes(name) && isObject(member)) {
    return Object.fromEntries(Object.entries(member).map(([key, value]) => [key, schemaFrom(value)]))
  }
  return SCHEMAS.includes(name) ? schemaFrom(member) : member
}

function schemaFrom(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(schemaFrom)
  return isObject(value) ? fromDraft4(value) : value
}

function bounds({ exclusiveMinimum, exclusiveMaximum, minimum, maximum }: Document): Document {
  return {
    ...(exclusiveMinimum === true && minimum !== undefined && { exclusiveMinimum: minimum }),
    ...(exclusiveMaximum === true && maximum !== undefined && { exclusiveMaximum: maximum }),
  }
}

function isExclusive(name: string): boolean {
  return name === 'exclusiveMinimum' || name === 'exclusiveMaximum'
}

function isObject(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reports whether a text is in a format. */
type IsInFormat = (text: string) => boolean

const PERCENT = '%[0-9a-f]{2}'
const CHARACTER = `[\\w\\-.~:/?#@!$&'()*+,;=]|${PERCENT}`
/** Brackets stand around the address of an authority and nowhere else. */
const URI_REST = `(?:\\/\\/(?:[\\w\\-.~!$&'()*+,;=:%]*@)?\\[[0-9a-fv:.]+\\])?(?:${CHARACTER})*`

/** Each alternative begins with another character, so that no text makes these backtrack. */
const URI_REFERENCE = new RegExp(`^(?:[a-z][a-z0-9+\\-.]*:)?${URI_REST}$`, 'i')
const URI = new RegExp(`^[a-z][a-z0-9+\\-.]*:(?!$)${URI_REST}$`, 'i')
const TEMPLATE_NAME = `(?:\\w|${PERCENT})+(?::[1-9]\\d{0,3}|\\*)?`
const URI_TEMPLATE = new RegExp(
  `^(?:[^\\x00-\\x20"'<>%\\\\^\`{|}]|${PERCENT}|\\{[+#./;?&=,!@|]?${TEMPLATE_NAME}(?:,${TEMPLATE_NAME})*\\})*$`,
  'i',
)
const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/
const RELATIVE_JSON_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/
const UUID = /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/**
 * The formats that are checked, by the words of JSON Schema; text in any other format, `idn-hostname` among them, passes.
 * Configurations of callers are matched by them, so none may take more than linear time.
 */
export const FORMATS: Readonly<Record<string, IsInFormat>> = {
  date: accepts(z.iso.date()),
  time: (text) => isTime(text),
  'date-time': (text) => isDateTime(text),
  hostname: (text) => text.length <= 254 && isHostName(text.replace(/\.$/, '')),
  email: isEmail,
  ipv4: accepts(z.ipv4()),
  ipv6: accepts(z.ipv6()),
  uri: (text) => URI.test(text),
  'uri-reference': (text) => URI_REFERENCE.test(text),
  'uri-template': (text) => URI_TEMPLATE.test(text),
  uuid: (text) => UUID.test(text),
  regex: isPattern,
  'json-pointer': (text) => JSON_POINTER.test(text),
  'relative-json-pointer': (text) => RELATIVE_JSON_POINTER.test(text),
}

function accepts(schema: z.ZodType): IsInFormat {
  return (text) => schema.safeParse(text).success
}

const CLOCK_TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):?(\d\d)?)$/i

/** A time of day with its offset (RFC 3339); second 60 is a leap second, at the end of a day in UTC. */
function isTime(text: string): boolean {
  const found = CLOCK_TIME.exec(text)
  if (found === null) return false
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number)
  const [offsetHour, offsetMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)]
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  const offset = (offsetHour * 60 + offsetMinute) * (found[4] === '-' ? -1 : 1)
  const DAY = 24 * 60
  return (((hour * 60 + minute - offset) % DAY) + DAY) % DAY === DAY - 1
}

function isDateTime(text: string): boolean {
  const [date = '', time = '', ...others] = text.split(/[t\s]/i)
  return others.length === 0 && z.iso.date().safeParse(date).success && isTime(time)
}

function isHostName(text: string): boolean {
  return text.split('.').every((label) => label.length <= 63 && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i.test(label))
}

const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i

function isEmail(text: string): boolean {
  const at = text.indexOf('@')
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  return at > 0 && domain.length <= 254 && domain.includes('.') && isHostName(domain) && LOCAL_PART.test(local)
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
}
