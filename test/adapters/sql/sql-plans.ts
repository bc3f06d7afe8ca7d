import type { CompiledQuery, Dialect } from 'kysely'
import type { FindQuery } from 'portcullis'
import { kyselyStorage } from 'portcullis/kysely'
import { type Filter, type Literal, type Operand, RECORD_KINDS, type RecordKind } from 'portcullis/storage'
import { expect, it } from 'vitest'
// Internals: the list of all kinds of records, so that none is left out.
import { resourceNamed } from '../../../src/facts/resources/index.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'

/** How the database says it would answer a statement; a line that matches `scan` looks at every row of a table. */
export interface Planner {
  readonly dialect: () => Dialect
  readonly scan: RegExp
  explain(query: CompiledQuery): Promise<readonly string[]>
}

const VALUES = { string: 'x', integer: 1, number: 1, boolean: true, instant: 1, set: 'x', json: 'x' } as const

/** The questions about a kind that an index must answer, by name. */
function questionsAbout({ name, fields, unique, indexed, searchedJson = [] }: RecordKind): [string, FindQuery][] {
  const equals = (operand: Operand): Filter => {
    const value = operand.kind === 'field' ? VALUES[fields[operand.field] ?? 'string'] : 'x'
    return { kind: 'compare', operand, operator: '=', value }
  }
  const sets = Object.keys(fields).filter((field) => fields[field] === 'set')
  const named = new Set(['id', ...unique, ...indexed, ...deletableReferences(name)])
  const lookedUp = [...named].filter((field) => fields[field] !== 'set')
  return [
    ['the default list', { limit: 10 }],
    ['the default list, further on', { limit: 10, offset: 10 }],
    ...unique.map((field): [string, FindQuery] => [
      `a list by ${field}`,
      { limit: 10, orderBy: [{ field, kind: fields[field] ?? 'string', direction: 'asc' }] },
    ]),
    ...lookedUp.map((field): [string, FindQuery] => [
      `${field} = value`,
      { where: equals({ kind: 'field', field }), limit: 10 },
    ]),
    ...lookedUp.map((field): [string, FindQuery] => {
      const value = VALUES[fields[field] ?? 'string']
      const texts = Array.from({ length: 20 }, (_, index) => `${index}`)
      const values = new Set<Literal>(typeof value === 'string' ? texts : [value])
      return [`${field} in values`, { where: { kind: 'in', operand: { kind: 'field', field }, values }, limit: 10 }]
    }),
    ...sets.map((field): [string, FindQuery] => [
      `anyOf(${field}) = value`,
      { where: equals({ kind: 'anyOf', field }), limit: 10 },
    ]),
    ...searchedJson.map((field): [string, FindQuery] => [
      `${field}.site = value`,
      { where: equals({ kind: 'json', field, path: ['site'] }), limit: 10 },
    ]),
  ]
}

/** The fields that refer to what can be deleted: a deletion asks for what refers to it. */
function deletableReferences(name: string): readonly string[] {
  const { references = {} } = resourceNamed(name).definition
  return Object.keys(references).filter((field) => {
    const { to = '', orTo } = references[field] ?? {}
    return [to, orTo ?? to].some(
      (kind) => DELETED.has(kind) || resourceNamed(kind).definition.operations.includes('delete'),
    )
  })
}

/** Kinds that go without an operation of their own. */
const DELETED = new Set(['enrollments', 'authenticators'])

/** Declares a test for each kind of record: no statement of its lists and look-ups goes through a whole table. */
export function describePlans(open: () => Promise<Planner>): void {
  const cases = RECORD_KINDS.flatMap((kind) => [
    [kind.name, 'without a cache', kind, 0] as const,
    [kind.name, 'that its cache does not hold', kind, 100] as const,
  ])
  it.each(cases)('uses an index for %s %s', async (_, __, kind, cachedRecords) => {
    const { dialect, scan, explain } = await open()
    const seen: CompiledQuery[] = []
    const watched = () => watchedDialect(dialect(), (query) => void seen.push(query))
    const storage = await kyselyStorage({ dialect: watched, cachedRecords })
    const plans: [string, readonly string[]][] = []
    for (const [name, question] of questionsAbout(kind)) {
      seen.length = 0
      await storage.read((tx) => tx.collection(kind).find(question))
      await storage.read((tx) => tx.collection(kind).findIds(question))
      const asked = seen.filter(({ sql }) => sql.startsWith('select') && !sql.includes('storage_state'))
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.at(-1)?.sql).toMatch(/^select "?t"?\."?id"? from /)
      for (const query of asked) plans.push([`${name}: ${query.sql}`, await explain(query)])
    }
    await storage.close()
    expect(plans.length).toBeGreaterThan(3)
    expect(plans.filter(([, lines]) => lines.some((line) => scan.test(line)))).toEqual([])
  })
}
