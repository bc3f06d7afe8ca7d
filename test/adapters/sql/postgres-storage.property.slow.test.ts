import { postgresStorage } from 'portcullis/kysely'
import { afterAll } from 'vitest'
import { machines } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { createDatabase } from '../../support/postgres.ts'
import { describeDifferential } from './sql-differential.ts'

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

describeDifferential('PostgreSQL', 900, async () => {
  const database = await createDatabase()
  const storage = await postgresStorage({ connection: database.url, kinds: [machines] })
  closing.push(storage.close, database.drop)
  return storage
})
