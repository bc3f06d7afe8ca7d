/** The storage and comparison of a field. An instant is epoch milliseconds, a set is a list of texts, json is any JSON value. */
export type FieldKind = 'string' | 'integer' | 'number' | 'boolean' | 'instant' | 'set' | 'json'

/** A value in a comparison. Instants are epoch milliseconds. */
export type Literal = string | number | boolean | null

/** The compared value: a field, some or every element of a set, the size of a set, or a value inside of a JSON field. */
export type Operand =
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'anyOf' | 'allOf'; readonly field: string }
  | { readonly kind: 'count'; readonly field: string; readonly where?: Filter }
  | { readonly kind: 'json'; readonly field: string; readonly path: readonly string[] }

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/**
 * A condition on one record, as plain data: `matches` evaluates it in memory, a storage may compile it. `where` of a set is a condition on
 * a record whose only field is `id`, the element. Before it reaches a storage, `where` may name fields of the entity behind an element, and
 * `field` may hold a single id, which counts as a set of at most one element.
 */
export type Filter =
  | { readonly kind: 'all' }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'and' | 'or'; readonly left: Filter; readonly right: Filter }
  | { readonly kind: 'compare'; readonly operand: Operand; readonly operator: Comparison; readonly value: Literal }
  | { readonly kind: 'in'; readonly operand: Operand; readonly values: ReadonlySet<Literal> }
  | { readonly kind: 'between'; readonly operand: Operand; readonly from: number; readonly to: number }
  | { readonly kind: 'contains'; readonly operand: Operand; readonly text: string; readonly foldCase: boolean }
  | { readonly kind: 'isEmpty'; readonly field: string; readonly where?: Filter }

export interface OrderBy {
  readonly field: string
  readonly kind: FieldKind
  readonly direction: 'asc' | 'desc'
}

/** The parsed request of a filter text. */
export interface Query {
  readonly where?: Filter
  readonly orderBy?: readonly OrderBy[]
  readonly limit?: number | 'none'
  readonly offset?: number
}

/**
 * `field = value`.
 *
 * @example
 * collection.find({ where: equals('name', 'web') })
 */
export function equals(field: string, value: Literal): Filter {
  return { kind: 'compare', operand: { kind: 'field', field }, operator: '=', value }
}

/**
 * `field <= value`; instants are epoch ms.
 *
 * @example
 * collection.find({ where: isAtMost('expiresAt', now) })
 */
export function isAtMost(field: string, value: number): Filter {
  return { kind: 'compare', operand: { kind: 'field', field }, operator: '<=', value }
}

/**
 * `field in values`; takes constant time per record, however many values there are.
 *
 * @example
 * collection.find({ where: isIn('type', ['Dial', 'Bind']) })
 */
export function isIn(field: string, values: Iterable<Literal>): Filter {
  return { kind: 'in', operand: { kind: 'field', field }, values: new Set(values) }
}

/**
 * Both conditions; either may be absent.
 *
 * @example
 * const where = both(equals('type', 'Dial'), ids(['p1', 'p2']))
 * await collection.find({ ...(where && { where }) })
 */
export function both(left: Filter | undefined, right: Filter | undefined): Filter | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return { kind: 'and', left, right }
}

/**
 * `id in ids`.
 *
 * @example
 * collection.find({ where: ids(['s1', 's2']) })
 */
export function ids(list: Iterable<string>): Filter {
  return isIn('id', list)
}

/** A condition without `and`, `or` and `not`. */
export type Leaf = Exclude<Filter, { readonly kind: 'all' | 'not' | 'and' | 'or' }>

/** The field of a leaf. */
export function fieldOf(leaf: Leaf): string {
  return leaf.kind === 'isEmpty' ? leaf.field : leaf.operand.field
}

/** The filter of a leaf on the elements of its field. */
export function whereOf(leaf: Leaf): Filter | undefined {
  if (leaf.kind === 'isEmpty') return leaf.where
  return leaf.operand.kind === 'count' ? leaf.operand.where : undefined
}

/** The leaf with another filter on the elements of its field. */
export function withWhere(leaf: Leaf, where: Filter): Leaf {
  if (leaf.kind === 'isEmpty') return { ...leaf, where }
  return leaf.operand.kind === 'count' ? { ...leaf, operand: { ...leaf.operand, where } } : leaf
}

/** The leaves of a filter, from left to right. */
export function leavesOf(filter: Filter): readonly Leaf[] {
  switch (filter.kind) {
    case 'all':
      return []
    case 'not':
      return leavesOf(filter.of)
    case 'and':
    case 'or':
      return [...leavesOf(filter.left), ...leavesOf(filter.right)]
    default:
      return [filter]
  }
}

/** The kind of problem in a filter or sort text. */
export type FilterProblem = 'syntax' | 'unknown-symbol' | 'type' | 'limit' | 'sort'

/**
 * An unusable filter or sort text; the message is for the caller.
 *
 * @example
 * try { parseQuery('name ~ 1', symbols) } catch (error) { if (error instanceof FilterError) console.log(error.kind) }
 */
export class FilterError extends Error {
  readonly kind: FilterProblem

  constructor(kind: FilterProblem, message: string) {
    super(message)
    this.name = 'FilterError'
    this.kind = kind
  }
}
