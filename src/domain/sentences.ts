import { visibleLine } from './visible-text.ts'

/** A name in quotation marks, without line ends and other control characters that would fake further text. */
export function quoted(name: string): string {
  return `'${visibleLine(name)}'`
}

/** Things in a row: `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[], word: 'and' | 'or' = 'and'): string {
  const last = items.at(-1) ?? 'nothing'
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} ${word} ${last}`
}

/** The first few of a list, and how many there are beyond. */
export function fewOf(items: readonly string[], most: number): string {
  const rest = items.length - most
  return rest <= 0 ? listed(items) : `${items.slice(0, most).join(', ')} and ${counted(rest, 'other')}`
}

/** `1 edge router`, `2 edge routers`, `no edge router`. */
export function counted(count: number, noun: string): string {
  if (count === 0) return `no ${noun}`
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
