/** Reports whether every storage can keep a text as it is: no U+0000, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/** Reports whether every text in a JSON value is storable, at any depth and including the names of members. */
export function holdsStorableText(json: unknown): boolean {
  const open: unknown[] = [json]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string' && !isStorable(value)) return false
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (!isStorable(name)) return false
      open.push(member)
    }
  }
  return true
}

/**
 * Control characters, and invisible characters that reverse, mark, join or break the text around them, by which two names would look alike.
 * Joiners and selectors of a variant stay where writing needs them: not behind letters of Latin, Greek and Cyrillic, nor twice.
 */
const HIDDEN =
  /(?![\p{Join_C}\p{VS}])[\p{Cc}\p{DI}\u2028\u2029\ufff9-\ufffb]|[\p{Join_C}\p{VS}](?<![^\p{ASCII}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\u200b-\u200f].)/gu

/**
 * Makes foreign text safe to show: characters that are invisible, or that would move, hide or reverse other text on a terminal, are written
 * out, as `\u001b`. Line ends and tabs stay. JSON stays the same JSON.
 *
 * @example
 * visible('\u001b[2Jpayroll') // '\\u001b[2Jpayroll'
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (mark) => (mark === '\n' || mark === '\t' ? mark : escaped(mark)))
}

/** The same on one line, so that the text cannot fake further lines: line ends and tabs become spaces. */
export function visibleLine(text: string): string {
  return visible(text.replace(/[\t\n\v\f\r]+/g, ' '))
}

/** Reports whether a text holds characters that {@link visible} writes out. */
export function hidesText(text: string): boolean {
  return text.search(HIDDEN) >= 0
}

function escaped(mark: string): string {
  return mark
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** A name in quotation marks, without line ends and other control characters that would fake further text. */
export function quoted(name: string): string {
  return `'${visibleLine(name)}'`
}

/** Items as an enumeration: `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[], word: 'and' | 'or' = 'and'): string {
  const last = items.at(-1) ?? 'nothing'
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} ${word} ${last}`
}

/** The first few items of a list, and the number of the rest. */
export function fewOf(items: readonly string[], most: number): string {
  const rest = items.length - most
  return rest <= 0 ? listed(items) : `${items.slice(0, most).join(', ')} and ${counted(rest, 'other')}`
}

/** `1 edge router`, `2 edge routers`, `no edge router`. */
export function counted(count: number, noun: string): string {
  if (count === 0) return `no ${noun}`
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** JSON text that is the same for equal values, whatever the order of their members. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  let text = ''
  // Appends to one text: every audit record is written this way, and joining lists of entries takes half as long again.
  for (const name of Object.keys(value).sort()) {
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(Reflect.get(value, name))}`
  }
  return `{${text}}`
}
