import type { FilterError } from '../tree/filter-error.ts'
import { lex } from './lex.ts'
import { syntaxError } from './syntax-error.ts'
import type { Token } from './token.ts'

/** Reads the tokens of a filter text from left to right. */
export class TokenReader {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = lex(text)
  }

  /** The token that comes `ahead` tokens later; the end stays the end. */
  peek(ahead = 0): Token {
    return this.#tokens[this.#position + ahead] ?? { kind: 'end', text: '<EOF>', at: this.#text.length, gap: 0 }
  }

  next(): Token {
    const token = this.peek()
    this.#position += 1
    return token
  }

  /** Reports whether the word `ahead` tokens later is this keyword, which is case-insensitive. */
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

  /** Takes a keyword that needs white space on both sides, when it comes next. */
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

  /** Takes the parenthesis of a function, which follows its name at once. */
  expectOpening(): void {
    if (this.peek().gap > 0) throw this.unexpected('( without white space before it')
    this.expectSymbol('(')
  }

  /** The text before and after the place of reading must not touch; its start and its end never do. */
  expectSpace(): void {
    const token = this.peek()
    if (token.gap === 0 && this.#position > 0 && token.kind !== 'end') throw this.unexpected('white space')
  }

  /** The error of a token, the next one unless said otherwise. */
  unexpected(expected: string, token: Token = this.peek()): FilterError {
    return syntaxError(this.#text, token.at, token.text, expected)
  }
}
