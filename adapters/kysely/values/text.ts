/** Reports whether a database can keep a text as it is: not U+0000, and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/**
 * What a search that does not tell upper from lower case looks into, where the database's own `lower` would not do: it
 * knows ASCII only, on every database. Null for most texts.
 */
export function foldedText(text: string): string | null {
  if (!NOT_ASCII.test(text)) return null
  const folded = text.toLowerCase()
  return folded === text.replace(ASCII_CAPITALS, (capitals) => capitals.toLowerCase()) ? null : folded
}

const NOT_ASCII = /[^ -~\t\r\n]/
const ASCII_CAPITALS = /[A-Z]+/g
