import { postgresStorage } from 'portcullis/kysely'
import { afterAll, beforeAll } from 'vitest'
import { httpContract } from '../../contract/http.ts'
import { STORAGE_PART } from '../../contract/http-part.ts'
import { linkedFilterLaws } from '../../laws/linked-filters.ts'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { emptiedStorages } from './sql-http.ts'

let database: PostgresDatabase
let schemas = 0
const { mount, close } = emptiedStorages(() =>
  postgresStorage({ connection: database.url, schema: `storage_${++schemas}` }),
)

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(async () => {
  await close()
  await database.drop()
})

httpContract('controller.fetch on PostgreSQL', mount, STORAGE_PART)
linkedFilterLaws('in PostgreSQL', mount)
