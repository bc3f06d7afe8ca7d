import type { Filter, Operand } from '../tree/ast.ts'
import { type Condition, fulfils, memberFulfils } from './fulfils.ts'

/**
 * Reports whether a record fulfils a filter. Null and absent values are the same: they equal only null and differ from
 * everything else. Of an empty set, `anyOf` is false and `allOf` is true.
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

/** A member that the value itself has; lists and inherited members have no names. */
function memberOf(value: unknown, key: string): unknown {
  const hasMember = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
  return hasMember ? (Reflect.get(value, key) ?? null) : null
}
