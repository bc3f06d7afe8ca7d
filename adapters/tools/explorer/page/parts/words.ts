import { visibleLine } from '../../../../../src/base/text.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../../src/base/time.ts'

/** The kinds of entities that tables and forms show: those of the management API, and webhooks. */
export const COLLECTIONS = [
  'identities',
  'services',
  'service-policies',
  'posture-checks',
  'edge-routers',
  'edge-router-policies',
  'service-edge-router-policies',
  'transit-routers',
  'terminators',
  'configs',
  'config-types',
  'sessions',
  'api-sessions',
  'auth-policies',
  'authenticators',
  'external-jwt-signers',
  'cas',
  'enrollments',
  'revocations',
  'controllers',
  'webhooks',
] as const

/** Kinds whose names do not follow from the words of the API. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  cas: 'certificate authority',
  'external-jwt-signers': 'external JWT signer',
  'api-sessions': 'API session',
}

/** A kind in words, in the singular. */
export function kindName(kind: string): string {
  return KIND_NAMES[kind] ?? kind.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}

/** A kind in words, in the number of `count`. */
export function pluralName(kind: string, count: number): string {
  const name = kindName(kind)
  if (count === 1) return name
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`
}

/** Some entities of a kind in words: `3 edge routers`. */
export function countedName(kind: string, count: number): string {
  return `${numberText(count)} ${pluralName(kind, count)}`
}

/** The kinds that role lists select, by the members that hold the lists. */
export const SELECTED_BY = {
  identityRoles: 'identities',
  serviceRoles: 'services',
  edgeRouterRoles: 'edge-routers',
  postureCheckRoles: 'posture-checks',
} as const

/** The role lists of each kind of policy. */
export const ROLE_LISTS = {
  'service-policies': ['identityRoles', 'serviceRoles', 'postureCheckRoles'],
  'edge-router-policies': ['identityRoles', 'edgeRouterRoles'],
  'service-edge-router-policies': ['serviceRoles', 'edgeRouterRoles'],
} as const

const NUMBER = new Intl.NumberFormat()

/** A number as the reader's locale writes it. */
export function numberText(count: number): string {
  return NUMBER.format(count)
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A number of bytes in the largest unit that it fills: `1.2 MB`. */
export function bytesText(bytes: number): string {
  const place = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const style = { style: 'unit', unit: UNITS[place] ?? 'byte', unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, style).format(bytes / 1000 ** place)
}

/** Bytes a second: `1.2 MB/s`; a dash where nothing flows. */
export function rateText(bytesPerSecond: number): string {
  return bytesPerSecond === 0 ? '–' : `${bytesText(Math.round(bytesPerSecond))}/s`
}

/** A latency in milliseconds; a dash where it is not measured. */
export function latencyText(ms: number | null): string {
  return ms === null ? '–' : `${numberText(Math.round(ms * 10) / 10)} ms`
}

const ACRONYMS = /\b(ca|jwks|jwt|mac|mfa|oidc|os|ott|pem|sdk|totp|url)\b/gi

/** Abbreviations in the names of fields, and values of the API, in words. */
const WHOLE: Readonly<Record<string, string>> = {
  cert: 'certificate',
  certs: 'certificates',
  chan: 'channel',
  char: 'character',
  ctrl: 'control',
  ext: 'external',
  kid: 'key id',
  millis: 'in milliseconds',
  updb: 'password',
  AllOf: 'all of the entries',
  AnyOf: 'any of the entries',
}

/** A value of the API in words; itself where it has no others. */
export function wholeWord(value: string): string {
  // People choose values and tags: `constructor` is no word of this table.
  return (Object.hasOwn(WHOLE, value) && WHOLE[value]) || value
}

/** The name of a field in words: `isAdmin` is `Admin`, and `configTypeId` `Config type`: its values stand there by name. */
export function wordsOf(name: string): string {
  const words = name
    .replace(/^is(?=[A-Z])|(?<!external|External|client|^)Id$/g, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[a-z]+/g, wholeWord)
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace(ACRONYMS, (word) => word.toUpperCase())
}

/** A description of the API for a form: without the marks around values, and without the format of instants, which a field has. */
export function plainly(description: string): string {
  return description.replaceAll(/`|, RFC 3339/g, '')
}

const LONGEST = 120
/** Instants from the year 10,000 on stand for never, epoch milliseconds. */
const NEVER = 253_402_300_800_000

/** The value of a field in words, short enough for a line. */
export function valueText(field: string, value: unknown): string {
  const text = wordsOfValue(field, value)
  return visibleLine(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
}

function wordsOfValue(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') {
    if (!/(At|[Uu]ntil)$/.test(field) || value <= 0) return String(value)
    return value < NEVER ? timeText(new Date(value).toISOString()) : 'never'
  }
  if (Array.isArray(value)) {
    const mark = value.some((one) => typeof one === 'object') ? '; ' : ', '
    return value.map((one) => wordsOfValue(field, one)).join(mark) || 'nothing'
  }
  if (typeof value !== 'object') return wholeWord(String(value))
  const members = Object.entries(value).map(
    ([name, one]) => `${wordsOf(name).toLowerCase()} ${wordsOfValue(name, one)}`,
  )
  return members.join(', ') || 'nothing'
}

const INSTANT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const DISTANCE = new Intl.RelativeTimeFormat(undefined, { numeric: 'always' })

const TIME_UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
] as const

/** An instant in the time zone of the reader; without the date where it is of today. */
export function timeText(instant: string): string {
  const date = new Date(instant)
  return date.toDateString() === new Date().toDateString() ? TIME.format(date) : INSTANT.format(date)
}

const WHOLE_INSTANT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** An instant with its date, in the time zone of the reader, which it names. */
export function wholeText(instant: string): string {
  return WHOLE_INSTANT.format(new Date(instant))
}

/** An instant with its distance from now, as `12:40:10 (in 32 minutes)`. */
export function untilText(instant: string): string {
  return `${timeText(instant)} (${distanceText(instant)})`
}

/** The distance of an instant from now, as `in 12 days`. */
export function distanceText(instant: string): string {
  const distance = Date.parse(instant) - Date.now()
  const [unit, size] = TIME_UNITS.find(([, milliseconds]) => Math.abs(distance) >= milliseconds) ?? ['second', 1000]
  return DISTANCE.format(Math.round(distance / size), unit)
}

/** An instant as a field for the reader's time has it; empty for any other value. */
export function localText(instant: unknown): string {
  const date = new Date(typeof instant === 'string' ? instant : NaN)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().replace(/(:00)?(\.000)?Z$/, '')
}

/** The instant of a field for the reader's time, RFC 3339; undefined while the field has none. */
export function instantOf(text: string): string | undefined {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** The time zone in which an instant is shown, now unless given, as `GMT+1`. */
export function zoneText(instant = new Date().toISOString()): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' }).formatToParts(new Date(instant))
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}
