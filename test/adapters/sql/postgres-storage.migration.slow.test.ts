import { postgresDialect } from 'portcullis/kysely'
import { afterAll, beforeAll, describe } from 'vitest'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { describeMigrations } from './sql-migration.ts'
import { describeReleased } from './sql-released.ts'

let database: PostgresDatabase
let schemas = 0
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

describe('migrations of PostgreSQL', () => {
  describeMigrations(async () => {
    schemas += 1
    return { dialect: await postgresDialect({ connection: database.url }), schema: `storage_${schemas}` }
  })
  describeReleased('postgres', () => postgresDialect({ connection: database.url }))
})
