import type { Comparison, Filter, Literal, Operand } from './ast.ts'
import { compareStrings } from './compare.ts'

type Fields = Readonly<Record<string, unknown>>
type Test = (value: unknown) => boolean

/** Reports whether a record fulfils a filter. A null or absent value equals only null, and differs from everything else. */
export function matches(filter: Filter, record: Fields): boolean {
  switch (filter.kind) {
    case 'all':
      return true
    case 'not':
      return !matches(filter.of, record)
    case 'and':
      return matches(filter.left, record) && matches(filter.right, record)
    case 'or':
      return matches(filter.left, record) || matches(filter.right, record)
    case 'compare':
      return test(filter.operand, record, (value) => compares(value, filter.operator, filter.value))
    case 'in':
      return test(filter.operand, record, (value) => isLiteral(value) && filter.values.has(value))
    case 'between':
      return test(filter.operand, record, (value) => isNumber(value) && filter.from <= value && value < filter.to)
    case 'contains':
      return test(filter.operand, record, (value) => contains(value, filter.text, filter.foldCase))
    case 'isEmpty':
      return countElements(record[filter.field], filter.where) === 0
  }
}

function test(operand: Operand, record: Fields, holds: Test): boolean {
  switch (operand.kind) {
    case 'field':
      return holds(record[operand.field] ?? null)
    case 'anyOf':
      return elementsOf(record[operand.field]).some(holds)
    case 'allOf':
      return elementsOf(record[operand.field]).every(holds)
    case 'count':
      return holds(countElements(record[operand.field], operand.where))
    case 'json':
      return holds(valueAt(record[operand.field], operand.path))
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

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : null),
    value ?? null,
  )
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

/** The order of two values of one type; values of different types, and null, have none. */
function orderOf(value: unknown, literal: Literal): number | undefined {
  if (typeof value === 'string' && typeof literal === 'string') return compareStrings(value, literal)
  if (isNumber(value) && isNumber(literal)) return value - literal
  return undefined
}

function contains(value: unknown, text: string, foldCase: boolean): boolean {
  if (typeof value !== 'string' && !isNumber(value)) return false
  const whole = String(value)
  return foldCase ? whole.toLowerCase().includes(text.toLowerCase()) : whole.includes(text)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function isLiteral(value: unknown): value is Literal {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || isNumber(value)
}
