import type { Comparison, Filter, Literal } from '../tree/ast.ts'
import { compareStrings } from './compare.ts'

/** A filter on a single value. */
export type Condition = Extract<Filter, { readonly kind: 'compare' | 'in' | 'between' | 'contains' }>

/** Reports whether one value fulfils a condition, whatever its operand is. Values of different types never compare. */
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

/**
 * The same for a member of a JSON value, whose type nobody declared: a text is compared with a number or a boolean as JSON
 * writes it.
 */
export function memberFulfils(value: unknown, condition: Condition): boolean {
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

/** The order of two texts or two numbers; other values have none. */
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
