import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Place } from './opened.ts'

/** The room that a database takes on the disk, and its rows. */
export interface DatabaseSize {
  readonly bytes: number
  readonly rows: number
}

/** The size of a database with all its tables and indexes. That of PostgreSQL has the rows that a vacuum has not removed yet. */
export async function databaseSize(kind: Exclude<Place, 'memory'>, place: string): Promise<DatabaseSize> {
  return kind === 'sqlite' ? sqliteSize(place) : postgresSize(place)
}

function sqliteSize(file: string): DatabaseSize {
  const database = new DatabaseSync(file, { readOnly: true })
  const one = (query: string) => Number(Object.values(database.prepare(query).get() ?? {})[0])
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
  const rows = tables.reduce((sum, { name }) => sum + one(`select count(*) from "${String(name)}"`), 0)
  const bytes = one('select page_count * page_size from pragma_page_count(), pragma_page_size()')
  database.close()
  return { bytes, rows }
}

async function postgresSize(url: string): Promise<DatabaseSize> {
  const client = new pg.Client(url)
  await client.connect()
  const one = async (query: string) => Number(Object.values((await client.query(query)).rows[0] ?? {})[0])
  const tables = await client.query("select quote_ident(tablename) as name from pg_tables where schemaname = 'public'")
  let rows = 0
  for (const { name } of tables.rows) rows += await one(`select count(*) from ${String(name)}`)
  const bytes = await one('select pg_database_size(current_database())')
  await client.end()
  return { bytes, rows }
}
