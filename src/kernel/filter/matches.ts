import type { Comparison, Filter, Literal, Operand, OrderBy } from './ast.ts'

/**
 * Reports whether a record fulfils a filter. Null and absent values are the same: they equal only null, and differ from all other values.
 * On an empty set, `anyOf` is false and `allOf` is true.
 *
 * @example
 * matches({ kind: 'compare', operand: { kind: 'field', field: 'name' }, operator: '=', value: 'web' }, { id: '1', name: 'web' }) // true
 */
export function matches<T extends object>(filter: Filter, record: T): boolean {
  switch (filter.kind) {
    case 'all':
      return true
    case 'not':
      return !matches(filter.of, record)
    case 'and':
      return matches(filter.left, record) && matches(filter.right, record)
    case 'or':
      return matches(filter.left, record) || matches(filter.right, record)
    case 'isEmpty':
      return countElements(Reflect.get(record, filter.field), filter.where) === 0
    default:
      return fulfilsWith(filter.operand, filter, record)
  }
}

function fulfilsWith(operand: Operand, condition: Condition, record: object): boolean {
  const value: unknown = Reflect.get(record, operand.field) ?? null
  switch (operand.kind) {
    case 'field':
      return fulfils(value, condition)
    case 'anyOf':
      return elementsOf(value).some((element) => fulfils(element, condition))
    case 'allOf':
      return elementsOf(value).every((element) => fulfils(element, condition))
    case 'count':
      return fulfils(countElements(value, operand.where), condition)
    case 'json':
      return operand.path.length === 0
        ? fulfils(value, condition)
        : memberFulfils(operand.path.reduce(memberOf, value), condition)
  }
}

function elementsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function countElements(value: unknown, where: Filter | undefined): number {
  const elements = elementsOf(value)
  if (where === undefined) return elements.length
  return elements.filter((id) => matches(where, { id })).length
}

/** An own member of an object; null for lists, inherited and absent members. */
function memberOf(value: unknown, key: string): unknown {
  const hasMember = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
  return hasMember ? (Reflect.get(value, key) ?? null) : null
}

const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff

/**
 * Orders texts by Unicode code point. JavaScript's own order is by UTF-16 unit, which puts characters beyond U+FFFF
 * before U+E000, unlike every database.
 *
 * @example
 * ['b', 'a'].sort(compareStrings) // ['a', 'b']
 */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/** A surrogate belongs to a character above every single unit. */
function rank(unit: number): number {
  return unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE ? unit + 0x10000 : unit
}

/**
 * Orders records by the given fields and then by `id` ascending. Null and absent values come first ascending.
 *
 * @example
 * records.toSorted(compareBy([{ field: 'cost', kind: 'integer', direction: 'desc' }]))
 */
export function compareBy<T extends { readonly id: string }>(orderBy: readonly OrderBy[]): (a: T, b: T) => number {
  return (a, b) => {
    for (const { field, direction } of orderBy) {
      const order = compareValues(Reflect.get(a, field), Reflect.get(b, field))
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return compareStrings(a.id, b.id)
  }
}

function compareValues(a: unknown, b: unknown): number {
  const left = a ?? null
  const right = b ?? null
  if (left === null || right === null) return Number(left !== null) - Number(right !== null)
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right)
  return Number(left) - Number(right)
}

/** A filter on a single value. */
export type Condition = Extract<Filter, { readonly kind: 'compare' | 'in' | 'between' | 'contains' }>

/** Reports whether a value fulfils a condition, whatever its operand. Values of different types never match. */
export function fulfils(value: unknown, condition: Condition): boolean {
  switch (condition.kind) {
    case 'compare':
      return compares(value, condition.operator, condition.value)
    case 'in':
      return isLiteral(value) && condition.values.has(value)
    case 'between':
      return typeof value === 'number' && condition.from <= value && value < condition.to
    case 'contains':
      return contains(value, condition.text, condition.foldCase)
  }
}

/** The same for a member of a JSON value, which has no declared type: a number or boolean is compared with a text in its JSON form. */
function memberFulfils(value: unknown, condition: Condition): boolean {
  const isWritten = typeof value === 'number' || typeof value === 'boolean'
  if (!isWritten) return fulfils(value, condition)
  const text = String(value)
  switch (condition.kind) {
    case 'compare':
      return fulfils(typeof condition.value === 'string' ? text : value, condition)
    case 'in':
      return fulfils(value, condition) || fulfils(text, condition)
    case 'between':
      return fulfils(value, condition)
    case 'contains':
      return fulfils(text, condition)
  }
}

function compares(value: unknown, operator: Comparison, literal: Literal): boolean {
  if (operator === '=') return value === literal
  if (operator === '!=') return value !== literal
  const order = orderOf(value, literal)
  if (order === undefined) return false
  switch (operator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

/** The order of two texts or two numbers; undefined for other values. */
function orderOf(value: unknown, literal: Literal): number | undefined {
  if (typeof value === 'string' && typeof literal === 'string') return compareStrings(value, literal)
  if (typeof value === 'number' && typeof literal === 'number') return value - literal
  return undefined
}

/** Numbers contain their decimal digits. */
function contains(value: unknown, text: string, foldCase: boolean): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const whole = String(value)
  return foldCase ? whole.toLowerCase().includes(text.toLowerCase()) : whole.includes(text)
}

function isLiteral(value: unknown): value is Literal {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
