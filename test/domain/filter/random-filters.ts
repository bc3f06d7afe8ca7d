import fc from 'fast-check'
import type { Comparison, Filter, Literal, Operand } from 'portcullis/storage'
import { SYMBOLS } from './gadgets.ts'

/** A text that the language can spell: control characters other than these four have no escape. */
const isSpellable = (any: string) =>
  Array.from(any).every((character) => character >= ' ' || '\f\n\r\t'.includes(character))

/** Values that filters compare and records hold: small pools, so that they often meet, and now and then anything. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', 'a', 'A', 'ab', 'b "', '\\n', '\uff5a', '\u{1f600}', '5') },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary', maxLength: 6 }).filter(isSpellable),
  },
)
const number = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(-1, 0, 0.5, 1, 2, 5) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((any) => any + 0) },
)
const integer = fc.integer({ min: -2, max: 5 })
const instant = fc.integer({ min: 0, max: Date.UTC(9999, 11, 30) })
const key = fc.constantFrom('site', 'deep', 'my-key', 'limit', 'toString')

export const record = fc.record(
  {
    id: text,
    name: fc.option(text),
    typeId: fc.option(text),
    cost: fc.option(integer),
    load: fc.option(number),
    isAdmin: fc.option(fc.boolean()),
    createdAt: fc.option(fc.oneof(instant, fc.constantFrom(0, 1))),
    roleAttributes: fc.uniqueArray(text, { maxLength: 3 }),
    tags: fc.dictionary(key, fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.record({ deep: text }))),
  },
  { requiredKeys: ['id'] },
)

const ordered = fc.constantFrom<Comparison>('=', '!=', '<', '<=', '>', '>=')
const equality = fc.constantFrom<Comparison>('=', '!=')

function compare(operand: fc.Arbitrary<Operand>, operator: fc.Arbitrary<Comparison>, value: fc.Arbitrary<Literal>) {
  return fc.record({ kind: fc.constant('compare'), operand, operator, value })
}

function isOneOf(operand: fc.Arbitrary<Operand>, value: fc.Arbitrary<Literal>) {
  const values = fc.array(value, { minLength: 1, maxLength: 3 }).map((list) => new Set(list))
  return fc.record({ kind: fc.constant('in'), operand, values })
}

function between(operand: fc.Arbitrary<Operand>, value: fc.Arbitrary<number>) {
  return fc.record({ kind: fc.constant('between'), operand, from: value, to: value })
}

function contains(operand: fc.Arbitrary<Operand>) {
  return fc.record({ kind: fc.constant('contains'), operand, text, foldCase: fc.boolean() })
}

const field = (...names: string[]): fc.Arbitrary<Operand> =>
  fc.constantFrom(...names).map((name) => ({ kind: 'field', field: name }))

/** Conditions on texts, which are what fields and the elements of sets hold. */
function onTexts(operand: fc.Arbitrary<Operand>): fc.Arbitrary<Filter> {
  return fc.oneof(
    compare(operand, ordered, text),
    compare(operand, equality, fc.constant(null)),
    isOneOf(operand, text),
    contains(operand),
  )
}

function onNumbers(operand: fc.Arbitrary<Operand>, value: fc.Arbitrary<number>): fc.Arbitrary<Filter> {
  return fc.oneof(compare(operand, ordered, value), isOneOf(operand, value), between(operand, value))
}

/** Joins conditions to deeper ones. `true` alone asks for nothing and does not appear as the whole of a filter. */
function joined(condition: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  return fc.letrec<{ filter: Filter }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      condition,
      fc.record({ kind: fc.constant('not'), of: fc.oneof(tie('filter'), fc.constant<Filter>({ kind: 'all' })) }),
      fc.record({ kind: fc.constantFrom('and', 'or'), left: tie('filter'), right: tie('filter') }),
      fc.record({
        kind: fc.constantFrom('and', 'or'),
        left: fc.constant<Filter>({ kind: 'all' }),
        right: tie('filter'),
      }),
    ),
  })).filter
}

const where = joined(onTexts(field('id')))
const roles = fc.constant('roleAttributes')
const optionalWhere: { requiredKeys: ('kind' | 'field')[] } = { requiredKeys: ['kind', 'field'] }
const count = fc.record({ kind: fc.constant('count'), field: roles, where }, optionalWhere)
const isEmpty = fc.record({ kind: fc.constant('isEmpty'), field: roles, where }, optionalWhere)
const quantified: fc.Arbitrary<Operand> = fc.record({ kind: fc.constantFrom('anyOf', 'allOf'), field: roles })
const tag: fc.Arbitrary<Operand> = fc.record({
  kind: fc.constant('json'),
  field: fc.constant('tags'),
  path: fc.array(key, { minLength: 1, maxLength: 2 }),
})

/** Any filter over the fields of the gadgets. */
export const filter: fc.Arbitrary<Filter> = joined(
  fc.oneof(
    onTexts(field('id', 'name', 'typeId')),
    onNumbers(field('cost', 'load'), number),
    contains(field('cost', 'load')),
    onNumbers(field('createdAt'), instant),
    compare(field('isAdmin'), equality, fc.option(fc.boolean())),
    onTexts(quantified),
    onNumbers(count, integer),
    isEmpty,
    onTexts(tag),
    onNumbers(tag, number),
    compare(tag, equality, fc.boolean()),
  ),
)

/** The symbol of a stored field of the gadgets. */
export function symbolOf(name: string): { symbol: string; isInstant: boolean } {
  const [symbol, { kind }] = Object.entries(SYMBOLS).find(([, found]) => found.field === name) ?? [name, SYMBOLS.name]
  return { symbol, isInstant: String(kind) === 'instant' }
}
