import { type CompiledQuery, sql } from 'kysely'
import type { FindQuery } from '../core.ts'
import type { Database } from '../database.ts'
import type { RecordTable } from '../schema/record-table.ts'
import type { Sql } from '../sql.ts'
import { orderClause, orderTerms } from './order.ts'
import { type Statement, statement } from './statement.ts'

/** The questions about a kind that are asked again and again: their SQL is written once. */
export interface ListStatements {
  /** What every list fetches. */
  readonly columns: Sql
  readonly table: Sql
  /** How many records there are, in `total`. */
  readonly count: CompiledQuery
  /** A list without a condition. */
  list(query: FindQuery): CompiledQuery
}

const made = new WeakMap<RecordTable, ListStatements>()

export function listStatements(database: Database, records: RecordTable): ListStatements {
  let statements = made.get(records)
  if (statements === undefined) {
    statements = makeStatements(database, records)
    made.set(records, statements)
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
