import { compareBy, compareStrings, type OrderBy, parseQuery } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { SYMBOLS } from './gadgets.ts'

describe('compareStrings orders by code point', () => {
  it.each([
    ['', 'a'],
    ['A', 'B'],
    ['B', 'a'],
    ['a', 'aa'],
    ['ab', 'b'],
    ['z', 'ä'],
    ['\ud7ff', '\ue000'],
    ['\uffff', '\u{10000}'],
    ['\uff5a', '\u{1f600}'],
    ['\u{1f600}', '\u{1f601}'],
    ['\u{1f600}', '\u{1f600}a'],
    ['x\uff5a', 'x\u{1f600}'],
  ])('%j comes before %j', (first, second) => {
    expect(compareStrings(first, second)).toBeLessThan(0)
    expect(compareStrings(second, first)).toBeGreaterThan(0)
    expect(compareStrings(first, first)).toBe(0)
  })
})

const RECORDS = [
  { id: 'd', name: 'b', cost: 2, isAdmin: true },
  { id: 'c', name: 'b', cost: 10, isAdmin: false },
  { id: 'b', name: null, cost: 10, isAdmin: true },
  { id: 'a', name: 'B', cost: null },
]

describe('compareBy', () => {
  it.each([
    ['name', 'b a c d'],
    ['name desc', 'c d a b'],
    ['cost', 'a d b c'],
    ['cost desc', 'b c d a'],
    ['isAdmin', 'a c b d'],
    ['cost desc, name desc', 'c b d a'],
    ['name, id desc', 'b a d c'],
    ['id desc', 'd c b a'],
  ])('orders by %s, and by id where that says nothing', (text, expected) => {
    const sorted = RECORDS.toSorted(compareBy(parseQuery(`sort by ${text}`, SYMBOLS).orderBy ?? []))
    expect(sorted.map(({ id }) => id).join(' ')).toBe(expected)
  })

  it('orders by id unless asked for another order', () => {
    const none: readonly OrderBy[] = []
    expect(RECORDS.toSorted(compareBy(none)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  })
})
