/** Stands before JSON whose keys are spelled with `%`. */
const SPELLED = '%'

/** The characters that JSON escapes in a key, and the one that spells them. */
const ESCAPED = /["\\%\p{Cc}\p{Cs}]/gu

/**
 * The text of a JSON value that {@link parseJson} reads back exactly. Keys with characters that JSON escapes are spelled in
 * another way, because V8 may read such a key as another (https://github.com/nodejs/node/issues/63785).
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes('\\') && hasEscapedKey(value) ? SPELLED + JSON.stringify(renamed(value, spell)) : text
}

/** Stands for what no JSON value is stored as. */
export const UNREADABLE = Symbol('unreadable')

/** The value of a {@link jsonText}; {@link UNREADABLE} for what is none. */
export function parseJson(text: unknown): unknown {
  if (typeof text !== 'string') return UNREADABLE
  try {
    return text.startsWith(SPELLED) ? renamed(JSON.parse(text.slice(1)), unspell) : JSON.parse(text)
  } catch {
    return UNREADABLE
  }
}

function hasEscapedKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasEscapedKey)
  return Object.entries(value).some(([key, member]) => JSON.stringify(key).includes('\\') || hasEscapedKey(member))
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((member) => renamed(member, rename))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [rename(key), renamed(member, rename)]))
}

function spell(key: string): string {
  return key.replace(ESCAPED, (character) => `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function unspell(key: string): string {
  return key.replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
