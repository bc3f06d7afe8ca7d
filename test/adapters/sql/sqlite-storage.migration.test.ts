import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteDialect } from 'portcullis/kysely'
import { afterAll, describe } from 'vitest'
import { describeMigrations } from './sql-migration.ts'
import { describeReleased } from './sql-released.ts'

const directories: string[] = []
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true })
})

async function freshDialect() {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-test-'))
  directories.push(directory)
  return () => sqliteDialect(join(directory, 'records.db'))
}

describe('migrations of SQLite', () => {
  describeMigrations(async () => ({ dialect: await freshDialect() }))
  describeReleased('sqlite', freshDialect)
})
