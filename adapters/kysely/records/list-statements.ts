import { type CompiledQuery, sql } from 'kysely'
import type { FindQuery } from '../../../src/index.ts'
import type { OrderBy } from '../../../src/storage.ts'
import type { Database } from '../language/database.ts'
import type { Sql } from '../language/language.ts'
import { type Statement, statement } from '../language/statement.ts'
import type { RecordTable } from '../schema/record-table.ts'

/** The questions about a kind that are asked again and again: their SQL is written once. */
export interface ListStatements {
  /** Columns that every list fetches. */
  readonly columns: Sql
  readonly table: Sql
  /** How many records there are, in `total`. */
  readonly count: CompiledQuery
  /** A list without a condition. */
  list(query: FindQuery): CompiledQuery
}

const MADE = new WeakMap<RecordTable, ListStatements>()

export function listStatements(database: Database, records: RecordTable): ListStatements {
  let statements = MADE.get(records)
  if (statements === undefined) {
    statements = makeStatements(database, records)
    MADE.set(records, statements)
  }
  return statements
}

function makeStatements(database: Database, records: RecordTable): ListStatements {
  const { language } = database
  const names = ['id', ...records.fields.map(({ column }) => column)]
  const columns = sql.raw(database.compile(sql.join(names.map((name) => sql.ref(`t.${name}`)))).sql)
  const table = sql`${database.table(records.table)} as t`
  const lists = new Map<string, Statement>()

  function makeList({ orderBy = [], limit, offset = 0 }: FindQuery): Statement {
    const order = orderClause(database, orderTerms(database, records, orderBy))
    return statement(database, sql`select ${columns} from ${table} ${order} ${language.slice(limit, offset)}`)
  }

  return {
    columns,
    table,
    count: database.compile(sql`select count(*) as total from ${table}`),
    list(query) {
      const { orderBy = [], limit, offset = 0 } = query
      const values = language.sliceValues(limit, offset)
      // There are too many ways to order by several fields to keep them all.
      if (orderBy.length > 1) return makeList(query)(values)
      const [by] = orderBy
      const key = `${by?.field} ${by?.direction} ${limit !== undefined} ${offset > 0}`
      const list = lists.get(key) ?? makeList(query)
      lists.set(key, list)
      return list(values)
    },
  }
}

/** One thing to order by. */
export interface Term {
  readonly expression: Sql
  readonly direction: OrderBy['direction']
  /** True where there is no null to put first or last, so that a plain index serves. */
  readonly isRequired?: boolean
}

/** Makes the terms to order by; the id decides in the end. Throws a TypeError for a field whose values have no order. */
export function orderTerms(
  { language }: Database,
  { kind, byField }: RecordTable,
  orderBy: readonly OrderBy[],
): readonly Term[] {
  const terms: Term[] = []
  for (const { field, direction } of orderBy) {
    if (field === 'id') return [...terms, { expression: sql.ref('t.id'), direction, isRequired: true }]
    const known = byField.get(field)
    if (known === undefined) continue
    if (known.kind === 'set' || known.kind === 'json') throw new TypeError(`${kind.name} have no order by ${field}`)
    const column = sql.ref(`t.${known.column}`)
    const isIndexedText = known.kind === 'string' && (known.isUnique || known.isIndexed)
    const key = isIndexedText ? language.indexedText(column) : undefined
    if (key !== undefined) terms.push({ expression: key, direction })
    terms.push({ expression: column, direction })
  }
  return [...terms, { expression: sql.ref('t.id'), direction: 'asc', isRequired: true }]
}

export function orderClause({ language }: Database, terms: readonly Term[]): Sql {
  const ordered = terms.map(({ expression, direction, isRequired }) =>
    isRequired ? sql`${expression} ${sql.raw(direction)}` : sql`${expression} ${language.direction(direction)}`,
  )
  return sql`order by ${sql.join(ordered)}`
}
