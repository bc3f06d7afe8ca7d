import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { postgresDialect } from '../../../adapters/kysely/index.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { describeCache } from './sql-cache.ts'

let server: PostgresServer
let client: pg.Client
let databases = 0
beforeAll(async () => {
  server = await startPostgres()
  client = new pg.Client(server.url)
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await server.stop()
})

describe('what a storage over PostgreSQL keeps in memory', () => {
  describeCache(async () => {
    databases += 1
    const schema = `cache_${databases}`
    await client.query(`create schema ${schema}`)
    const connection = `${server.url}?options=-csearch_path%3D${schema}`
    return {
      dialect: await postgresDialect({ connection }),
      async execute(statement) {
        await client.query(`set search_path to ${schema}`)
        await client.query(statement)
      },
    }
  })
})
