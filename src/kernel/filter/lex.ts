import { instantOf } from '../tree/instant.ts'
import { readString } from './read-string.ts'
import { syntaxError } from './syntax-error.ts'
import type { Token } from './token.ts'

const SPACES = ' \n\t\r'
const DATETIME = 'datetime('
// Sticky, tried once per place, and never looked back into: after each of their characters only one way leads on.
const WORD = /[A-Za-z][A-Za-z_]*(?:\.[A-Za-z][A-Za-z_-]*)*/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?(?:0|[1-9][0-9]*))?/y
const SYMBOL = /[<>!]=|[<>=()[\],]/y
const INSTANT = /[0-9A-Za-z:+.-]*/y

/**
 * Splits a filter text into its tokens, in one pass; the last one is the end. Errors: `syntax` for what begins no token,
 * `type` for a `datetime(…)` that is no date and time.
 */
export function lex(text: string): readonly Token[] {
  const tokens: Token[] = []
  let end = 0
  for (;;) {
    const at = skipSpaces(text, end)
    const token = tokenAt(text, at, at - end)
    tokens.push(token)
    if (token.kind === 'end') return tokens
    end = at + token.text.length
  }
}

function tokenAt(text: string, at: number, gap: number): Token {
  const first = text.charAt(at)
  if (first === '') return { kind: 'end', text: '<EOF>', at, gap }
  if (first === '"') return { kind: 'string', ...readString(text, at), at, gap }
  if (text.startsWith(DATETIME, at)) return datetimeAt(text, at, gap)
  const word = match(WORD, text, at)
  if (word !== '') return { kind: 'word', text: word, at, gap }
  const number = match(NUMBER, text, at)
  // Adding zero makes -0 the same number as 0 for everyone who looks at it.
  if (number !== '') return { kind: 'number', text: number, value: Number(number) + 0, at, gap }
  const symbol = match(SYMBOL, text, at)
  if (symbol !== '') return { kind: 'symbol', text: symbol, at, gap }
  return quotedAt(text, at, gap)
}

function datetimeAt(text: string, at: number, gap: number): Token {
  const start = skipSpaces(text, at + DATETIME.length)
  const instant = match(INSTANT, text, start)
  const end = skipSpaces(text, start + instant.length)
  if (text.charAt(end) !== ')') throw syntaxError(text, end, characterAt(text, end), 'an RFC 3339 date and time and )')
  return { kind: 'datetime', text: text.slice(at, end + 1), value: instantOf(instant), at, gap }
}

function quotedAt(text: string, at: number, gap: number): Token {
  const word = text.charAt(at) === "'" ? match(WORD, text, at + 1) : ''
  const end = at + 1 + word.length
  if (word === '' || text.charAt(end) !== "'") {
    throw syntaxError(text, at, characterAt(text, at), 'a symbol, a keyword, a value or an operator')
  }
  return { kind: 'quoted', text: text.slice(at, end + 1), at, gap }
}

function skipSpaces(text: string, from: number): number {
  let at = from
  while (at < text.length && SPACES.includes(text.charAt(at))) at += 1
  return at
}

function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at)
  return point === undefined ? '<EOF>' : String.fromCodePoint(point)
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}
