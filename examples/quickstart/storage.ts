import { existsSync } from 'node:fs'
import type { Storage } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { DATABASE_FILE } from './files.ts'

/** The storage of the quickstart, and its meaning for the next run. */
export async function openStorage(): Promise<{ readonly storage: Storage; readonly note: string }> {
  const isNew = !existsSync(DATABASE_FILE)
  const storage = await sqliteStorage(DATABASE_FILE)
  return { storage, note: `${isNew ? 'created' : 'reused'} the SQLite database ${DATABASE_FILE}` }
}
