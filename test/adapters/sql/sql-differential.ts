import fc from 'fast-check'
import type { FindQuery, Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import type { Filter, Literal, Operand, OrderBy } from 'portcullis/storage'
import { expect, it } from 'vitest'
import { insertAll, type Machine, machine, machines } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { times } from '../../support/property-runs.ts'

const QUESTIONS_PER_POPULATION = 25

/**
 * Asks the memory storage and `open`'s the same random questions about the same random records, and expects the same
 * answers. `cases` is the number of questions in `npm run test:slow`; 70 times as many make the long form.
 */
export function describeDifferential(name: string, cases: number, open: () => Promise<Storage>): void {
  const populations = Math.ceil(times(cases, cases / 2) / QUESTIONS_PER_POPULATION)
  const count = populations * QUESTIONS_PER_POPULATION
  it(`answers ${count} random questions as the memory storage does: ${name}`, {
    timeout: 60_000 + count * 50,
  }, async () => {
    const storage = await open()
    await fc.assert(
      fc.asyncProperty(population, questions, async (records, asked) => {
        const memory = memoryStorage()
        await insertAll(memory, machines, records)
        await replaceAll(storage, records)
        for (const query of asked) {
          const [expected, found] = await Promise.all([memory, storage].map((one) => ask(one, query)))
          expect(found).toEqual(expected)
        }
      }),
      { numRuns: populations },
    )
  })
}

function ask(storage: Storage, query: FindQuery) {
  return storage.read((tx) => tx.collection(machines).find(query))
}

async function replaceAll(storage: Storage, records: readonly Machine[]): Promise<void> {
  await storage.write(async (tx) => {
    const collection = tx.collection(machines)
    for (const { id } of (await collection.find()).items) await collection.delete(id)
    for (const record of records) await collection.insert(record)
  })
}

// Small pools, so that values meet. Letters whose lower case is longer, depends on the context or is ASCII; characters on
// both sides of the surrogates; what means something to LIKE, JSON or SQL.
const PARTS = [
  ...['', 'a', 'A', 'b', 'Z', 'z', '0', '7', ' ', '%', '_', '\\', "'", '"', '?', '$1', ':x', '.', '/', '\u0001', '\n'],
  ...['ä', 'Ä', 'ß', 'ẞ', 'İ', 'i', 'I', 'ı', 'Σ', 'σ', 'ς', 'K', 'Å', 'ǅ', 'é', 'e\u0301', 'Ω', 'ж', 'Ж'],
  ...['\ud7ff', '\ue000', '\uff5a', '\uffff', '\u{10000}', '\u{10400}', '\u{10428}', '\u{1f600}', '\u{10ffff}'],
] as const

const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 3 }).map((parts) => parts.join(''))
const shortText = fc.oneof({ weight: 2, arbitrary: fc.constantFrom('', 'a', 'A', 'b', 'Σ', 'ä', '\u{1f600}') }, text)
const textOrNull = fc.option(shortText, { freq: 4 })
const integer = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom(10, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
)
const NUMBERS = [0, 1, -1.5, 0.1 + 0.2, 0.3, 3, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, -1234.5] as const
const number = fc.constantFrom(...NUMBERS)

const KEYS = [
  'site',
  'Site',
  'a',
  'a.b',
  '',
  '$',
  '"',
  '\\',
  "'",
  '0',
  'length',
  'constructor',
  'ключ',
  '\u{1f600}',
] as const
const key = fc.constantFrom(...KEYS)
const scalar = fc.oneof(shortText, number, fc.boolean(), fc.constant(null))
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

const record: fc.Arbitrary<Machine> = fc
  .record({
    id: fc.oneof(text, fc.uuid()),
    serial: textOrNull,
    owner: textOrNull,
    cost: integer,
    weight: fc.option(number),
    active: fc.boolean(),
    seenAt: fc.option(integer),
    note: text,
    roles: fc.uniqueArray(shortText, { maxLength: 4 }),
    tags: fc.dictionary(key, json, { maxKeys: 4, noNullPrototype: true }),
  })
  .map(({ id, ...fields }) => machine(id, { name: `${fields.note}:${id}`, ...fields }))

