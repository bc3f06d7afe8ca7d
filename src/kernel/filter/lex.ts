import { FilterError } from './ast.ts'
import { instantOf } from './filter-symbols.ts'

const SPACES = ' \n\t\r'
const DATETIME = 'datetime('
// Sticky, and tried once per position. They never backtrack: after each character at most one continuation exists.
const WORD = /[A-Za-z][A-Za-z_]*(?:\.[A-Za-z][A-Za-z_-]*)*/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?(?:0|[1-9][0-9]*))?/y
const SYMBOL = /[<>!]=|[<>=()[\],]/y
const INSTANT = /[0-9A-Za-z:+.-]*/y

/**
 * Splits a filter text into its tokens, in one pass; the last token is the end. Errors: `syntax` for characters that begin no token, `type`
 * for an invalid `datetime(…)`.
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
  // Adding zero turns -0 into 0.
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

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/**
 * Reads the text in double quotes that begins at `start`: as written, and its value. Escapes are read once, from left to right, so `\\n` is
 * a backslash and an n. Error: `syntax` for a control character, an unknown escape or a missing end.
 */
function readString(text: string, start: number): { readonly text: string; readonly value: string } {
  let value = ''
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '"') return { text: text.slice(start, at + 1), value }
    if (character < ' ') throw syntaxError(text, at, character, 'an escape instead of a control character')
    if (character !== '\\') {
      value += character
      continue
    }
    at += 1
    const escaped = ESCAPES.get(text.charAt(at))
    if (escaped === undefined)
      throw syntaxError(text, at - 1, text.slice(at - 1, at + 1), 'one of \\" \\\\ \\f \\n \\r \\t')
    value += escaped
  }
  throw syntaxError(text, text.length, '<EOF>', 'the closing "')
}

interface Place {
  /** The token as written. */
  readonly text: string
  /** Its position, in characters from the start of the filter. */
  readonly at: number
  /** The number of white-space characters before it. */
  readonly gap: number
}

/** A token of a filter text. `quoted` is an identifier in single quotes, which belong to its name. */
export type Token = Place &
  (
    | { readonly kind: 'word' | 'quoted' | 'symbol' | 'end' }
    | { readonly kind: 'string'; readonly value: string }
    | { readonly kind: 'number' | 'datetime'; readonly value: number }
  )

const KEYWORDS: ReadonlySet<string> = new Set(
  'and or not in between contains icontains true false allof anyof count isempty null asc desc sort by skip limit none from where'.split(
    ' ',
  ),
)

/** Reports whether a word is a keyword, in any case, and so cannot name a symbol. */
export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word.toLowerCase())
}

/** The error of an unexpected token; lines count from 1, columns from 0. */
export function syntaxError(text: string, at: number, found: string, expected: string): FilterError {
  const before = text.slice(0, at).split('\n')
  const column = before.at(-1)?.length ?? 0
  const line = text.split('\n')[before.length - 1] ?? ''
  const place = `at line: ${before.length} column: ${column}. line: ${line}`
  return new FilterError('syntax', `Unexpected symbol: "${found}" ${place} (expected ${expected})`)
}
