import { type CompiledQuery, sql } from 'kysely'
import type { FindQuery, Page } from '../../../../src/index.ts'
import type { Filter, OrderBy, StoredRecord } from '../../../../src/storage.ts'
import { type Database, type Sql, type Statement, statement } from '../driver/language.ts'
import type { Row, RowSource } from '../driver/pooled-connections.ts'
import { emptyRecord, type RecordTable } from '../schema/record-table.ts'
import { compileFilter } from './filter/compile-filter.ts'
import { recordScope } from './filter/subject.ts'
import { toSql } from './filter/value-test.ts'
import { decodeRecord, pageOf, type RecordOrDamage } from './write-record.ts'

/** Answers a query in SQL alone: only rows of the page are fetched. `recordOf` makes the record of a row. */
export async function find(
  database: Database,
  connection: RowSource,
  records: RecordTable,
  query: FindQuery,
  recordOf: (row: Row) => RecordOrDamage,
): Promise<Page<StoredRecord>> {
  const { where, limit, offset = 0 } = query
  const { list, count, table } = listStatements(database, records)
  const context = { language: database.language, scope: recordScope(records), table: database.table }
  const condition = where === undefined || compileFilter(context, where)
  const matching = sql`${table} where ${toSql(condition)}`
  const countAll = async () => {
    const counted = condition === true ? count : database.compile(sql`select count(*) as total from ${matching}`)
    const [row] = await connection.rows(counted)
    return Number(row?.total)
  }
  if (limit === 0) return { items: [], totalCount: await countAll() }

  const isAtMostOne = asksForOne(records, where)
  const isCounted = condition !== true && limit !== undefined && !isAtMostOne
  const asked = condition === true ? list(query) : page(database, records, matching, query, isCounted)
  const rows = await connection.rows(asked)
  const [first] = rows
  if (isCounted && first !== undefined) return pageOf(rows.map(recordOf), Number(first.page_total))
  const isEnd = isAtMostOne || rows.length < (limit ?? Number.POSITIVE_INFINITY)
  const isKnown = isEnd && (rows.length > 0 || offset === 0)
  return pageOf(rows.map(recordOf), isKnown ? offset + rows.length : await countAll())
}

/** The ids of the records of a query: nothing else of a record is fetched, however large it is. */
export async function findIds(
  database: Database,
  connection: RowSource,
  records: RecordTable,
  { where, orderBy = [], limit, offset = 0 }: FindQuery,
): Promise<readonly string[]> {
  const { table } = listStatements(database, records)
  const context = { language: database.language, scope: recordScope(records), table: database.table }
  const condition = where === undefined || compileFilter(context, where)
  const order = orderClause(database, orderTerms(database, records, orderBy))
  const matching = sql`${table} where ${toSql(condition)}`
  const asked = sql`select t.id from ${matching} ${order} ${database.language.slice(limit, offset)}`
  return (await connection.rows(database.compile(asked))).map(({ id }) => String(id))
}

/**
 * The matches of a page. A counted page has the number of all matches in `page_total`: every match is looked at once, for
 * the count and the order, and whole rows are fetched for the page alone.
 */
function page(
  database: Database,
  records: RecordTable,
  matching: Sql,
  { orderBy = [], limit, offset = 0 }: FindQuery,
  isCounted: boolean,
): CompiledQuery {
  const { columns, table } = listStatements(database, records)
  const terms = orderTerms(database, records, orderBy)
  const end = sql`${orderClause(database, terms)} ${database.language.slice(limit, offset)}`
  if (!isCounted) return database.compile(sql`select ${columns} from ${matching} ${end}`)
  const named = terms.map(({ expression }, position) => sql`${expression} as ${sql.id(`o${position}`)}`)
  const found = sql`select t.id as page_id, ${sql.join(named)}, count(*) over () as page_total from ${matching} ${end}`
  const outer = terms.map((term, position) => ({ ...term, expression: sql.ref(`k.o${position}`) }))
  return database.compile(sql`select ${columns}, k.page_total from (${found}) as k
    join ${table} on t.id = k.page_id ${orderClause(database, outer)}`)
}

/** Whether no two records can fulfil a filter, for it names the id or a unique value. */
function asksForOne(records: RecordTable, filter: Filter | undefined): boolean {
  if (filter?.kind === 'and') return asksForOne(records, filter.left) || asksForOne(records, filter.right)
  if (filter?.kind !== 'compare' || filter.operator !== '=' || filter.operand.kind !== 'field') return false
  const { field } = filter.operand
  return filter.value !== null && (field === 'id' || records.byField.get(field)?.isUnique === true)
}

/** Rows that are read at once at most, and values in them: some milliseconds of the thread. */
const ROWS = 1000
const VALUES = 5000

/** Every record by its id, a slice at a time; only the columns of the named fields are fetched. */
export async function* scan(
  database: Database,
  connection: RowSource,
  records: RecordTable,
  fields: readonly string[],
): AsyncGenerator<readonly RecordOrDamage[], void> {
  const wanted = records.fields.filter(({ field }) => fields.includes(field))
  const asked = { kind: records.kind, fields: wanted, empty: emptyRecord(wanted) }
  const columns = sql.join(['id', ...asked.fields.map(({ column }) => column)].map((name) => sql.ref(`t.${name}`)))
  const { table } = listStatements(database, records)
  const most = Math.min(ROWS, Math.ceil(VALUES / (asked.fields.length + 1)))
  const end = sql`order by t.id limit ${sql.lit(most)}`
  const after = statement(database, sql`select ${columns} from ${table} where t.id > ${''} ${end}`)
  let rows = await connection.rows(database.compile(sql`select ${columns} from ${table} ${end}`))
  for (;;) {
    if (rows.length > 0) yield rows.map((row) => decodeRecord(asked, row))
    if (rows.length < most) return
    rows = await connection.rows(after([String(rows.at(-1)?.id)]))
  }
}

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

function listStatements(database: Database, records: RecordTable): ListStatements {
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
function orderTerms(
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

function orderClause({ language }: Database, terms: readonly Term[]): Sql {
  const ordered = terms.map(({ expression, direction, isRequired }) =>
    isRequired ? sql`${expression} ${sql.raw(direction)}` : sql`${expression} ${language.direction(direction)}`,
  )
  return sql`order by ${sql.join(ordered)}`
}
