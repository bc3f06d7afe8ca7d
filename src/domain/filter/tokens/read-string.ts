import { syntaxError } from './syntax-error.ts'

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/**
 * Reads the text in double quotes that begins at `start`: as written, and what it stands for. Escapes are read once, from
 * left to right, so `\\n` is a backslash and an n. Error: `syntax` for a control character, an unknown escape or no end.
 */
export function readString(text: string, start: number): { readonly text: string; readonly value: string } {
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
