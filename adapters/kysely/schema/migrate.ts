import { CompiledQuery, sql } from 'kysely'
import { beginWrite } from '../connections/begin-write.ts'
import type { Connection } from '../connections/connection.ts'
import type { ConnectionSource } from '../connections/connection-source.ts'
import type { Database } from '../database.ts'
import { MIGRATION_TABLE, migrations } from './declared-schema.ts'
import { fillSearchTable } from './fill-search-table.ts'
import type { TableModel } from './model.ts'
import { type Migration, planMigration, type RecordedSchema, SCHEMA_FORMAT } from './plan-migration.ts'

/** What there is to do to the database at present; undefined for nothing. */
export function pendingMigration(database: Database, writers: ConnectionSource): Promise<Migration | undefined> {
  return writers.use(async (connection) => planMigration(database, await recordedSchema(database, connection)))
}

/**
 * Does what there is to do, in one transaction and alone: of any number of processes that start together one does it, and
 * the others find it done.
 */
export function applyMigration(
  database: Database,
  writers: ConnectionSource,
  busyTimeoutMs: number,
): Promise<Migration | undefined> {
  return writers.use(async (connection) => {
    await beginWrite(database, connection, busyTimeoutMs)
    try {
      const migration = planMigration(database, await recordedSchema(database, connection))
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
  const columns = sql.join(migrations.columns.map((column) => sql.id(column.name)))
  const values = [number, name, SCHEMA_FORMAT, JSON.stringify(statements), JSON.stringify(tables), Date.now()]
  return sql`insert into ${database.table(MIGRATION_TABLE)} (${columns}) values (${sql.join(values)})`
}
