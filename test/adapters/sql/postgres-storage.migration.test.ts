import { afterAll, beforeAll, describe } from 'vitest'
import { postgresDialect } from '../../../adapters/kysely/index.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { describeMigrations } from './sql-migration.ts'
import { describeReleased } from './sql-released.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

describe('migrations of PostgreSQL', () => {
  describeMigrations(async () => {
    schemas += 1
    return { dialect: await postgresDialect({ connection: server.url }), schema: `storage_${schemas}` }
  })
  describeReleased('postgres', () => postgresDialect({ connection: server.url }))
})
