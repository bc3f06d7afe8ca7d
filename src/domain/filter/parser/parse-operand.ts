import { isKeyword } from '../tokens/token.ts'
import type { FieldKind, Filter, Operand } from '../tree/ast.ts'
import { FilterError } from '../tree/filter-error.ts'
import { findSymbol, type NamedSymbol } from '../tree/symbols.ts'
import type { ParseContext } from './parse-context.ts'

/** The left side of a condition: what is compared, and the kind of value that it has. */
export interface Left {
  readonly name: string
  readonly operand: Operand
  readonly kind: FieldKind
}

/** The elements of a set, where the subquery is about a record with nothing but an `id`. */
const ELEMENT = { id: { field: 'id', kind: 'string' } } as const

const QUANTIFIERS = { anyof: 'anyOf', allof: 'allOf' } as const

/** Reads a symbol, `anyOf(set)`, `allOf(set)` or `count(set)`. */
export function readLeft(context: ParseContext): Left {
  const { reader } = context
  for (const keyword of ['anyof', 'allof'] as const) {
    if (!reader.takeKeyword(keyword)) continue
    reader.expectOpening()
    const { name, field } = readSetSymbol(context)
    reader.expectSymbol(')')
    return { name, operand: { kind: QUANTIFIERS[keyword], field }, kind: 'set' }
  }
  if (reader.takeKeyword('count')) {
    const { name, ...set } = readSetArguments(context)
    return { name, operand: { kind: 'count', ...set }, kind: 'integer' }
  }
  return leftOf(readSymbol(context, 'a condition'))
}

/** Reads `(set)` or `(from set where query)`: the arguments of `isEmpty` and `count`. */
export function readSetArguments(context: ParseContext): { name: string; field: string; where?: Filter } {
  const { reader, count } = context
  reader.expectOpening()
  const isSubquery = reader.takeKeyword('from')
  const { name, field } = readSetSymbol(context)
  if (!isSubquery) {
    reader.expectSymbol(')')
    return { name, field }
  }
  reader.expectKeyword('where')
  reader.expectSpace()
  const { where, limit, offset } = count.nested(() => context.subquery(ELEMENT))
  if (typeof limit === 'number' || offset !== undefined) throw reader.unexpected('a subquery without skip and limit')
  reader.expectSymbol(')')
  return { name, field, ...(where && { where }) }
}

/** Reads the name of a symbol that the table has. Errors: `syntax` for no name, `unknown-symbol`. */
export function readSymbol(
  { reader, symbols }: Pick<ParseContext, 'reader' | 'symbols'>,
  expected: string,
): NamedSymbol {
  const token = reader.next()
  const isName = token.kind === 'quoted' || (token.kind === 'word' && !isKeyword(token.text))
  if (!isName) throw reader.unexpected(expected, token)
  return findSymbol(token.text, symbols, token.at)
}

function leftOf({ name, field, kind, path, at }: NamedSymbol): Left {
  if (kind === 'set') {
    const message = `symbol '${name}' is a set symbol but is used in non-set function context at column: ${at}`
    throw new FilterError('type', `${message} (expected it inside anyOf, allOf, count or isEmpty)`)
  }
  if (kind === 'json' && path.length === 0) {
    const message = `symbol '${name}' is a map symbol but is used without a key at column: ${at}`
    throw new FilterError('type', `${message} (expected ${name}.<key>)`)
  }
  return { name, operand: path.length > 0 ? { kind: 'json', field, path } : { kind: 'field', field }, kind }
}

function readSetSymbol(context: ParseContext): NamedSymbol {
  const symbol = readSymbol(context, 'a set symbol')
  if (symbol.kind === 'set') return symbol
  const { name, at } = symbol
  const message = `symbol '${name}' is not a set symbol but is used in set function context at column: ${at}`
  throw new FilterError('type', `${message} (expected a set symbol)`)
}
