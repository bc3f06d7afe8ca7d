import { visibleLine } from '../../../../../src/base/text.ts'
import { timeText } from './time-text.ts'

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
  return WHOLE[value] ?? value
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
