import fc from 'fast-check'
import { type Machine, machine, where } from './kinds.ts'
import type { Question } from './naive-storage.ts'

export type Step =
  | { readonly kind: 'insert'; readonly record: Machine }
  | { readonly kind: 'update'; readonly record: Machine }
  | { readonly kind: 'get'; readonly id: string }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'find'; readonly question: Question }

/** One write: what it does, and whether it then throws. */
export interface Write {
  readonly steps: readonly Step[]
  readonly commits: boolean
}

// Small pools, so that values collide often; the last two of TEXTS sort differently by UTF-16 unit and by code point.
const IDS = ['a', 'b', 'c', 'd', 'e', 'B', '\uff5a', '\u{1f600}'] as const
const TEXTS = ['x', 'X', 'xy', '', '\uff5a', '\u{1f600}'] as const

const MEANINGS: readonly (readonly [string, (record: Machine) => boolean])[] = [
  ['true', () => true],
  ['id = "a"', ({ id }) => id === 'a'],
  ['id in ["b", "e", "a", "none"]', ({ id }) => ['a', 'b', 'e'].includes(id)],
  ['name = "x"', ({ name }) => name === 'x'],
  ['serial in ["x", "X"]', ({ serial }) => serial === 'x' || serial === 'X'],
  ['serial = null', ({ serial }) => serial === null],
  ['owner = "x"', ({ owner }) => owner === 'x'],
  ['owner != "x"', ({ owner }) => owner !== 'x'],
  ['owner in ["", "xy"]', ({ owner }) => owner === '' || owner === 'xy'],
  ['owner > "X"', ({ owner }) => owner !== null && !['', 'X'].includes(owner)],
  ['owner contains "x"', ({ owner }) => owner?.includes('x') ?? false],
  ['active', ({ active }) => active],
  ['cost = 1', ({ cost }) => cost === 1],
  ['cost between -1 and 2', ({ cost }) => cost >= -1 && cost < 2],
  ['weight < 1', ({ weight }) => weight !== null && weight < 1],
  ['anyOf(roles) = "x"', ({ roles }) => roles.includes('x')],
  ['anyOf(roles) in ["X", "x"]', ({ roles }) => roles.includes('x') || roles.includes('X')],
  ['allOf(roles) = "x"', ({ roles }) => roles.every((role) => role === 'x')],
  ['tags.key = "x"', ({ tags }) => tags.key === 'x'],
  ['owner = "x" and cost = 1', ({ owner, cost }) => owner === 'x' && cost === 1],
  ['cost = 1 and not active', ({ cost, active }) => cost === 1 && !active],
  ['name = "x" or owner = "x"', ({ name, owner }) => name === 'x' || owner === 'x'],
  ['id in ["a", "b", "c"] and owner != null', ({ id, owner }) => 'abc'.includes(id) && owner !== null],
]

const id = fc.constantFrom(...IDS)
const text = fc.constantFrom(...TEXTS)
const textOrNull = fc.option(text, { freq: 3 })

const record: fc.Arbitrary<Machine> = fc
  .record({
    name: text,
    serial: textOrNull,
    owner: textOrNull,
    cost: fc.integer({ min: -2, max: 3 }),
    weight: fc.option(fc.constantFrom(-1.5, 0, 0.5, 2)),
    active: fc.boolean(),
    seenAt: fc.option(fc.nat(5)),
    roles: fc.uniqueArray(text, { maxLength: 3 }),
    tags: fc.dictionary(fc.constantFrom('key', 'other', '__proto__'), text, { maxKeys: 3, noNullPrototype: true }),
  })
  .chain((fields) => id.map((chosen) => machine(chosen, fields)))

const orderBy = fc.uniqueArray(
  fc
    .constantFrom(
      { field: 'id', kind: 'string' } as const,
      { field: 'name', kind: 'string' } as const,
      { field: 'serial', kind: 'string' } as const,
      { field: 'owner', kind: 'string' } as const,
      { field: 'cost', kind: 'integer' } as const,
      { field: 'weight', kind: 'number' } as const,
      { field: 'active', kind: 'boolean' } as const,
      { field: 'seenAt', kind: 'instant' } as const,
    )
    .chain((symbol) => fc.constantFrom('asc' as const, 'desc' as const).map((direction) => ({ ...symbol, direction }))),
  { selector: ({ field }) => field, maxLength: 3 },
)

const question: fc.Arbitrary<Question> = fc
  .tuple(
    fc.constantFrom(...MEANINGS),
    fc.record({ orderBy, limit: fc.nat(9), offset: fc.nat(4) }, { requiredKeys: [] }),
    fc.boolean(),
  )
  .map(([[words, isMeant], rest, isAll]) =>
    isAll ? { query: rest, isMeant: () => true } : { query: { ...rest, where: where(words) }, isMeant },
  )

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: record.map((of) => ({ kind: 'insert' as const, record: of })) },
  { weight: 3, arbitrary: record.map((of) => ({ kind: 'update' as const, record: of })) },
  { weight: 2, arbitrary: id.map((of) => ({ kind: 'delete' as const, id: of })) },
  { weight: 1, arbitrary: id.map((of) => ({ kind: 'get' as const, id: of })) },
  { weight: 3, arbitrary: question.map((of) => ({ kind: 'find' as const, question: of })) },
)

export const writes: fc.Arbitrary<readonly Write[]> = fc.array(
  fc.record({
    steps: fc.array(step, { maxLength: 12 }),
    commits: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  }),
  { maxLength: 8 },
)
