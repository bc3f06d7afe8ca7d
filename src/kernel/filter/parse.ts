import { type Comparison, type Filter, FilterError, type Operand, type OrderBy, type Query } from './ast.ts'
import type { LinkedSymbols, SymbolTable } from './filter-symbols.ts'
import {
  beginLimits,
  checkLength,
  emptyThroughLinks,
  type Limits,
  type ParseContext,
  TokenReader,
  unsupported,
} from './parse-context.ts'
import {
  type Left,
  readAnyValue,
  readArray,
  readLeft,
  readOrdered,
  readRange,
  readSetArguments,
  readSymbol,
} from './parse-value.ts'

const COMPARISONS: readonly Comparison[] = ['=', '!=', '<=', '>=', '<', '>']

/** Reads one condition without `and`, `or` or parentheses around it. */
function parseOperation(context: ParseContext): Filter {
  const { reader, count } = context
  count.term()
  if (reader.takeKeyword('true')) return { kind: 'all' }
  if (reader.takeKeyword('false')) return { kind: 'not', of: { kind: 'all' } }
  if (reader.takeKeyword('isempty')) {
    const { via, field, where } = readSetArguments(context)
    return emptyThroughLinks(via, { kind: 'isEmpty', field, ...(where && { where }) })
  }
  const left = readLeft(context)
  const operator = COMPARISONS.find((symbol) => reader.takeSymbol(symbol))
  if (operator !== undefined) return readComparison(reader, left, operator)
  if (reader.isKeyword('not')) return readNegated(reader, left)
  const condition = readWordOperator(reader, left)
  return condition === undefined ? bareSymbol(reader, left) : left.around(condition)
}

function readComparison(reader: TokenReader, left: Left, operator: Comparison): Filter {
  const isEquality = operator === '=' || operator === '!='
  const value = isEquality ? readAnyValue(reader, left, operator) : readOrdered(reader, left, operator)
  return left.around({ kind: 'compare', operand: left.operand, operator, value })
}

/**
 * `not in` and `not between` state that the condition without `not` is false. `not contains` is a statement on each element: `anyOf` then
 * means that some element does not contain the text.
 */
function readNegated(reader: TokenReader, left: Left): Filter {
  reader.expectSpace()
  reader.next()
  if (reader.isKeyword('in') && reader.peek().gap !== 1) throw reader.unexpected('not in with one space between')
  const of = readWordOperator(reader, left)
  if (of === undefined) throw reader.unexpected('in, between, contains or icontains')
  if (of.kind !== 'contains') return { kind: 'not', of: left.around(of) }
  return left.around({ kind: 'not', of: { ...of, operand: dual(of.operand) } })
}

function dual(operand: Operand): Operand {
  if (operand.kind === 'anyOf') return { ...operand, kind: 'allOf' }
  return operand.kind === 'allOf' ? { ...operand, kind: 'anyOf' } : operand
}

function readWordOperator(reader: TokenReader, left: Left): Filter | undefined {
  const { operand } = left
  if (reader.takeSpacedKeyword('in')) return { kind: 'in', operand, values: readArray(reader, left) }
  if (reader.takeSpacedKeyword('between')) return { kind: 'between', operand, ...readRange(reader, left) }
  if (reader.takeKeyword('contains')) return readContains(reader, left, false)
  if (reader.takeKeyword('icontains')) return readContains(reader, left, true)
  return undefined
}

function readContains(reader: TokenReader, left: Left, foldCase: boolean): Filter {
  reader.expectSpace()
  const token = reader.next()
  const isText = token.kind === 'string' || (token.kind === 'number' && !foldCase)
  if (!isText) throw reader.unexpected(foldCase ? 'a string' : 'a string or number', token)
  if (left.kind === 'boolean' || left.kind === 'instant') {
    throw unsupported(foldCase ? 'icontains' : 'contains', left, token)
  }
  return { kind: 'contains', operand: left.operand, text: String(token.value), foldCase }
}

/** A boolean symbol is a condition by itself. So is a symbol inside a JSON field, which may be boolean. Other symbols need an operator. */
function bareSymbol(reader: TokenReader, { name, kind, operand, around }: Left): Filter {
  const isSymbol = operand.kind === 'field' || operand.kind === 'json'
  if (isSymbol && (kind === 'boolean' || kind === 'json'))
    return around({ kind: 'compare', operand, operator: '=', value: true })
  if (!isSymbol || !endsTerm(reader)) throw reader.unexpected('an operator')
  throw new FilterError('type', `symbol '${name}' is not a bool symbol, expected an operator and a value after it`)
}

function endsTerm(reader: TokenReader): boolean {
  if (reader.peek().kind === 'end' || reader.isSymbol(')')) return true
  return ['and', 'or', 'sort', 'skip', 'limit'].some((keyword) => reader.isKeyword(keyword))
}

/**
 * Parses a filter text: a condition, `sort by`, `skip` and `limit`, each optional, in this order; a blank text asks for everything. `and`
 * and `or` have no precedence over each other and group to the right, as deployed clients rely on; `not` takes in everything to its right.
 * A condition of only `true` is left out. `limit` and `offset` are as written; the caller bounds them. `linked` lists the symbols of
 * entities that a symbol links to. Errors: {@link FilterError}, of kind `limit` above 4,096 characters, 64 nested levels, 256 terms or 16
 * steps to other entities.
 *
 * @example
 * parseQuery('name = "web" sort by name limit 10', { name: { field: 'name', kind: 'string' } }).limit // 10
 */
