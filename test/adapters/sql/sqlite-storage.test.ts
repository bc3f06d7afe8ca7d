import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStorage } from '../../../adapters/kysely/index.ts'
import { machines, tickets } from '../../contract/storage/kinds.ts'
import { storageContract } from '../../contract/storage.ts'

const kinds = [machines, tickets]

storageContract('SQLite file', async () => {
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

storageContract('SQLite :memory:', async () => {
  const storage = await sqliteStorage(':memory:', { kinds })
  return { storage, dispose: () => storage.close() }
})
