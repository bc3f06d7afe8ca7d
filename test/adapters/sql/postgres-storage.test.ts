import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { postgresStorage } from '../../../adapters/kysely/index.ts'
import { machines, tickets } from '../../../adapters/storage-contract/kinds.ts'
import { describeStorageContract } from '../../contract/storage.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'

let server: PostgresServer
let admin: pg.Client
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

describeStorageContract('PostgreSQL', async () => {
  schemas += 1
  const schema = `storage_${schemas}`
  const storage = await postgresStorage({ connection: server.url, schema, kinds: [machines, tickets] })
  return {
    storage,
    async dispose() {
      await storage.close()
      await admin.query(`drop schema ${schema} cascade`)
    },
  }
})
