import { sql } from 'kysely'
import type { Filter, FindQuery, OrderBy, Page, StoredRecord } from '../core.ts'
import type { Connection } from '../connections/connection.ts'
import type { Database } from '../database.ts'
import { compileFilter } from '../filter/compile-filter.ts'
import { recordScope } from '../filter/subject.ts'
import type { RecordTable } from '../schema/record-table.ts'
import { type Sql, toSql } from '../sql.ts'
import { decodeRecord } from './record-row.ts'

interface Term {
  readonly expression: Sql
  readonly direction: OrderBy['direction']
  /** True where there is no null to put first or last, so that a plain index serves. */
  readonly isRequired?: boolean
}

/** Answers a question in SQL alone: what does not belong to the page is neither fetched nor looked at here. */
export async function find(
  database: Database,
  connection: Connection,
  records: RecordTable,
  { where, orderBy = [], limit, offset = 0 }: FindQuery,
): Promise<Page<StoredRecord>> {
  const context = { language: database.language, scope: recordScope(records), table: database.table }
  const condition = where === undefined || compileFilter(context, where)
  const table = sql`${database.table(records.table)} as t`
  const matching = condition === true ? table : sql`${table} where ${toSql(condition)}`
  const count = async () => {
    const [row] = await connection.rows(database.compile(sql`select count(*) as total from ${matching}`))
    return Number(row?.total)
  }
  if (limit === 0) return { items: [], totalCount: await count() }

  const terms = orderTerms(database, records, orderBy)
  const isCounted = condition !== true && limit !== undefined && !asksForOne(records, where)
  const query = isCounted
    ? countedPage(database, records, matching, terms, limit, offset)
    : sql`select ${columnsOf(database, records)} from ${matching} ${order(database, terms)} ${database.language.slice(limit, offset)}`
  const rows = await connection.rows(database.compile(query))
  const items = rows.map((row) => decodeRecord(records, row))
  const [first] = rows
  if (isCounted && first !== undefined) return { items, totalCount: Number(first.page_total) }
  const isEnd = items.length < (limit ?? Number.POSITIVE_INFINITY) && (items.length > 0 || offset === 0)
  return { items, totalCount: isEnd || asksForOne(records, where) && items.length > 0 ? offset + items.length : await count() }
}

/** Looks at every match once, for the count and the order, and fetches whole rows for the page alone. */
function countedPage(
  database: Database,
  records: RecordTable,
  matching: Sql,
  terms: readonly Term[],
  limit: number,
  offset: number,
): Sql {
  const named = terms.map(({ expression }, position) => sql`${expression} as ${sql.id(`o${position}`)}`)
  const page = sql`select t.id as page_id, ${sql.join([...named, sql`count(*) over () as page_total`])} from ${matching}
    ${order(database, terms)} ${database.language.slice(limit, offset)}`
  const outer = terms.map((term, position) => ({ ...term, expression: sql.ref(`k.o${position}`) }))
  return sql`select ${columnsOf(database, records)}, k.page_total from (${page}) as k
    join ${database.table(records.table)} as t on t.id = k.page_id ${order(database, outer)}`
}

/** What every question about a kind fetches; written once, for there are many of them. */
const columnLists = new WeakMap<RecordTable, Sql>()

function columnsOf(database: Database, records: RecordTable): Sql {
  let list = columnLists.get(records)
  if (list === undefined) {
    const columns = ['id', ...records.fields.map(({ column }) => column)].map((column) => sql.ref(`t.${column}`))
    list = sql.raw(database.compile(sql.join(columns)).sql)
    columnLists.set(records, list)
  }
  return list
}

function order({ language }: Database, terms: readonly Term[]): Sql {
  const ordered = terms.map(({ expression, direction, isRequired }) =>
    isRequired ? sql`${expression} ${sql.raw(direction)}` : sql`${expression} ${language.direction(direction)}`,
  )
  return sql`order by ${sql.join(ordered)}`
}

/** What to order by; the id decides in the end. Throws a TypeError for a field whose values have no order. */
function orderTerms({ language }: Database, { kind, byField }: RecordTable, orderBy: readonly OrderBy[]): Term[] {
  const terms: Term[] = []
  for (const { field, direction } of orderBy) {
    const known = byField.get(field)
    if (field === 'id') return [...terms, { expression: sql.ref('t.id'), direction, isRequired: true }]
    if (known === undefined) continue
    if (known.kind === 'set' || known.kind === 'json') throw new TypeError(`${kind.name} have no order by ${field}`)
    const column = sql.ref(`t.${known.column}`)
    const isText = known.kind === 'string' && (known.isUnique || known.isIndexed)
    const key = isText ? language.indexedText(column) : undefined
    if (key !== undefined) terms.push({ expression: key, direction })
    terms.push({ expression: column, direction })
  }
  return [...terms, { expression: sql.ref('t.id'), direction: 'asc', isRequired: true }]
}

/** Whether no two records can fulfil a filter, for it names the id or a unique value. */
function asksForOne(records: RecordTable, filter: Filter | undefined): boolean {
  if (filter?.kind === 'and') return asksForOne(records, filter.left) || asksForOne(records, filter.right)
  if (filter?.kind !== 'compare' || filter.operator !== '=' || filter.operand.kind !== 'field') return false
  const { field } = filter.operand
  return filter.value !== null && (field === 'id' || records.byField.get(field)?.isUnique === true)
}
