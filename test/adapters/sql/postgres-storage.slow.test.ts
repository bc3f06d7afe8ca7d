import pg from 'pg'
import { postgresStorage } from 'portcullis/kysely'
import { afterAll, beforeAll } from 'vitest'
import { entries, machines, tickets } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { describeStorageContract } from '../../contract/storage.ts'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'

let database: PostgresDatabase
let admin: pg.Client
let schemas = 0

beforeAll(async () => {
  database = await createDatabase()
  admin = new pg.Client(database.url)
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await database.drop()
})

describeStorageContract('PostgreSQL', async () => {
  schemas += 1
  const schema = `storage_${schemas}`
  const storage = await postgresStorage({ connection: database.url, schema, kinds: [machines, tickets, entries] })
  return {
    storage,
    async dispose() {
      await storage.close()
      await admin.query(`drop schema ${schema} cascade`)
    },
  }
})
