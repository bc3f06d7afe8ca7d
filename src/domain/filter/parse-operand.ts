import type { FieldKind, Filter, Operand } from './ast.ts'
import { FilterError } from './filter-error.ts'
import type { ParseContext } from './parse-context.ts'
import { findSymbol, type NamedSymbol } from './symbols.ts'

/** The left side of a condition: what is compared, and the kind of value that it has. */
export interface Left {
  readonly name: string
  readonly operand: Operand
  readonly kind: FieldKind
}

/** The elements of a set, where the subquery is about a record with nothing but an `id`. */
const ELEMENT = { id: { field: 'id', kind: 'string' } } as const

/** Reads a symbol, `anyOf(set)`, `allOf(set)` or `count(set)`. */
export function readLeft(context: ParseContext): Left {
  const { reader } = context
  for (const [keyword, kind] of [['anyof', 'anyOf'] as const, ['allof', 'allOf'] as const]) {
    if (!reader.takeKeyword(keyword)) continue
    reader.expectSymbol('(')
    const symbol = readSetSymbol(context)
    reader.expectSymbol(')')
    return { name: symbol.name, operand: { kind, field: symbol.field }, kind: 'set' }
  }
  if (reader.takeKeyword('count')) {
    const { name, ...set } = readSetArguments(context)
    return { name, operand: { kind: 'count', ...set }, kind: 'integer' }
  }
  return leftOf(readSymbol(context))
}

/** Reads `(set)` or `(from set where query)`: the arguments of `isEmpty` and `count`. */
export function readSetArguments(context: ParseContext): { name: string; field: string; where?: Filter } {
  const { reader, count } = context
  reader.expectSymbol('(')
  const isSubquery = reader.takeKeyword('from')
  const { name, field } = readSetSymbol(context)
  if (!isSubquery) {
    reader.expectSymbol(')')
    return { name, field }
  }
  reader.expectKeyword('where')
  const { where } = count.nested(() => context.subquery(ELEMENT))
  reader.expectSymbol(')')
  return { name, field, ...(where && { where }) }
}

function leftOf({ name, field, kind, path }: NamedSymbol): Left {
  if (kind === 'set') {
    const message = `symbol '${name}' is a set symbol but is used in non-set function context`
    throw new FilterError('type', message)
  }
  const operand: Operand = kind === 'json' ? { kind: 'json', field, path } : { kind: 'field', field }
  return { name, operand, kind }
}

function readSetSymbol(context: ParseContext): NamedSymbol {
  const symbol = readSymbol(context)
  if (symbol.kind === 'set') return symbol
  throw new FilterError('type', `symbol '${symbol.name}' is not a set symbol but is used in set function context`)
}

function readSymbol({ reader, symbols }: ParseContext): NamedSymbol {
  const token = reader.next()
  if (token.kind !== 'word') throw reader.unexpected(token)
  return findSymbol(token.text, symbols)
}
