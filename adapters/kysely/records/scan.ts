import { sql } from 'kysely'
import type { RowSource } from '../driver/connection.ts'
import type { Database } from '../language/database.ts'
import { statement } from '../language/statement.ts'
import type { RecordTable } from '../schema/record-table.ts'
import { listStatements } from './list-statements.ts'
import { decodeRecord, type RecordOrDamage } from './record-row.ts'

/** So many rows are read at once: some milliseconds of the thread. */
const ROWS = 1000

/** Every record by its id, a slice at a time; only the columns of the named fields are fetched. */
export async function* scan(
  database: Database,
  connection: RowSource,
  records: RecordTable,
  fields: readonly string[],
): AsyncGenerator<readonly RecordOrDamage[], void> {
  const asked = { kind: records.kind, fields: records.fields.filter(({ field }) => fields.includes(field)) }
  const columns = sql.join(['id', ...asked.fields.map(({ column }) => column)].map((name) => sql.ref(`t.${name}`)))
  const { table } = listStatements(database, records)
  const end = sql`order by t.id limit ${sql.lit(ROWS)}`
  const after = statement(database, sql`select ${columns} from ${table} where t.id > ${''} ${end}`)
  let rows = await connection.rows(database.compile(sql`select ${columns} from ${table} ${end}`))
  for (;;) {
    if (rows.length > 0) yield rows.map((row) => decodeRecord(asked, row))
    if (rows.length < ROWS) return
    rows = await connection.rows(after([String(rows.at(-1)?.id)]))
  }
}
