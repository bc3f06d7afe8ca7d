import { type CompiledQuery, sql } from 'kysely'
import {
  type Database,
  type RowInserter,
  rowInserter,
  type Sql,
  type Statement,
  statement,
} from '../driver/language.ts'
import { searchColumns } from '../schema/field-value.ts'
import type { FieldColumn, RecordTable } from '../schema/record-table.ts'
import { allOf, anyOf, toSql } from './filter/value-test.ts'

/** A field whose members are looked up in a table of their own. */
export interface SearchedField {
  readonly field: FieldColumn
  insert(rows: readonly (readonly unknown[])[]): Generator<CompiledQuery>
  readonly clear: Statement
}

/** The statements on the records of one kind, for the values of a row in the order of `columns`. */
export interface RecordStatements {
  readonly columns: readonly string[]
  readonly get: Statement
  /** The records of any number of ids, all of them texts that a database can keep. */
  getAll(ids: readonly string[]): CompiledQuery
  /** The record that holds a text in a unique field. */
  getUnique(field: string, value: string): CompiledQuery
  readonly insert: Statement
  /** Adds any number of records of a journal, whose fields are not searched. */
  readonly insertRows: RowInserter
  /** Values of the row, the id; then the id and the unique values again: changes nothing while another record holds one. */
  readonly update: Statement
  /**
   * The values of the columns without an index, then the id. SQLite writes an index anew for each column that a statement names, changed
   * or not: for an identity that would be 10 pages more in a commit.
   */
  readonly updateUnindexed: Statement
  /** The places of these columns among `columns`. */
  readonly unindexed: readonly number[]
  readonly delete: Statement
  /** The searched and the indexed fields of a record as they are; no row when there is no such record. */
  readonly before: Statement
  readonly indexed: readonly FieldColumn[]
  readonly searched: readonly SearchedField[]
  readonly unique: readonly FieldColumn[]
  /** For a value and an id: finds another record that holds the value. */
  readonly holders: ReadonlyMap<string, Statement>
}

export function recordStatements(database: Database, { kind, table: name, fields }: RecordTable): RecordStatements {
  const table = database.table(name)
  const columns = kind.isJournal
    ? ['id', ...fields.map(({ column }) => column)]
    : ['id', 'id_folded', ...fields.flatMap((field) => columnsOf(field))]
  const selected = sql.join(['id', ...fields.map(({ column }) => column)].map((column) => sql.id(column)))
  const searched = fields.flatMap((field) => searchedField(database, field))
  const unique = fields.filter(({ isUnique }) => isUnique)
  const make = (text: Sql) => statement(database, text)
  const isTaken = anyOf(unique.map((field) => isEqual(database, field)))
  const taken = sql`select 1 from ${table} as o where o.id <> ${''} and ${toSql(isTaken)}`
  const assigned = (some: readonly string[]) => sql.join(some.map((column) => sql`${sql.id(column)} = ${0}`))
  const indexed = fields.filter(({ isUnique, isIndexed }) => isUnique || isIndexed)
  const compared = new Set([...searched.map(({ field }) => field), ...indexed])
  const keys = new Set(['id', 'id_folded', ...indexed.flatMap(columnsOf)])
  const unindexed = columns.flatMap((column, at) => (keys.has(column) ? [] : [at]))
  const byUnique = new Map(
    unique.map((field) => [
      field.field,
      {
        times: timesGiven(database, field),
        query: make(sql`select ${selected} from ${table} as o where ${toSql(isEqual(database, field))}`),
      },
    ]),
  )
  return {
    columns,
    getAll: (ids) =>
      database.compile(sql`select ${selected} from ${table} where ${database.language.isOneOf(sql.id('id'), ids)}`),
    getUnique(field, value) {
      const known = byUnique.get(field)
      if (known === undefined) throw new TypeError(`${name}.${field} is not unique`)
      return known.query(Array.from({ length: known.times }, () => value))
    },
    get: make(sql`select ${selected} from ${table} where id = ${''}`),
    insertRows: rowInserter(database, name, columns),
    insert: make(sql`insert into ${table} (${sql.join(columns.map((column) => sql.id(column)))})
      values (${sql.join(columns.map(() => sql`${0}`))}) on conflict do nothing`),
    update: make(sql`update ${table} set ${assigned(columns)} where id = ${''}
      ${unique.length === 0 ? sql`` : sql`and not exists (${taken})`}`),
    updateUnindexed: make(
      sql`update ${table} set ${assigned(columns.filter((column) => !keys.has(column)))} where id = ${''}`,
    ),
    unindexed,
    delete: make(sql`delete from ${table} where id = ${''}`),
    before: make(sql`select ${sql.join([sql`1`, ...[...compared].map(({ column }) => sql.id(column))])}
      from ${table} where id = ${''}`),
    indexed,
    searched,
    unique,
    holders: new Map(
      unique.map((field) => [
        field.field,
        make(sql`select 1 from ${table} as o where ${toSql(isEqual(database, field))} and o.id <> ${''}`),
      ]),
    ),
  }
}

function columnsOf({ column, searchColumn }: FieldColumn): string[] {
  return searchColumn === undefined ? [column] : [column, searchColumn]
}

function searchedField(database: Database, field: FieldColumn): SearchedField[] {
  const { searchTable } = field
  if (searchTable === undefined) return []
  const clear = sql`delete from ${database.table(searchTable)} where record_id = ${''}`
  const insert = rowInserter(database, searchTable, searchColumns(field))
  return [{ field, insert, clear: statement(database, clear) }]
}

/** That a record holds a value that is not null; so written that an index answers it. */
function isEqual({ language }: Database, { column: name, kind }: FieldColumn) {
  const column = sql.ref(`o.${name}`)
  const key = kind === 'string' ? language.indexedText(column) : undefined
  const equal = sql`${column} = ${''}`
  return key === undefined ? equal : allOf([sql`${key} = ${language.indexedText(sql`${''}`)}`, equal])
}

/** How often the value of a unique field is given to say that it is equal. */
export function timesGiven({ language }: Database, { kind }: FieldColumn): number {
  return kind === 'string' && language.indexedText(sql`x`) !== undefined ? 2 : 1
}
