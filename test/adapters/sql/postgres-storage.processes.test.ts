import { afterAll, beforeAll, describe } from 'vitest'
import { postgresStorage } from '../../../adapters/kysely/index.ts'
import { machines, tickets } from '../../../adapters/storage-contract/kinds.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { describeProcesses } from './sql-processes.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

describe('several processes over one PostgreSQL database', () => {
  describeProcesses(async () => {
    schemas += 1
    const where = { url: server.url, schema: `storage_${schemas}` }
    const { url: connection, schema } = where
    return { where, open: () => postgresStorage({ connection, schema, kinds: [machines, tickets] }) }
  })
})
