import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { postgresStorage } from '../../../adapters/kysely/index.ts'
import type { Storage } from '../../../src/index.ts'
import { httpContract } from '../../contract/http.ts'
import { linkedFilterLaws } from '../../laws/linked-filters.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { mountOn, PART } from './sql-http.ts'

let server: PostgresServer
let admin: pg.Client
const free: string[] = []
let schemas = 0

beforeAll(async () => {
  server = await startPostgres()
  admin = new pg.Client(server.url)
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await server.stop()
})

/** Making the tables takes longer than any of the tests, so those that nobody uses any more are emptied instead. */
async function open(): Promise<Storage> {
  const schema = free.pop() ?? `storage_${++schemas}`
  const storage = await postgresStorage({ connection: server.url, schema })
  return {
    ...storage,
    async close() {
      await storage.close()
      const all = await admin.query<{ tablename: string }>('select tablename from pg_tables where schemaname = $1', [
        schema,
      ])
      const names = all.rows.map(({ tablename }) => tablename)
      const emptied = names.filter((name) => name !== 'storage_migrations' && name !== 'storage_state')
      await admin.query(emptied.map((name) => `delete from ${schema}."${name}"`).join(';'))
      await admin.query(`update ${schema}.storage_state set revision = 0, forgotten = 0`)
      free.push(schema)
    },
  }
}

httpContract('controller.fetch on PostgreSQL', mountOn(open), PART)
linkedFilterLaws('in PostgreSQL', mountOn(open))