const population: fc.Arbitrary<readonly Machine[]> = fc
  .uniqueArray(record, { selector: ({ id }) => id, maxLength: 25 })
  .map((records) => {
    const taken = new Set<string>()
    return records.filter(({ serial }) => serial === null || (!taken.has(serial) && taken.add(serial)))
  })

const literal: fc.Arbitrary<Literal> = fc.oneof(
  { weight: 4, arbitrary: shortText },
  { weight: 2, arbitrary: fc.oneof(integer, number) },
  fc.boolean(),
  fc.constant(null),
)

const FIELDS = [
  'id',
  'name',
  'serial',
  'owner',
  'cost',
  'weight',
  'active',
  'seenAt',
  'note',
  'tags',
  'roles',
  'none',
] as const
const path = fc.array(key, { minLength: 1, maxLength: 3 })
const SETS = ['roles', 'roles', 'roles', 'none'] as const

function operandOver(element: fc.Arbitrary<Filter>): fc.Arbitrary<Operand> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...FIELDS).map((field) => ({ kind: 'field' as const, field })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('anyOf' as const, 'allOf' as const), fc.constantFrom(...SETS))
        .map(([kind, field]) => ({ kind, field })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...SETS), fc.option(element, { nil: undefined }))
        .map(([field, where]) => ({ kind: 'count' as const, field, ...(where && { where }) })),
    },
    { weight: 3, arbitrary: path.map((keys) => ({ kind: 'json' as const, field: 'tags', path: keys })) },
  )
}

function testOf(operand: fc.Arbitrary<Operand>): fc.Arbitrary<Filter> {
  const comparison = fc.constantFrom(
    '=' as const,
    '!=' as const,
    '<' as const,
    '<=' as const,
    '>' as const,
    '>=' as const,
  )
  return fc.oneof(
    fc
      .tuple(operand, comparison, literal)
      .map(([of, operator, value]) => ({ kind: 'compare' as const, operand: of, operator, value })),
    fc
      .tuple(operand, fc.oneof(fc.array(literal, { maxLength: 4 }), fc.array(text, { minLength: 12, maxLength: 30 })))
      .map(([of, values]) => ({ kind: 'in' as const, operand: of, values: new Set(values) })),
    fc
      .tuple(operand, fc.oneof(integer, number), fc.oneof(integer, number))
      .map(([of, from, to]) => ({ kind: 'between' as const, operand: of, from, to })),
    fc
      .tuple(operand, fc.oneof(shortText, fc.constantFrom('1', '.5', 'e', '+')), fc.boolean())
      .map(([of, part, foldCase]) => ({ kind: 'contains' as const, operand: of, text: part, foldCase })),
  )
}

const elementOperand = fc.constantFrom('id', 'id', 'id', 'other').map((field) => ({ kind: 'field' as const, field }))
const elementFilter = combined(testOf(elementOperand))
const filter = combined(
  fc.oneof(
    { weight: 8, arbitrary: testOf(operandOver(elementFilter)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...SETS), fc.option(elementFilter, { nil: undefined }))
        .map(([field, where]) => ({ kind: 'isEmpty' as const, field, ...(where && { where }) })),
    },
  ),
)

function combined(test: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  return fc.letrec<{ filter: Filter }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      test,
      fc.constant({ kind: 'all' as const }),
      tie('filter').map((of) => ({ kind: 'not' as const, of })),
      fc
        .tuple(fc.constantFrom('and' as const, 'or' as const), tie('filter'), tie('filter'))
        .map(([kind, left, right]) => ({ kind, left, right })),
    ),
  })).filter
}

const orderBy: fc.Arbitrary<readonly OrderBy[]> = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom('id', 'name', 'serial', 'owner', 'cost', 'weight', 'active', 'seenAt', 'note'),
      fc.constantFrom('asc' as const, 'desc' as const),
    )
    .map(([field, direction]) => ({ field, kind: machines.fields[field] ?? 'string', direction })),
  { selector: ({ field }) => field, maxLength: 3 },
)

const questions: fc.Arbitrary<readonly FindQuery[]> = fc.array(
  fc.record({ where: filter, orderBy, limit: fc.nat(12), offset: fc.nat(6) }, { requiredKeys: [] }),
  { minLength: QUESTIONS_PER_POPULATION, maxLength: QUESTIONS_PER_POPULATION },
)
