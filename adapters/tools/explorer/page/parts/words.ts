import { visibleLine } from '../../../../../src/base/text.ts'
import { timeText } from './time-text.ts'

const ACRONYMS = /\b(ca|jwks|jwt|mac|mfa|os|pem|sdk|totp|url)\b/gi

/** The name of a field in words: `edgeRouterRoles` is `Edge router roles`, and `configTypeId` `Config type`: its values stand there by name. */
export function wordsOf(name: string): string {
  const words = name
    .replace(/(?<!external|^)Id$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
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
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value).map(
    ([name, one]) => `${wordsOf(name).toLowerCase()} ${wordsOfValue(name, one)}`,
  )
  return members.join(', ') || 'nothing'
}
