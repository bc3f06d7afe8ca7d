import { type FieldKind, type Filter, FilterError, type Literal, type Operand } from './ast.ts'
import { findSymbol, type Link, type NamedSymbol } from './filter-symbols.ts'
import { isKeyword, type Token } from './lex.ts'
import { type ParseContext, type TokenReader, throughLinks, unsupported } from './parse-context.ts'

type ValueKind = 'string' | 'number' | 'datetime'

const ANY_VALUE: readonly ValueKind[] = ['string', 'number', 'datetime']

/** The kinds of values that a kind of field compares with, besides true, false and null. */
const VALUES_OF: Readonly<Record<FieldKind, readonly ValueKind[]>> = {
  string: ['string'],
  integer: ['number'],
  number: ['number'],
  boolean: [],
  instant: ['datetime'],
  set: ['string'],
  json: ['string', 'number'],
}

/** Reads the value after `=` or `!=`, which may be of any kind. */
export function readAnyValue(reader: TokenReader, left: Left, operator: string): Literal {
  if (reader.takeKeyword('null')) return null
  if (!reader.isKeyword('true') && !reader.isKeyword('false')) return readOrdered(reader, left, operator)
  const isTrue = reader.isKeyword('true')
  const token = reader.next()
  if (left.kind !== 'boolean' && left.kind !== 'json') throw unsupported(operator, left, token)
  return isTrue
}

/** Reads an ordered value: a string, a number or a `datetime(…)`. */
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

/** Reads a value of these kinds that the left side can be compared with. A text compares with a number's decimal digits. */
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

/** The number whose decimal form is the text; NaN, which equals no number, for any other text. */
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

/** The left side of a condition: its operand, and the kind of the operand's value. */
export interface Left {
  readonly name: string
  readonly operand: Operand
  readonly kind: FieldKind
  /** Turns a condition on the operand, which may belong to other entities, into a condition on the record. */
  around(condition: Filter): Filter
}

/** The set of `isEmpty` and `count`, in the entities at the end of `via`. */
export interface SetArguments {
  readonly symbol: NamedSymbol
  readonly via: readonly Link[]
  readonly field: string
  readonly where?: Filter
}

/** The symbols of a subquery on plain elements: records with only an `id`. */
const ELEMENT = { id: { field: 'id', kind: 'string' } } as const

const QUANTIFIERS = { anyof: 'anyOf', allof: 'allOf' } as const

/** Reads a symbol, `anyOf(set)`, `allOf(set)` or `count(set)`. */
export function readLeft(context: ParseContext): Left {
  const { reader } = context
  for (const keyword of ['anyof', 'allof'] as const) {
    if (!reader.takeKeyword(keyword)) continue
    reader.expectOpening()
    const left = quantified(readSymbol(context, 'a set symbol'), QUANTIFIERS[keyword])
    reader.expectSymbol(')')
    return left
  }
  if (reader.takeKeyword('count')) return counted(readSetArguments(context))
  return leftOf(readSymbol(context, 'a condition'))
}

/** Reads `(set)` or `(from set where query)`: the arguments of `isEmpty` and `count`. */
export function readSetArguments(context: ParseContext): SetArguments {
  const { reader, count, linked } = context
  reader.expectOpening()
  const isSubquery = reader.takeKeyword('from')
  const symbol = readSymbol(context, 'a set symbol')
  const { field, linksTo, via } = symbol
  if (symbol.kind !== 'set') throw notASet(symbol)
  if (!isSubquery) {
    reader.expectSymbol(')')
    return { symbol, via, field }
  }
  reader.expectKeyword('where')
  reader.expectSpace()
  if (linksTo !== undefined) count.link()
  const inner = linksTo === undefined ? ELEMENT : linked(linksTo)
  const { where, limit, offset } = count.nested(() => context.subquery(inner))
  if (typeof limit === 'number' || offset !== undefined) throw reader.unexpected('a subquery without skip and limit')
  reader.expectSymbol(')')
  return { symbol, via, field, ...(where && { where }) }
}

/** Reads the name of a known symbol. Errors: `syntax` for a missing name, `unknown-symbol`, `limit`. */
export function readSymbol(
  { reader, symbols, linked, count }: Pick<ParseContext, 'reader' | 'symbols' | 'linked' | 'count'>,
  expected: string,
): NamedSymbol {
  const token = reader.next()
  const isName = token.kind === 'quoted' || (token.kind === 'word' && !isKeyword(token.text))
  if (!isName) throw reader.unexpected(expected, token)
  return findSymbol(token.text, { symbols, linked, countLink: count.link }, token.at)
}

function leftOf(symbol: NamedSymbol): Left {
  const { name, kind, via, at } = symbol
  if (kind === 'set' || leadsToMany(via)) {
    const message = `symbol '${name}' is a set symbol but is used in non-set function context at column: ${at}`
    throw new FilterError('type', `${message} (expected it inside anyOf, allOf, count or isEmpty)`)
  }
  return { name, operand: singleOperand(symbol), kind, around: (condition) => throughLinks(via, 'anyOf', condition) }
}

function quantified(symbol: NamedSymbol, quantifier: 'anyOf' | 'allOf'): Left {
  const { name, kind, field, via } = symbol
  if (kind !== 'set' && !leadsToMany(via)) throw notASet(symbol)
  const operand: Operand = kind === 'set' ? { kind: quantifier, field } : singleOperand(symbol)
  return { name, operand, kind, around: (condition) => throughLinks(via, quantifier, condition) }
}

function counted({ symbol, via, field, where }: SetArguments): Left {
  const { name, at } = symbol
  if (leadsToMany(via)) {
    const message = `symbol '${name}' is a set of many entities but is used in count at column: ${at}`
    throw new FilterError('type', `${message} (expected a set of one entity)`)
  }
  const operand: Operand = { kind: 'count', field, ...(where && { where }) }
  return { name, operand, kind: 'integer', around: (condition) => throughLinks(via, 'anyOf', condition) }
}

function singleOperand({ name, field, kind, path, at }: NamedSymbol): Operand {
  if (kind === 'json' && path.length === 0) {
    const message = `symbol '${name}' is a map symbol but is used without a key at column: ${at}`
    throw new FilterError('type', `${message} (expected ${name}.<key>)`)
  }
  return path.length > 0 ? { kind: 'json', field, path } : { kind: 'field', field }
}

function leadsToMany(via: readonly Link[]): boolean {
  return via.some(({ isSet }) => isSet)
}

function notASet({ name, at }: NamedSymbol): FilterError {
  const message = `symbol '${name}' is not a set symbol but is used in set function context at column: ${at}`
  return new FilterError('type', `${message} (expected a set symbol)`)
}
