import { CompiledQuery, sql } from 'kysely'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { beginWrite, type Database, rowInserter } from '../driver/language.ts'
import type { Connection, ConnectionSource } from '../driver/pooled-connections.ts'
import { MIGRATION_TABLE, MIGRATIONS } from './bookkeeping.ts'
import { decode, searchColumns, searchRows } from './field-value.ts'
import { type Migration, planMigration, type RecordedSchema, SCHEMA_FORMAT, type SearchFill } from './plan-migration.ts'
import type { RecordTables, TableModel } from './record-table.ts'

/** Plans the work on the database at present; undefined for none. */
export function pendingMigration(
  database: Database,
  kinds: RecordTables,
  writers: ConnectionSource,
): Promise<Migration | undefined> {
  return writers.use(async (connection) => planMigration(database, kinds, await recordedSchema(database, connection)))
}

/** Migrates in one transaction and alone: of any number of processes that start together one migrates, and the others find it done. */
export function applyMigration(
  database: Database,
  kinds: RecordTables,
  writers: ConnectionSource,
  busyTimeoutMs: number,
): Promise<Migration | undefined> {
  return writers.use(async (connection) => {
    await beginWrite(database, connection, busyTimeoutMs)
    try {
      const migration = planMigration(database, kinds, await recordedSchema(database, connection))
      if (migration !== undefined) {
        for (const statement of migration.statements) await connection.run(CompiledQuery.raw(statement))
        for (const fill of migration.fills) await fillSearchTable(database, connection, fill)
        await connection.run(database.compile(recordOf(database, migration)))
      }
      await connection.command('commit')
      return migration
    } catch (error) {
      await connection.command('rollback').catch(() => undefined)
      throw error
    }
  })
}

async function recordedSchema(database: Database, connection: Connection): Promise<RecordedSchema | undefined> {
  const { language, prefix, schema } = database
  const found = await connection.rows(database.compile(language.findTable(prefix + MIGRATION_TABLE, schema)))
  if (found.length === 0) return undefined
  const last = sql`select number, format, tables from ${database.table(MIGRATION_TABLE)} order by number desc limit 1`
  const [row] = await connection.rows(database.compile(last))
  if (row === undefined) return undefined
  const tables: TableModel[] = JSON.parse(String(row.tables))
  return { number: Number(row.number), format: Number(row.format), tables }
}

function recordOf(database: Database, { number, name, statements, tables }: Migration) {
  const columns = sql.join(MIGRATIONS.columns.map((column) => sql.id(column.name)))
  const values = [number, name, SCHEMA_FORMAT, JSON.stringify(statements), JSON.stringify(tables), runtime.now()]
  return sql`insert into ${database.table(MIGRATION_TABLE)} (${columns}) values (${sql.join(values)})`
}

const RECORDS_AT_ONCE = 500

/** Enters the members of every record's value, which SQL cannot compute, in their lookup table. */
async function fillSearchTable(
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
    // An unreadable value is found by nothing.
    const members = rows.flatMap(({ id, held }) => searchRows(field, String(id), decode(field.kind, held)))
    for (const query of insert(members)) await connection.run(query)
    if (rows.length < RECORDS_AT_ONCE) return
    after = String(rows.at(-1)?.id)
  }
}
