import { postgresStorage } from 'portcullis/kysely'
import { afterAll, beforeAll, describe } from 'vitest'
import { machines, tickets } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { describeProcesses } from './sql-processes.ts'

let database: PostgresDatabase
let schemas = 0
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

describe('several processes over one PostgreSQL database', () => {
  describeProcesses(async () => {
    schemas += 1
    const where = { url: database.url, schema: `storage_${schemas}` }
    const { url: connection, schema } = where
    return { where, open: () => postgresStorage({ connection, schema, kinds: [machines, tickets] }) }
  })
})
