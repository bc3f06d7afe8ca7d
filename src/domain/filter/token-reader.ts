import { lex, type Token, unexpected } from './lex.ts'

/** Reads the tokens of a filter text from left to right. */
export class TokenReader {
  readonly text: string
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(text: string) {
    this.text = text
    this.#tokens = lex(text)
  }

  /** The token that comes `ahead` tokens later; the end stays the end. */
  peek(ahead = 0): Token {
    return this.#tokens[this.#position + ahead] ?? { kind: 'end', text: '<EOF>', at: this.text.length }
  }

  next(): Token {
    const token = this.peek()
    this.#position += 1
    return token
  }

  /** Reports whether the next words are these keywords, which are case-insensitive. */
  isKeyword(...words: readonly string[]): boolean {
    return words.every((word, ahead) => {
      const token = this.peek(ahead)
      return token.kind === 'word' && token.text.toLowerCase() === word
    })
  }

  /** Takes the keywords when they come next. */
  takeKeyword(...words: readonly string[]): boolean {
    const found = this.isKeyword(...words)
    if (found) this.#position += words.length
    return found
  }

  takeSymbol(symbol: string): boolean {
    const token = this.peek()
    const found = token.kind === 'symbol' && token.text === symbol
    if (found) this.#position += 1
    return found
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected()
  }

  expectKeyword(word: string): void {
    if (!this.takeKeyword(word)) throw this.unexpected()
  }

  /** The error of the next token. */
  unexpected(token: Token = this.peek()): Error {
    return unexpected(this.text, token.at, token.text)
  }
}
