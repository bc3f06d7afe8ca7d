import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStorage } from 'portcullis/kysely'
import { entries, machines, tickets } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { describeStorageContract } from '../../contract/storage.ts'
import { IS_SHORT } from '../../support/suite.ts'

const kinds = [machines, tickets, entries]

describeStorageContract('SQLite file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-test-'))
  const storage = await sqliteStorage(join(directory, 'records.db'), { kinds })
  return {
    storage,
    async dispose() {
      await storage.close()
      await rm(directory, { recursive: true })
    },
  }
})

// The short run has the file alone: both are one driver.
if (!IS_SHORT)
  describeStorageContract('SQLite :memory:', async () => {
    const storage = await sqliteStorage(':memory:', { kinds })
    return { storage, dispose: () => storage.close() }
  })
