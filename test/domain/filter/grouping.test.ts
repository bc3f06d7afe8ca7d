import { type Filter, parseQuery, type SymbolTable } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'

const symbols: SymbolTable = Object.fromEntries(
  ['a', 'b', 'c', 'd'].map((name) => [name, { field: name, kind: 'boolean' }] as const),
)

/** A filter over a, b, c and d, fully parenthesised. */
function grouped(filter: Filter | undefined): string {
  switch (filter?.kind) {
    case 'and':
    case 'or':
      return `(${grouped(filter.left)} ${filter.kind} ${grouped(filter.right)})`
    case 'not':
      return `!${grouped(filter.of)}`
    case 'compare':
      return filter.operand.field
    default:
      return String(filter?.kind)
  }
}

describe('and and or have no precedence over each other and group to the right', () => {
  it.each([
    ['a', 'a'],
    ['a and b', '(a and b)'],
    ['a and b or c', '(a and (b or c))'],
    ['a or b and c', '(a or (b and c))'],
    ['a and b and c', '(a and (b and c))'],
    ['a or b or c or d', '(a or (b or (c or d)))'],
    ['a and b or c and d', '(a and (b or (c and d)))'],
    ['(a and b) or c', '((a and b) or c)'],
    ['(a or b) and (c or d)', '((a or b) and (c or d))'],
    ['((a))', 'a'],
    ['( \n a\t)', 'a'],
    ['a and true', '(a and all)'],
    ['a or false', '(a or !all)'],
  ])('%s is %s', (text, expected) => {
    expect(grouped(parseQuery(text, symbols).where)).toBe(expected)
  })
})

describe('not takes in everything to its right', () => {
  it.each([
    ['not a', '!a'],
    ['not a and b', '!(a and b)'],
    ['(not a) and b', '(!a and b)'],
    ['a and not b or c', '(a and !(b or c))'],
    ['not not a', '!!a'],
    ['not a or not b and c', '!(a or !(b and c))'],
    ['not (a or b)', '!(a or b)'],
    ['NOT a AND NoT b', '!(a and !b)'],
  ])('%s is %s', (text, expected) => {
    expect(grouped(parseQuery(text, symbols).where)).toBe(expected)
  })
})

describe('the and of between is its own', () => {
  const numbers: SymbolTable = { ...symbols, n: { field: 'n', kind: 'integer' } }

  it.each(['n between 1 and 2 and a', 'n  BETWEEN\n1 AND\t2 and a'])('%s', (text) => {
    expect(parseQuery(text, numbers).where).toEqual({
      kind: 'and',
      left: { kind: 'between', operand: { kind: 'field', field: 'n' }, from: 1, to: 2 },
      right: { kind: 'compare', operand: { kind: 'field', field: 'a' }, operator: '=', value: true },
    })
  })
})
