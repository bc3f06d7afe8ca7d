import type { Comparison, Filter, Literal } from './ast.ts'
import { FilterError } from './filter-error.ts'
import type { ParseContext } from './parse-context.ts'
import { type Left, readLeft, readSetArguments } from './parse-operand.ts'
import type { TokenReader } from './token-reader.ts'

const COMPARISONS: readonly Comparison[] = ['=', '!=', '<=', '>=', '<', '>']

/** Reads one condition without `and`, `or` or parentheses around it. */
export function parseOperation(context: ParseContext): Filter {
  const { reader, count } = context
  count.term()
  if (reader.takeKeyword('true')) return { kind: 'all' }
  if (reader.takeKeyword('false')) return { kind: 'not', of: { kind: 'all' } }
  if (reader.isKeyword('isempty')) {
    reader.next()
    const { field, where } = readSetArguments(context)
    return { kind: 'isEmpty', field, ...(where && { where }) }
  }
  const left = readLeft(context)
  const isNegated = reader.takeKeyword('not')
  const operation = readOperator(reader, left, isNegated)
  return isNegated ? { kind: 'not', of: operation } : operation
}

function readOperator(reader: TokenReader, left: Left, isNegated: boolean): Filter {
  const { operand } = left
  if (reader.takeKeyword('in')) return { kind: 'in', operand, values: readValues(reader, left) }
  if (reader.takeKeyword('between')) return readBetween(reader, left)
  if (reader.takeKeyword('contains')) return readContains(reader, left, false)
  if (reader.takeKeyword('icontains')) return readContains(reader, left, true)
  const operator = isNegated ? undefined : COMPARISONS.find((symbol) => reader.takeSymbol(symbol))
  if (operator === undefined) {
    if (isNegated) throw reader.unexpected()
    return bareBoolean(reader, left)
  }
  return { kind: 'compare', operand, operator, value: readValue(reader, left, operator) }
}

/** A boolean symbol alone is a condition; anything else needs an operator. */
function bareBoolean(reader: TokenReader, left: Left): Filter {
  if (left.kind !== 'boolean' || left.operand.kind !== 'field') throw reader.unexpected()
  return { kind: 'compare', operand: left.operand, operator: '=', value: true }
}

function readBetween(reader: TokenReader, left: Left): Filter {
  const from = readValue(reader, left, 'between')
  reader.expectKeyword('and')
  const to = readValue(reader, left, 'between')
  if (typeof from !== 'number' || typeof to !== 'number') throw unsupported('between', left, 'string')
  return { kind: 'between', operand: left.operand, from, to }
}

function readContains(reader: TokenReader, left: Left, foldCase: boolean): Filter {
  const operator = foldCase ? 'icontains' : 'contains'
  const token = reader.next()
  if (token.kind !== 'string' && (token.kind !== 'number' || foldCase)) throw reader.unexpected(token)
  if (left.kind === 'boolean' || left.kind === 'instant') throw unsupported(operator, left, token.kind)
  return { kind: 'contains', operand: left.operand, text: String(token.value), foldCase }
}

function readValues(reader: TokenReader, left: Left): ReadonlySet<Literal> {
  reader.expectSymbol('[')
  const values = new Set<Literal>()
  const kinds = new Set<string>()
  do {
    kinds.add(reader.peek().kind)
    values.add(readValue(reader, left, 'in'))
  } while (reader.takeSymbol(','))
  if (kinds.size > 1) throw reader.unexpected()
  reader.expectSymbol(']')
  return values
}

function readValue(reader: TokenReader, left: Left, operator: string): Literal {
  const allowsAll = operator === '=' || operator === '!='
  if (allowsAll && reader.takeKeyword('null')) return null
  const isTrue = allowsAll && reader.takeKeyword('true')
  if (isTrue || (allowsAll && reader.takeKeyword('false'))) {
    if (left.kind !== 'boolean' && left.kind !== 'json') throw unsupported(operator, left, 'bool')
    return isTrue
  }
  const token = reader.next()
  if (token.kind !== 'string' && token.kind !== 'number' && token.kind !== 'datetime') throw reader.unexpected(token)
  if (!LITERALS_OF[left.kind].includes(token.kind)) throw unsupported(operator, left, token.kind)
  return token.value
}

const LITERALS_OF: Readonly<Record<Left['kind'], readonly string[]>> = {
  string: ['string'],
  integer: ['number'],
  number: ['number'],
  boolean: [],
  instant: ['datetime'],
  set: ['string'],
  json: ['string', 'number', 'datetime'],
}

function unsupported(operator: string, { name, kind }: Left, given: string): FilterError {
  const message = `operation ${operator} is not supported with operands types ${kind}, ${given} (symbol '${name}')`
  return new FilterError('type', message)
}
