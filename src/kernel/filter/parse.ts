import { TokenReader } from '../tokens/token-reader.ts'
import type { OrderBy, Query } from '../tree/ast.ts'
import { beginLimits, checkLength, type Limits } from '../tree/limits.ts'
import type { LinkedSymbols, SymbolTable } from '../tree/symbols.ts'
import { parseCondition } from './parse-condition.ts'
import type { ParseContext } from './parse-context.ts'
import { readOrder } from './parse-sort.ts'

/**
 * Parses a filter text: a condition, `sort by`, `skip` and `limit`, each optional, in this order; a blank text asks for
 * everything. `and` and `or` have no precedence over each other and group to the right, as deployed clients rely on; `not`
 * takes in everything to its right. A condition that is just `true` is left out. `limit` and `offset` are as written, the
 * caller bounds them. Where a symbol links to other entities, `linked` tells what may be named of those. Errors:
 * {@link FilterError}; over 4,096 characters, 64 nested levels, 256 terms or 16 looks into other entities it is a `limit`.
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

/** Parses what may stand after `sort by`. Errors: as {@link parseQuery}. */
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

/** Reads a query up to whatever ends it; it has at least one of its parts. */
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

/** An integer has neither a fraction nor an exponent, not even an empty one. */
function readInteger(reader: TokenReader, expected: string): number {
  const token = reader.next()
  const isInteger = token.kind === 'number' && Number.isSafeInteger(token.value) && !/[.eE]/.test(token.text)
  if (!isInteger) throw reader.unexpected(expected, token)
  return token.value
}

function expectEnd(reader: TokenReader, expected: string): void {
  if (reader.peek().kind !== 'end') throw reader.unexpected(expected)
}
