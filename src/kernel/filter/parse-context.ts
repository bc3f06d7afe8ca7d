import { type FieldKind, type Filter, FilterError, type Query } from './ast.ts'
import type { Link, LinkedSymbols, SymbolTable } from './filter-symbols.ts'
import { lex, syntaxError, type Token } from './lex.ts'
import { matches } from './matches.ts'

const MAX_CHARACTERS = 4096
const MAX_NESTING = 64
const MAX_TERMS = 256
const MAX_LINKS = 16

/** Counts the levels, terms and links of a filter text. Error: `limit` above 64 levels, 256 terms or 16 links. */
export interface Limits {
  /** Counts a condition. */
  term(): void
  /** Counts a step to other entities. */
  link(): void
  /** Reads one level deeper. */
  nested<T>(read: () => T): T
}

/** Answers a text of at most 4,096 characters. Error: `limit`. */
export function checkLength(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text
  throw new FilterError('limit', `a filter may have at most ${MAX_CHARACTERS} characters`)
}

/** Fresh counters for a filter text. */
export function beginLimits(): Limits {
  let terms = 0
  let depth = 0
  let links = 0
  return {
    term() {
      terms += 1
      if (terms > MAX_TERMS) throw new FilterError('limit', `a filter may have at most ${MAX_TERMS} terms`)
    },
    link() {
      links += 1
      if (links > MAX_LINKS)
        throw new FilterError('limit', `a filter may look into other entities at most ${MAX_LINKS} times`)
    },
    nested(read) {
      depth += 1
      if (depth > MAX_NESTING)
        throw new FilterError('limit', `a filter may be nested at most ${MAX_NESTING} levels deep`)
      const result = read()
      depth -= 1
      return result
    },
  }
}

/** The context of every part of the parser. */
export interface ParseContext {
  readonly reader: TokenReader
  readonly symbols: SymbolTable
  readonly linked: LinkedSymbols
  readonly count: Limits
  /** Reads the query after `where` of a subquery, over the symbols of its relation. */
  subquery(symbols: SymbolTable): Query
}

/** The kinds of values by the names that filter errors use. */
const TYPE_NAMES: Readonly<Record<FieldKind, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'bool',
  instant: 'date',
  set: 'string',
  json: 'any',
}

const VALUES: Readonly<Record<FieldKind, string>> = {
  string: 'a string',
  integer: 'a number',
  number: 'a number',
  boolean: 'true or false',
  instant: 'datetime(…)',
  set: 'a string',
  json: 'a string, a number, true or false',
}

/** The error of an operator between a symbol and a value that cannot be compared with it. */
export function unsupported(
  operator: string,
  { name, kind }: { readonly name: string; readonly kind: FieldKind },
  value: Token,
): FilterError {
  const given = { number: 'number', string: 'string', datetime: 'date' }[String(value.kind)] ?? 'bool'
  const types = `${TYPE_NAMES[kind]}, ${given}`
  const place = `(symbol '${name}', value at column: ${value.at}, expected ${VALUES[kind]})`
  return new FilterError('type', `operation ${operator} is not supported with operands types ${types} ${place}`)
}

/** Turns a condition on linked entities into a condition on the record: some linked entity fulfils it (`anyOf`), or all of them do. */
export function throughLinks(links: readonly Link[], quantifier: 'anyOf' | 'allOf', condition: Filter): Filter {
  return links.reduceRight((where, { field, isSet }) => {
    // A missing single entity compares like an entity without values, so the condition is tried on an empty record.
    const isForAll = isSet ? quantifier === 'allOf' : matches(where, {})
    return isForAll ? noneIn(field, opposite(where)) : opposite(noneIn(field, where))
  }, condition)
}

/** The condition that a set is empty in all linked entities. */
export function emptyThroughLinks(links: readonly Link[], empty: Filter): Filter {
  return links.length === 0 ? empty : opposite(throughLinks(links, 'anyOf', opposite(empty)))
}

function noneIn(field: string, where: Filter): Filter {
  return { kind: 'isEmpty', field, where }
}

function opposite(filter: Filter): Filter {
  return { kind: 'not', of: filter }
}

/** Reads the tokens of a filter text from left to right. */
export class TokenReader {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = lex(text)
  }

  /** The token `ahead` tokens later, or the end. */
  peek(ahead = 0): Token {
    return this.#tokens[this.#position + ahead] ?? { kind: 'end', text: '<EOF>', at: this.#text.length, gap: 0 }
  }

  next(): Token {
    const token = this.peek()
    this.#position += 1
    return token
  }

  /** Reports whether the token `ahead` tokens later is this keyword, whatever its case. */
  isKeyword(keyword: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.kind === 'word' && token.text.toLowerCase() === keyword
  }

  takeKeyword(keyword: string): boolean {
    const found = this.isKeyword(keyword)
    if (found) this.#position += 1
    return found
  }

  expectKeyword(keyword: string): void {
    if (!this.takeKeyword(keyword)) throw this.unexpected(keyword)
  }

  /** Takes a keyword with white space on both sides, if it comes next. */
  takeSpacedKeyword(keyword: string): boolean {
    if (!this.isKeyword(keyword)) return false
    this.expectSpace()
    this.#position += 1
    this.expectSpace()
    return true
  }

  isSymbol(symbol: string): boolean {
    const token = this.peek()
    return token.kind === 'symbol' && token.text === symbol
  }

  takeSymbol(symbol: string): boolean {
    const found = this.isSymbol(symbol)
    if (found) this.#position += 1
    return found
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected(symbol)
  }

  /** Takes the parenthesis of a function, which must follow its name without white space. */
  expectOpening(): void {
    if (this.peek().gap > 0) throw this.unexpected('( without white space before it')
    this.expectSymbol('(')
  }

  /** Demands white space at the current position, except at the start and the end of the text. */
  expectSpace(): void {
    const token = this.peek()
    if (token.gap === 0 && this.#position > 0 && token.kind !== 'end') throw this.unexpected('white space')
  }

  /** The error of a token, by default the next token. */
  unexpected(expected: string, token: Token = this.peek()): FilterError {
    return syntaxError(this.#text, token.at, token.text, expected)
  }
}
