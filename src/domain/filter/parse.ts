import type { Filter, OrderBy, Query } from './ast.ts'
import { FilterError } from './filter-error.ts'
import { type Limits, limits } from './limits.ts'
import type { ParseContext } from './parse-context.ts'
import { parseOperation } from './parse-operation.ts'
import { findSymbol, type SymbolTable } from './symbols.ts'
import { TokenReader } from './token-reader.ts'

const MAX_SORT_FIELDS = 5

/**
 * Parses a filter text: a condition, `sort by`, `skip` and `limit`, each optional, in this order. `and` and `or` have no
 * precedence over each other and group to the right, as deployed clients rely on; `not` takes in everything to its right.
 * Errors: {@link FilterError}; texts over 4,096 characters, 64 nested levels or 256 terms are refused.
 */
export function parseQuery(text: string, symbols: SymbolTable): Query {
  const reader = new TokenReader(limits.checkLength(text))
  const query = readQuery(contextOf(reader, symbols, limits.begin()))
  if (reader.peek().kind !== 'end') throw reader.unexpected()
  return query
}

/** Parses what may stand after `sort by`. */
export function parseSort(text: string, symbols: SymbolTable): readonly OrderBy[] {
  const reader = new TokenReader(limits.checkLength(text))
  const orderBy = readOrder(reader, symbols)
  if (reader.peek().kind !== 'end') throw reader.unexpected()
  return orderBy
}

function contextOf(reader: TokenReader, symbols: SymbolTable, count: Limits): ParseContext {
  return { reader, symbols, count, subquery: (inner) => readQuery(contextOf(reader, inner, count)) }
}

/** Reads a query up to whatever ends it. */
function readQuery(context: ParseContext): Query {
  const { reader, symbols } = context
  const where = beginsCondition(reader) ? readCondition(context) : undefined
  const orderBy = reader.takeKeyword('sort', 'by') ? readOrder(reader, symbols) : undefined
  const offset = reader.takeKeyword('skip') ? readInteger(reader) : undefined
  const limit = reader.takeKeyword('limit') ? readLimit(reader) : undefined
  return {
    ...(where && where.kind !== 'all' && { where }),
    ...(orderBy && { orderBy }),
    ...(offset !== undefined && { offset }),
    ...(limit !== undefined && { limit }),
  }
}

function beginsCondition(reader: TokenReader): boolean {
  const token = reader.peek()
  if (token.kind === 'end' || (token.kind === 'symbol' && token.text === ')')) return false
  return !(reader.isKeyword('sort', 'by') || reader.isKeyword('skip') || reader.isKeyword('limit'))
}

/** Right-grouped chains are read in a loop and folded afterwards, so that a long one needs no deep recursion. */
function readCondition(context: ParseContext): Filter {
  const { reader, count } = context
  const terms: Filter[] = []
  const joints: ('and' | 'or' | 'not')[] = []
  for (;;) {
    while (reader.isKeyword('not')) {
      count.term()
      reader.next()
      joints.push('not')
      terms.push({ kind: 'all' })
    }
    terms.push(readTerm(context))
    if (reader.takeKeyword('and')) joints.push('and')
    else if (reader.takeKeyword('or')) joints.push('or')
    else break
  }
  let right = terms.pop() ?? { kind: 'all' }
  for (let joint = joints.pop(); joint !== undefined; joint = joints.pop()) {
    const left = terms.pop() ?? { kind: 'all' }
    right = joint === 'not' ? { kind: 'not', of: right } : { kind: joint, left, right }
  }
  return right
}

function readTerm(context: ParseContext): Filter {
  const { reader, count } = context
  if (!reader.takeSymbol('(')) return parseOperation(context)
  const condition = count.nested(() => readCondition(context))
  reader.expectSymbol(')')
  return condition
}

function readOrder(reader: TokenReader, symbols: SymbolTable): readonly OrderBy[] {
  const orderBy: OrderBy[] = []
  do {
    const token = reader.next()
    if (token.kind !== 'word') throw reader.unexpected(token)
    const { field, kind } = findSymbol(token.text, symbols)
    if (kind === 'set' || kind === 'json') throw new FilterError('sort', `invalid sort field: ${token.text}`)
    const descending = reader.takeKeyword('desc')
    if (!descending) reader.takeKeyword('asc')
    orderBy.push({ field, kind, direction: descending ? 'desc' : 'asc' })
  } while (reader.takeSymbol(','))
  return orderBy.slice(0, MAX_SORT_FIELDS)
}

function readLimit(reader: TokenReader): number | 'none' {
  return reader.takeKeyword('none') ? 'none' : readInteger(reader)
}

function readInteger(reader: TokenReader): number {
  const token = reader.next()
  if (token.kind !== 'number' || !Number.isSafeInteger(token.value)) throw reader.unexpected(token)
  return token.value
}
