import pg from 'pg'
import { createController, SYSTEM_CALL } from 'portcullis'
import { kyselyStorage, postgresDialect } from 'portcullis/kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'
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

it('takes the change feed, the trail and the revision of a commit in one statement', async () => {
  const asked: string[] = []
  const dialect = await postgresDialect({ connection: database.url })
  const controller = await createController({
    storage: await kyselyStorage({ dialect: () => watchedDialect(dialect(), ({ sql }) => void asked.push(sql)) }),
    address: 'localhost:1280',
  })
  await controller.engine.services.create(SYSTEM_CALL, { name: 'first' })
  asked.length = 0
  await controller.engine.services.create(SYSTEM_CALL, { name: 'second' })
  const bookkeeping = asked.filter((sql) => /audit_records|changes|state/.test(sql) && !/^\s*select/.test(sql))
  expect(bookkeeping).toHaveLength(1)
  await controller.close()
})
