import fc from 'fast-check'
import { compareBy, compareStrings, type Filter, FilterError, matches, parseQuery } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { printFilter } from '../../support/filter-print.ts'
import { runs } from '../../support/property-runs.ts'
import { SYMBOLS } from './gadgets.ts'
import { filter, record, symbolOf } from './random-filters.ts'

/** A filter as a text, spelled in one of the many ways that the language has for it. */
const spelled = fc.tuple(filter, fc.infiniteStream(fc.nat(1 << 20))).map(([of, choices]) => {
  const print = (what: Filter) => printFilter(what, symbolOf, (count) => Number(choices.next().value) % count)
  return { filter: of, text: print(of) }
})

const records = fc.array(record, { maxLength: 8 })
const read = (text: string): Filter => parseQuery(text, SYMBOLS).where ?? { kind: 'all' }
const countOf = (text: string, among: readonly object[]) => {
  const where = read(text)
  return among.filter((one) => matches(where, { ...one })).length
}

describe('a filter', () => {
  it('is read as what was written', () => {
    fc.assert(
      fc.property(spelled, ({ filter: written, text }) => {
        fc.pre(text.length <= 4096)
        expect(read(text)).toEqual(written)
      }),
      runs(2000),
    )
  })

  it('and its negation part the records among them', () => {
    fc.assert(
      fc.property(spelled, records, ({ text }, among) => {
        fc.pre(text.length < 4000)
        expect(countOf(text, among) + countOf(`not ${text}`, among)).toBe(among.length)
      }),
      runs(500),
    )
  })

  it('joined with another finds what both or either find', () => {
    fc.assert(
      fc.property(spelled, spelled, record, (one, other, at) => {
        fc.pre(one.text.length + other.text.length < 4000)
        const [left, right] = [matches(one.filter, at), matches(other.filter, at)]
        expect(matches(read(`(${one.text}) and ${other.text}`), at)).toBe(left && right)
        expect(matches(read(`(${one.text}) or ${other.text}`), at)).toBe(left || right)
      }),
      runs(500),
    )
  })
})

describe('operators agree with each other', () => {
  const number = fc.constantFrom(-1, 0, 0.5, 1, 2, 5)
  const word = fc.constantFrom('a', 'A', 'ab', 'b', '5')
  const pairs = fc.constantFrom<(a: number, b: number, x: string, y: string) => [string, string]>(
    (a, b) => [`load between ${a} and ${b}`, `load >= ${a} and load < ${b}`],
    (a, b) => [`load in [${a}, ${b}]`, `load = ${a} or load = ${b}`],
    (a) => [`load != ${a}`, `not load = ${a}`],
    (a) => [`load <= ${a}`, `load < ${a} or load = ${a}`],
    (a) => [`load > ${a}`, `load != null and not load <= ${a}`],
    (_a, _b, x, y) => [`name not in ["${x}", "${y}"]`, `name != "${x}" and name != "${y}"`],
    (_a, _b, x) => [`name not contains "${x}"`, `not name contains "${x}"`],
    (_a, _b, x) => [`name contains "${x}"`, `name contains "${x}" and name icontains "${x.toUpperCase()}"`],
    (_a, _b, x) => [`allOf(roleAttributes) = "${x}"`, `not anyOf(roleAttributes) != "${x}"`],
    (_a, _b, x) => [`anyOf(roleAttributes) not contains "${x}"`, `not allOf(roleAttributes) contains "${x}"`],
    (_a, _b, x) => [`anyOf(roleAttributes) > "${x}"`, `count(from roleAttributes where id > "${x}") > 0`],
    (_a, _b, x) => [`anyOf(roleAttributes) = "${x}"`, `not isEmpty(from roleAttributes where id = "${x}")`],
    () => ['isEmpty(roleAttributes)', 'count(roleAttributes) = 0'],
    () => ['isAdmin', 'isAdmin = true'],
  )

  it('on any record', () => {
    fc.assert(
      fc.property(pairs, number, number, word, word, record, (pair, a, b, x, y, at) => {
        const [one, other] = pair(a, b, x, y)
        expect(matches(read(one), at), `${one} is ${other}`).toBe(matches(read(other), at))
      }),
      runs(1000),
    )
  })
})

