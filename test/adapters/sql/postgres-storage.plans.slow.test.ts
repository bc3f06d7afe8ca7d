import pg from 'pg'
import { postgresDialect } from 'portcullis/kysely'
import { afterAll, beforeAll, describe } from 'vitest'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { describePlans } from './sql-plans.ts'

let database: PostgresDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  // The tables are empty, and PostgreSQL would rightly read an empty table whole: what remains has no index to use.
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

describe('plans of PostgreSQL', () => {
  describePlans(async () => ({
    dialect: await postgresDialect({ connection: database.url }),
    scan: /Seq Scan/,
    async explain({ sql, parameters }) {
      const { rows } = await client.query<Record<string, string>>(`explain ${sql}`, [...parameters])
      return rows.map((row) => String(row['QUERY PLAN']))
    },
  }))
})
