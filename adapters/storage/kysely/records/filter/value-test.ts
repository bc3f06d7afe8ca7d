import { sql } from 'kysely'
import { isStorable } from '../../../../../src/base/text.ts'
import type { Comparison, Filter, Literal } from '../../../../../src/storage.ts'
import type { Sql, SqlLanguage } from '../../driver/language.ts'

/** A text column and its known properties. */
export interface TextColumn {
  readonly column: Sql
  readonly folded: Sql
  /** Whether equality should be asked so that an index can answer it. */
  readonly isIndexed: boolean
}

/** A column that holds booleans in some form. */
export interface BooleanColumn {
  readonly column: Sql
  encode(value: boolean): unknown
}

/** The test of one value by a filter, for each type that the value may have; none of them is ever null for a value that is not. */
export interface ValueTest {
  readonly whenNull: boolean
  readonly whenComposite: boolean
  ofText(text: TextColumn): Condition
  ofNumber(column: Sql, asText: Sql): Condition
  ofBoolean(column: BooleanColumn): Condition
  /** Joins the conditions of a value that is compared as it is and as the text that it is written as: one of them means nothing. */
  ofEither(asValue: Condition, asText: Condition): Condition
}

type FilterOfValue = Extract<Filter, { readonly operand: unknown }>

/** Makes the test of the operand's value by a condition. */
export function valueTest(filter: FilterOfValue, language: SqlLanguage): ValueTest {
  switch (filter.kind) {
    case 'compare':
      return compareTest(filter.operator, filter.value, language)
    case 'in':
      return inTest(filter.values, language)
    case 'between':
      return { ...NOTHING, ofNumber: (column) => betweenNumbers(column, filter.from, filter.to, language) }
    case 'contains':
      return containsTest(filter.text, filter.foldCase, language)
  }
}

const NOTHING: ValueTest = {
  whenNull: false,
  whenComposite: false,
  ofText: () => false,
  ofNumber: () => false,
  ofBoolean: () => false,
  ofEither: (asValue, asText) => anyOf([asValue, asText]),
}

function compareTest(operator: Comparison, literal: Literal, language: SqlLanguage): ValueTest {
  const isEquality = operator === '='
  if (isEquality || operator === '!=') {
    const either = (condition: Condition) => (isEquality ? condition : not(condition))
    return {
      whenNull: isEquality === (literal === null),
      whenComposite: !isEquality,
      ofText: (text) => either(typeof literal === 'string' && equalText(text, literal, language)),
      ofNumber: (column) => either(isNumber(literal) && sql`${column} = ${language.number(literal)}`),
      ofBoolean: (column) => either(typeof literal === 'boolean' && equalBoolean(column, literal)),
      ofEither: (asValue, asText) => (isEquality ? anyOf : allOf)([asValue, asText]),
    }
  }
  const symbol = sql.raw(operator)
  return {
    ...NOTHING,
    ofText: ({ column }) => typeof literal === 'string' && sql`${column} ${symbol} ${storableText(literal)}`,
    ofNumber: (column) => isNumber(literal) && sql`${column} ${symbol} ${language.number(literal)}`,
  }
}

function inTest(values: ReadonlySet<Literal>, language: SqlLanguage): ValueTest {
  const texts = [...values].filter((value) => typeof value === 'string').filter(isStorable)
  const numbers = [...values].filter(isNumber)
  const booleans = [...values].filter((value) => typeof value === 'boolean')
  return {
    whenNull: values.has(null),
    whenComposite: false,
    ofText: (text) => isOneOf(text, texts, language),
    ofNumber: (column) => numbers.length > 0 && sql`${column} in (${sql.join(numbers.map(language.number))})`,
    ofBoolean: (column) => anyOf(booleans.map((value) => equalBoolean(column, value))),
    ofEither: NOTHING.ofEither,
  }
}

function betweenNumbers(column: Sql, from: number, to: number, language: SqlLanguage): Condition {
  if (!isNumber(from) || !isNumber(to)) return false
  return allOf([sql`${column} >= ${language.number(from)}`, sql`${column} < ${language.number(to)}`])
}

function containsTest(part: string, foldCase: boolean, language: SqlLanguage): ValueTest {
  if (!isStorable(part)) return NOTHING
  const wanted = foldCase ? part.toLowerCase() : part
  const holds = (whole: Sql) => sql`${language.position(whole, wanted)} > 0`
  return {
    ...NOTHING,
    ofText: ({ column, folded }) => holds(foldCase ? sql`coalesce(${folded}, lower(${column}))` : column),
    ofNumber: (_, asText) => holds(asText),
  }
}

function equalBoolean({ column, encode }: BooleanColumn, literal: boolean): Sql {
  return sql`${column} = ${encode(literal)}`
}

function equalText({ column, isIndexed }: TextColumn, literal: string, language: SqlLanguage): Condition {
  if (!isStorable(literal)) return false
  const isEqual = sql`${column} = ${literal}`
  const key = isIndexed ? language.indexedText(column) : undefined
  return key === undefined ? isEqual : allOf([sql`${key} = ${language.indexedText(sql`${literal}`)}`, isEqual])
}

/** The greatest number of values that stand in the statement one by one; more values are given as one list. */
const LISTED = 8

function isOneOf({ column, isIndexed }: TextColumn, texts: readonly string[], language: SqlLanguage): Condition {
  if (texts.length === 0) return false
  const among = (of: Sql, values: readonly string[]) =>
    values.length <= LISTED ? sql`${of} in (${sql.join(values)})` : language.isOneOf(of, values)
  const key = isIndexed ? language.indexedText(column) : undefined
  if (key === undefined) return among(column, texts)
  return allOf([among(key, [...new Set(texts.map(language.indexedPart))]), among(column, texts)])
}

/** The nearest text that a database can be asked to compare with. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '')
}

/** NaN is no number that anything could be compared with. */
function isNumber(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(value)
}

/** A condition with a known result, or a condition for the database. */
export type Condition = Sql | boolean

export function toSql(condition: Condition): Sql {
  if (typeof condition !== 'boolean') return condition
  return condition ? sql`1 = 1` : sql`1 = 0`
}

/** The opposite of a condition that is never null. */
export function not(condition: Condition): Condition {
  return typeof condition === 'boolean' ? !condition : sql`not (${condition})`
}

export function allOf(conditions: readonly Condition[]): Condition {
  const open = conditions.filter((condition) => typeof condition !== 'boolean')
  if (conditions.includes(false)) return false
  return open.length < 2 ? (open[0] ?? true) : sql`(${sql.join(open, sql` and `)})`
}

export function anyOf(conditions: readonly Condition[]): Condition {
  const open = conditions.filter((condition) => typeof condition !== 'boolean')
  if (conditions.includes(true)) return true
  return open.length < 2 ? (open[0] ?? false) : sql`(${sql.join(open, sql` or `)})`
}
