import type { Path, Source } from '../model/index.ts'

/**
 * A source of the model that a module exports. Places are looked for in its text: the entity by its name, and its member after
 * that. Where a program computes the name, or writes it twice, the line stays unknown.
 */
export function moduleSource(file: string, text: string, value: unknown): Source {
  return {
    name: file,
    value,
    place: (path) => {
      const offset = offsetOf(text, value, path)
      if (offset === undefined) return { file, line: undefined, column: undefined }
      const before = text.slice(0, offset).split('\n')
      return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
    },
  }
}

function offsetOf(text: string, value: unknown, [key, position, member]: Path): number | undefined {
  if (key === undefined) return undefined
  if (position === undefined) return onlyMatch(text, memberNamed(String(key)))
  const name = memberOf(memberOf(memberOf(value, key), position), 'name')
  if (typeof name !== 'string' || name === '') return undefined
  const named = onlyMatch(text, new RegExp(`(?<![\\w$'"])name['"]?\\s*:\\s*(['"\`])${escaped(name)}\\1`, 'g'))
  if (named === undefined || member === undefined || member === 'name') return named
  // Up to the next entity; a member that stands before the name is shown at the name.
  const own = text.slice(named).split(/(?<=.)(?<![\w$'"])name['"]?\s*:/)[0] ?? ''
  const found = memberNamed(String(member)).exec(own)
  return named + (found?.index ?? 0)
}

/** The only match of an expression; undefined for none or several. */
function onlyMatch(text: string, expression: RegExp): number | undefined {
  const [first, second] = text.matchAll(expression)
  return second === undefined ? first?.index : undefined
}

function memberNamed(name: string): RegExp {
  return new RegExp(`(?<![\\w$'"])['"]?${escaped(name)}['"]?\\s*:`, 'g')
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function memberOf(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
