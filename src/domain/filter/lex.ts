import { FilterError } from './filter-error.ts'

export type Token =
  | { readonly kind: 'word'; readonly text: string; readonly at: number }
  | { readonly kind: 'symbol'; readonly text: string; readonly at: number }
  | { readonly kind: 'string'; readonly text: string; readonly value: string; readonly at: number }
  | { readonly kind: 'number'; readonly text: string; readonly value: number; readonly at: number }
  | { readonly kind: 'datetime'; readonly text: string; readonly value: number; readonly at: number }
  | { readonly kind: 'end'; readonly text: '<EOF>'; readonly at: number }

const SPACE = /[ \n\t\r]/
// Sticky patterns of fixed shape: each is tried at one position only and cannot backtrack over more than its own token.
const WORD = /[A-Za-z][A-Za-z_]*(?:\.[A-Za-z][A-Za-z_-]*)*/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const DATETIME = /datetime\([ \n\t\r]*([0-9A-Za-z:+.-]{1,64})[ \n\t\r]*\)/y
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:[Zz]|[+-]\d\d:\d\d)$/
const SYMBOL = /<=|>=|!=|[<>=()[\],]/y
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** Splits a filter text into tokens in one pass; the last token is the end. Error: the character that fits nothing. */
export function lex(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    if (SPACE.test(text.charAt(at))) {
      at += 1
      continue
    }
    const token = tokenAt(text, at)
    tokens.push(token)
    at += token.text.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at })
  return tokens
}

function tokenAt(text: string, at: number): Token {
  if (text.charAt(at) === '"') return stringAt(text, at)
  const datetime = matchAt(DATETIME, text, at)
  if (datetime !== undefined) return { kind: 'datetime', text: datetime[0], value: instantOf(datetime[1] ?? ''), at }
  const word = matchAt(WORD, text, at)
  if (word !== undefined) return { kind: 'word', text: word[0], at }
  const number = matchAt(NUMBER, text, at)
  if (number !== undefined) return { kind: 'number', text: number[0], value: Number(number[0]), at }
  const symbol = matchAt(SYMBOL, text, at)
  if (symbol !== undefined) return { kind: 'symbol', text: symbol[0], at }
  throw unexpected(text, at, text.charAt(at))
}

function stringAt(text: string, start: number): Token {
  let value = ''
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '"') return { kind: 'string', text: text.slice(start, at + 1), value, at: start }
    if (character < ' ') break
    if (character !== '\\') {
      value += character
      continue
    }
    at += 1
    const escaped = ESCAPES.get(text.charAt(at))
    if (escaped === undefined) break
    value += escaped
  }
  throw unexpected(text, start, '"')
}

function instantOf(text: string): number {
  const value = RFC3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN
  if (Number.isNaN(value)) throw new FilterError('type', `could not parse datetime (${text})`)
  return value
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

/** The error of a token that does not belong where it stands. */
export function unexpected(text: string, at: number, token: string): FilterError {
  const before = text.slice(0, at).split('\n')
  const column = before.at(-1)?.length ?? 0
  const message = `Unexpected symbol: "${token}" at line: ${before.length} column: ${column}. line: ${text}`
  return new FilterError('syntax', message)
}