export function parseQuery(text: string, symbols: SymbolTable, linked: LinkedSymbols = nothing): Query {
  const reader = new TokenReader(checkLength(text))
  if (reader.peek().kind === 'end') return {}
  const query = readQuery(contextOf(reader, symbols, linked, beginLimits()))
  expectEnd(reader, 'and, or, sort by, skip, limit or the end')
  return query
}

/** Parses the text after `sort by`. Errors: as {@link parseQuery}. */
export function parseSort(text: string, symbols: SymbolTable): readonly OrderBy[] {
  const reader = new TokenReader(checkLength(text))
  const orderBy = readOrder({ reader, symbols, linked: nothing, count: beginLimits() })
  expectEnd(reader, 'asc, desc, a comma or the end')
  return orderBy
}

function nothing(): SymbolTable {
  return {}
}

function contextOf(reader: TokenReader, symbols: SymbolTable, linked: LinkedSymbols, count: Limits): ParseContext {
  const subquery = (inner: SymbolTable) => readQuery(contextOf(reader, inner, linked, count))
  return { reader, symbols, linked, count, subquery }
}

/** Reads a query with at least one of its parts. */
function readQuery(context: ParseContext): Query {
  const { reader } = context
  const hasCondition = !['sort', 'skip', 'limit'].some((keyword) => reader.isKeyword(keyword))
  const where = hasCondition ? parseCondition(context) : undefined
  const orderBy = takeSortBy(reader) ? readOrder(context) : undefined
  const offset = reader.takeSpacedKeyword('skip') ? readInteger(reader, 'an integer') : undefined
  const limit = reader.takeSpacedKeyword('limit') ? readLimit(reader) : undefined
  return {
    ...(where && where.kind !== 'all' && { where }),
    ...(orderBy && { orderBy }),
    ...(offset !== undefined && { offset }),
    ...(limit !== undefined && { limit }),
  }
}

function takeSortBy(reader: TokenReader): boolean {
  if (!reader.takeSpacedKeyword('sort')) return false
  reader.expectKeyword('by')
  reader.expectSpace()
  return true
}

function readLimit(reader: TokenReader): number | 'none' {
  return reader.takeKeyword('none') ? 'none' : readInteger(reader, 'none or an integer')
}

/** Reads an integer: neither a fraction nor an exponent, not even an empty one. */
function readInteger(reader: TokenReader, expected: string): number {
  const token = reader.next()
  const isInteger = token.kind === 'number' && Number.isSafeInteger(token.value) && !/[.eE]/.test(token.text)
  if (!isInteger) throw reader.unexpected(expected, token)
  return token.value
}

function expectEnd(reader: TokenReader, expected: string): void {
  if (reader.peek().kind !== 'end') throw reader.unexpected(expected)
}

/** The text before a term: `not`, or a finished term and the operator that joins it. */
type Joint = { readonly kind: 'not' } | { readonly kind: 'and' | 'or'; readonly left: Filter }

/**
 * Reads conditions joined by `and`, `or` and `not`. Each operator takes in everything to its right. Chains are read in a loop and folded
 * afterwards, so that a long chain needs no deep recursion.
 */
function parseCondition(context: ParseContext): Filter {
  const joints: Joint[] = []
  for (;;) {
    readNots(context, joints)
    const term = readTerm(context)
    const kind = readJoiner(context)
    if (kind === undefined) return joints.reduceRight(join, term)
    joints.push({ kind, left: term })
  }
}

function readNots({ reader, count }: ParseContext, joints: Joint[]): void {
  while (reader.takeKeyword('not')) {
    count.term()
    reader.expectSpace()
    joints.push({ kind: 'not' })
  }
}

function readTerm(context: ParseContext): Filter {
  const { reader, count } = context
  if (!reader.takeSymbol('(')) return parseOperation(context)
  const condition = count.nested(() => parseCondition(context))
  if (!reader.takeSymbol(')')) throw reader.unexpected('and, or or )')
  return condition
}

function readJoiner({ reader }: ParseContext): 'and' | 'or' | undefined {
  if (reader.takeSpacedKeyword('and')) return 'and'
  return reader.takeSpacedKeyword('or') ? 'or' : undefined
}

function join(right: Filter, joint: Joint): Filter {
  return joint.kind === 'not' ? { kind: 'not', of: right } : { ...joint, right }
}

const MAX_SORT_FIELDS = 5

/**
 * Reads `name asc, cost desc, …`; ascending by default. Fields after the fifth are ignored. Errors: `sort` for a symbol without an order (a
 * set, a member of a field, a field of another entity), `unknown-symbol`, `syntax`.
 */
function readOrder(context: Pick<ParseContext, 'reader' | 'symbols' | 'linked' | 'count'>): readonly OrderBy[] {
  const { reader } = context
  const orderBy: OrderBy[] = []
  do {
    const { name, field, kind, path, via, at } = readSymbol(context, 'a symbol to sort by')
    const isOrdered = kind !== 'set' && kind !== 'json' && path.length === 0 && via.length === 0
    if (!isOrdered) {
      throw new FilterError(
        'sort',
        `invalid sort field: ${name} at column: ${at} (expected a symbol of a single value)`,
      )
    }
    const isDescending = reader.takeKeyword('desc')
    if (!isDescending) reader.takeKeyword('asc')
    orderBy.push({ field, kind, direction: isDescending ? 'desc' : 'asc' })
  } while (reader.takeSymbol(','))
  return orderBy.slice(0, MAX_SORT_FIELDS)
}
