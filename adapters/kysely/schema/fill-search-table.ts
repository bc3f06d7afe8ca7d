import { sql } from 'kysely'
import type { Connection } from '../connections/connection.ts'
import type { Database } from '../database.ts'
import { rowInserter } from '../records/insert-rows.ts'
import { searchColumns, searchRows } from '../records/search-rows.ts'
import { decode } from '../values/decode.ts'
import type { TableModel } from './model.ts'
import type { FieldColumn, RecordTable } from './record-table.ts'

/** A field whose values are stored already, and from now on looked up in a table of their own. */
export interface SearchFill {
  readonly owner: RecordTable
  readonly field: FieldColumn
  readonly searchTable: string
}

/** What has to be looked up in a table that is created now, for values that were there before. */
export function fillsOf({ kinds }: Database, { name }: TableModel, before: readonly TableModel[]): SearchFill[] {
  return [...kinds.values()].flatMap((owner) => {
    const field = owner.fields.find(({ searchTable }) => searchTable === name)
    const known = before.find((table) => table.name === owner.table)
    const isStored = known?.columns.some(({ name: column }) => column === field?.column) ?? false
    return field !== undefined && isStored ? [{ owner, field, searchTable: name }] : []
  })
}

const RECORDS_AT_ONCE = 500

/** Enters the members of every record's value, which no SQL can tell, in the table that they are looked up in. */
export async function fillSearchTable(
  database: Database,
  connection: Connection,
  { owner, field, searchTable }: SearchFill,
): Promise<void> {
  const insert = rowInserter(database, searchTable, searchColumns(field))
  const selected = sql`select id, ${sql.id(field.column)} as held from ${database.table(owner.table)}`
  for (let after: string | undefined; ; ) {
    const rest = after === undefined ? sql`` : sql`where id > ${after}`
    const rows = await connection.rows(
      database.compile(sql`${selected} ${rest} order by id limit ${sql.lit(RECORDS_AT_ONCE)}`),
    )
    const members = rows.flatMap(({ id, held }) => searchRows(field, String(id), decode(field.kind, held)))
    for (const query of insert(members)) await connection.run(query)
    if (rows.length < RECORDS_AT_ONCE) return
    after = String(rows.at(-1)?.id)
  }
}
