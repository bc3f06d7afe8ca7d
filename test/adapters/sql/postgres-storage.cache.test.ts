import pg from 'pg'
import { postgresDialect } from 'portcullis/kysely'
import { afterAll, beforeAll, describe } from 'vitest'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { describeCache } from './sql-cache.ts'

let database: PostgresDatabase
let client: pg.Client
let databases = 0
beforeAll(async () => {
  database = await createDatabase()
  client = new pg.Client(database.url)
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

describe('what a storage over PostgreSQL keeps in memory', () => {
  describeCache(async () => {
    databases += 1
    const schema = `cache_${databases}`
    await client.query(`create schema ${schema}`)
    const connection = `${database.url}?options=-csearch_path%3D${schema}`
    return {
      dialect: await postgresDialect({ connection }),
      async execute(statement) {
        await client.query(`set search_path to ${schema}`)
        await client.query(statement)
      },
    }
  })
})
