import { type Comparison, type Filter, FilterError, type Operand } from './ast.ts'
import { emptyThroughLinks, type ParseContext, type TokenReader, unsupported } from './parse-context.ts'

import {
  type Left,
  readAnyValue,
  readArray,
  readLeft,
  readOrdered,
  readRange,
  readSetArguments,
} from './parse-value.ts'

const COMPARISONS: readonly Comparison[] = ['=', '!=', '<=', '>=', '<', '>']

/** Reads one condition without `and`, `or` or parentheses around it. */
export function parseOperation(context: ParseContext): Filter {
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
 * `not in` and `not between` state that the condition without `not` is false. `not contains` is a statement on each
 * element: some element does not contain what not every element contains.
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

/** A symbol that is boolean, or may be for it leads into a JSON field, is a condition alone; any other needs an operator. */
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