const TOKENS = [
  ...'and or not in between contains icontains true false allOf anyOf count isEmpty null asc desc sort by'.split(' '),
  ...'skip limit none from where id name type cost load isAdmin createdAt roleAttributes tags tags.x nothing'.split(
    ' ',
  ),
  ...'( ) [ ] , = != < <= > >= 0 1 -1.5 1e9 "" "x" "\\n" \' " ~ . - __proto__'.split(' '),
  'datetime(',
  'datetime(2024-05-01T12:00:00Z)',
  '\u0000',
  '\u{1f600}',
]

/** Texts from the right words in the wrong order, and texts from anything. */
const soup = fc
  .array(fc.tuple(fc.constantFrom(...TOKENS), fc.constantFrom(' ', ' ', ' ', '', '\n')), { maxLength: 60 })
  .map((parts) => parts.flat().join(''))
const anything = fc.oneof(
  { weight: 3, arbitrary: soup },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom('"', '\\', '(', ')', ' ', '.', '-', '1', 'a'), maxLength: 200 }),
  },
)

/** A filter text with a piece cut out, put in, or said twice: nearly right. */
const nearly = fc
  .tuple(spelled, fc.nat(), fc.nat(8), fc.constantFrom('', ...TOKENS))
  .map(([{ text }, at, length, put]) => {
    const from = at % (text.length + 1)
    return text.slice(0, from) + put + text.slice(from + length)
  })

describe('any text at all', () => {
  it('is a filter or a FilterError, at once', () => {
    fc.assert(
      fc.property(fc.oneof(anything, nearly), record, (text, at) => {
        const start = process.cpuUsage()
        for (const asked of [text, `sort by ${text}`]) {
          const outcome = attempt(() => parseQuery(asked, SYMBOLS))
          expect(outcome instanceof Error).toBe(outcome instanceof FilterError)
        }
        // The work that it took, which a busy machine adds nothing to.
        const { user, system } = process.cpuUsage(start)
        expect((user + system) / 1000).toBeLessThan(250)
        const parsed = attempt(() => matches(read(text), at))
        expect(typeof parsed === 'boolean' || parsed instanceof FilterError).toBe(true)
      }),
      runs(2000),
    )
  })
})

function attempt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('orders', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('a', '\uff5a', '\u{1f600}') }))

  it('compare texts by code point', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareStrings(a, b))).toBe(byCodePoint(a, b))
      }),
      runs(1000),
    )
  })

  it('of records are total: the same whichever order they begin in', () => {
    const fields = fc.uniqueArray(fc.constantFrom('name', 'cost', 'load', 'isAdmin', 'createdAt', 'id'), {
      maxLength: 3,
    })
    const sort = fc
      .tuple(fields, fc.constantFrom('asc', 'desc'))
      .map(([names, way]) => names.map((name) => `${name} ${way}`))
    const distinct = fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 8 })
    fc.assert(
      fc.property(sort, distinct, (by, some) => {
        const order = compareBy(by.length === 0 ? [] : (parseQuery(`sort by ${by.join(', ')}`, SYMBOLS).orderBy ?? []))
        expect(some.toReversed().toSorted(order)).toEqual(some.toSorted(order))
      }),
      runs(500),
    )
  })
})

function byCodePoint(a: string, b: string): number {
  const left = codePoints(a)
  const right = codePoints(b)
  const different = left.findIndex((point, at) => point !== right[at])
  if (different === -1) return Math.sign(left.length - right.length)
  return Math.sign((left[different] ?? 0) - (right[different] ?? -1))
}

const codePoints = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0)
