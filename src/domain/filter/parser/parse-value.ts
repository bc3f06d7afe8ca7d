import type { Token } from '../tokens/token.ts'
import type { TokenReader } from '../tokens/token-reader.ts'
import type { FieldKind, Literal } from '../tree/ast.ts'
import type { Left } from './parse-operand.ts'
import { unsupported } from './type-error.ts'

type ValueKind = 'string' | 'number' | 'datetime'

const ANY_VALUE: readonly ValueKind[] = ['string', 'number', 'datetime']

/** The kinds of values, besides true, false and null, that a kind of field compares with. */
const VALUES_OF: Readonly<Record<FieldKind, readonly ValueKind[]>> = {
  string: ['string'],
  integer: ['number'],
  number: ['number'],
  boolean: [],
  instant: ['datetime'],
  set: ['string'],
  json: ['string', 'number'],
}

/** Reads the value after `=` or `!=`, which may be anything. */
export function readAnyValue(reader: TokenReader, left: Left, operator: string): Literal {
  if (reader.takeKeyword('null')) return null
  if (!reader.isKeyword('true') && !reader.isKeyword('false')) return readOrdered(reader, left, operator)
  const isTrue = reader.isKeyword('true')
  const token = reader.next()
  if (left.kind !== 'boolean' && left.kind !== 'json') throw unsupported(operator, left, token)
  return isTrue
}

/** Reads a value that has an order: a string, a number or a `datetime(…)`. */
export function readOrdered(reader: TokenReader, left: Left, operator: string): string | number {
  return checked(reader, left, operator, ANY_VALUE).value
}

/** Reads `a and b`: two numbers or two instants. */
export function readRange(reader: TokenReader, left: Left): { readonly from: number; readonly to: number } {
  const from = checked(reader, left, 'between', ['number', 'datetime'])
  if (!reader.takeSpacedKeyword('and')) throw reader.unexpected('and')
  const to = checked(reader, left, 'between', [from.kind])
  return { from: Number(from.value), to: Number(to.value) }
}

/** Reads `[a, b, …]`: at least one value, all of one kind. */
export function readArray(reader: TokenReader, left: Left): ReadonlySet<string | number> {
  reader.expectSymbol('[')
  const first = checked(reader, left, 'in', ANY_VALUE)
  const values = new Set([first.value])
  while (reader.takeSymbol(',')) values.add(checked(reader, left, 'in', [first.kind]).value)
  if (!reader.takeSymbol(']')) throw reader.unexpected(', or ]')
  return values
}

/** Reads a value of one of these kinds that the left side compares with. A text compares with a number's decimal digits. */
function checked(reader: TokenReader, left: Left, operator: string, kinds: readonly ValueKind[]): Value {
  const token = reader.next()
  if (!isValue(token) || !kinds.includes(token.kind)) throw reader.unexpected(`a ${kinds.join(' or ')}`, token)
  const isText = left.kind === 'string' || left.kind === 'set'
  const asDigits = isText && token.kind === 'number' && operator !== 'between'
  const isNumber = left.kind === 'integer' || left.kind === 'number'
  if (isNumber && token.kind === 'string' && operator === 'in')
    return { kind: token.kind, value: writtenNumber(token.value) }
  if (!asDigits && !VALUES_OF[left.kind].includes(token.kind)) throw unsupported(operator, left, token)
  if (token.value === Number.POSITIVE_INFINITY || token.value === Number.NEGATIVE_INFINITY) {
    throw reader.unexpected('a number that a 64-bit float can hold', token)
  }
  return asDigits ? { kind: token.kind, value: String(token.value) } : token
}

/** The number that is written so; no number is NaN, which is what a text that no number is written as stands for. */
function writtenNumber(text: string): number {
  const number = Number(text)
  return Number.isFinite(number) && String(number) === text ? number : Number.NaN
}

interface Value {
  readonly kind: ValueKind
  readonly value: string | number
}

function isValue(token: Token): token is Extract<Token, { readonly kind: ValueKind }> {
  return token.kind === 'string' || token.kind === 'number' || token.kind === 'datetime'
}
