import type { Storage } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { afterAll } from 'vitest'
import { machines } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { describeDifferential } from './sql-differential.ts'

const opened: Storage[] = []
afterAll(async () => {
  for (const storage of opened) await storage.close()
})

describeDifferential('SQLite', 3000, async () => {
  const storage = await sqliteStorage(':memory:', { kinds: [machines] })
  opened.push(storage)
  return storage
})
