import type { OrderBy } from '../tree/ast.ts'

const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff

/**
 * Orders texts by Unicode code point. JavaScript's own order is by UTF-16 unit, which puts characters beyond U+FFFF
 * before U+E000, unlike every database.
 *
 * @example
 * ['b', 'a'].sort(compareStrings) // ['a', 'b']
 */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/** A surrogate stands for a character beyond every single unit. */
function rank(unit: number): number {
  return unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE ? unit + 0x10000 : unit
}

/**
 * Orders records by the given fields and then by `id` ascending. Null and absent values come first ascending.
 *
 * @example
 * records.toSorted(compareBy([{ field: 'cost', kind: 'integer', direction: 'desc' }]))
 */
export function compareBy<T extends { readonly id: string }>(orderBy: readonly OrderBy[]): (a: T, b: T) => number {
  return (a, b) => {
    for (const { field, direction } of orderBy) {
      const order = compareValues(Reflect.get(a, field), Reflect.get(b, field))
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return compareStrings(a.id, b.id)
  }
}

function compareValues(a: unknown, b: unknown): number {
  const left = a ?? null
  const right = b ?? null
  if (left === null || right === null) return Number(left !== null) - Number(right !== null)
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right)
  return Number(left) - Number(right)
}
