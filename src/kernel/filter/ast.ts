/** How a field is stored and compared. An instant is epoch milliseconds, a set a list of texts, json any JSON value. */
export type FieldKind = 'string' | 'integer' | 'number' | 'boolean' | 'instant' | 'set' | 'json'

/** A value in a comparison. Instants are epoch milliseconds. */
export type Literal = string | number | boolean | null

/** What is compared: a field, some or every element of a set, the size of a set, or a value inside of a JSON field. */
export type Operand =
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'anyOf' | 'allOf'; readonly field: string }
  | { readonly kind: 'count'; readonly field: string; readonly where?: Filter }
  | { readonly kind: 'json'; readonly field: string; readonly path: readonly string[] }

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/**
 * A condition on one record, as plain data: `matches` evaluates it in memory, a storage may compile it. `where` of a set
 * is a condition on a record whose only field is `id`, the element. Before it reaches a storage, `where` may speak of the
 * entity that an element names, and `field` may hold the id of a single one, a set of at most one element then.
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

/** What a filter text asks for. */
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
 * `field in values`; asks in constant time per record, however many values there are.
 *
 * @example
 * collection.find({ where: isIn('type', ['Dial', 'Bind']) })
 */
export function isIn(field: string, values: Iterable<Literal>): Filter {
  return { kind: 'in', operand: { kind: 'field', field }, values: new Set(values) }
}

/**
 * Both conditions, of which either may be absent.
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
