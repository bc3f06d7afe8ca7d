import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/time.ts'
import { type FieldKind, FilterError } from './ast.ts'

/**
 * A public symbol, with its stored field and the comparison of the field. Dots in `field` lead into a nested value
 * (`primary.cert.allowed`); a set is never nested.
 */
export interface FilterSymbol {
  readonly field: string
  readonly kind: FieldKind
  /** True when `field` is not stored. The reader of the records then computes its values, and dots in `field` have no meaning. */
  readonly isComputed?: true
  /** The kind of the entities whose ids it holds: `services`. */
  readonly linksTo?: string
}

/** Lists the symbols that a filter may name on entities of a kind. */
export type LinkedSymbols = (kind: string) => SymbolTable

/** Symbols that a filter may name. */
export type SymbolTable = Readonly<Record<string, FilterSymbol>>

/** A field whose ids lead to other entities: a set of them, or at most one. */
export interface Link {
  readonly field: string
  readonly isSet: boolean
}

/**
 * A symbol that a filter names at a column. It belongs to the record itself, or to the entity at the end of `via` (`service.name`). `path`
 * leads into the value of `field` (`tags.owner`).
 */
export interface NamedSymbol extends FilterSymbol {
  readonly name: string
  readonly at: number
  readonly path: readonly string[]
  readonly via: readonly Link[]
}

/** The symbols and entities that a name may lead to. */
export interface ReachableSymbols {
  readonly symbols: SymbolTable
  readonly linked: LinkedSymbols
  /** Called before each step to another kind of entity; throws after too many. */
  countLink(): void
}

/**
 * Looks up a name: as a whole, as a path into a JSON field, or as a path to another entity. Error: `unknown symbol '<name>'`, with its
 * position and the known symbols.
 */
export function findSymbol(name: string, { symbols, linked, countLink }: ReachableSymbols, at: number): NamedSymbol {
  let [table, rest]: [SymbolTable, string] = [symbols, name]
  const via: Link[] = []
  for (;;) {
    const found = foundIn(table, rest)
    if (found !== undefined) return { ...found, name, at, via }
    const dot = rest.indexOf('.')
    const link = dot === -1 ? undefined : own(table, rest.slice(0, dot))
    if (link?.linksTo === undefined) break
    countLink()
    via.push({ field: link.field, isSet: link.kind === 'set' })
    table = linked(link.linksTo)
    rest = rest.slice(dot + 1)
  }
  const expected = Object.keys(table).sort().join(', ')
  throw new FilterError('unknown-symbol', `unknown symbol '${name}' at column: ${at} (expected one of ${expected})`)
}

type Found = Omit<NamedSymbol, 'at' | 'name' | 'via'>

function foundIn(symbols: SymbolTable, name: string): Found | undefined {
  const whole = own(symbols, name)
  if (whole !== undefined) return inParts(whole, [])
  const dot = name.indexOf('.')
  const json = dot === -1 ? undefined : own(symbols, name.slice(0, dot))
  return json?.kind === 'json' ? inParts(json, name.slice(dot + 1).split('.')) : undefined
}

function inParts(symbol: FilterSymbol, members: readonly string[]): Found {
  if (symbol.isComputed) return { ...symbol, path: members }
  const [field = '', ...path] = symbol.field.split('.')
  return { ...symbol, field, path: [...path, ...members] }
}

function own(symbols: SymbolTable, name: string): FilterSymbol | undefined {
  return Object.hasOwn(symbols, name) ? symbols[name] : undefined
}

// Each part is followed by a character of another kind, so the match needs no backtracking.
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
/** 1970-01-01, counted in days from 0000-03-01. */
const EPOCH_DAYS = 719_468

/** An RFC 3339 date and time in epoch milliseconds; smaller fractions are cut off. Error: `type` for invalid text. */
export function instantOf(text: string): number {
  const parts = RFC3339.exec(text)
  if (parts === null) throw notAnInstant(text)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number)
  const milliseconds = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const [offsetHour, offsetMinute] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)]
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  const isTime = Math.max(hour, offsetHour) < 24 && Math.max(minute, second, offsetMinute) < 60
  if (!isDate || !isTime) throw notAnInstant(text)
  const local =
    daysSinceEpoch(year, month, day) * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + milliseconds
  const offset = offsetHour * HOUR_MS + offsetMinute * MINUTE_MS
  return parts[8] === '-' ? local + offset : local - offset
}

function daysInMonth(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeapYear ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0)
}

/** Counts years from March, so that the leap day is the last of its year and 153 days make five months. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return 365 * years + leapDays + dayOfYear - EPOCH_DAYS
}

function notAnInstant(text: string): FilterError {
  return new FilterError('type', `could not parse datetime (${text}), expected RFC 3339 such as 2006-01-02T15:04:05Z`)
}
