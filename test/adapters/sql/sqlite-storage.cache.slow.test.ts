import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteDialect } from 'portcullis/kysely'
import { afterAll, describe } from 'vitest'
import { describeCache } from './sql-cache.ts'

const directory = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
let files = 0
afterAll(() => rmSync(directory, { recursive: true }))

describe('what a storage over a SQLite file keeps in memory', () => {
  describeCache(async () => {
    files += 1
    const file = join(directory, `${files}.db`)
    return {
      dialect: () => sqliteDialect(file),
      async execute(statement) {
        const database = new DatabaseSync(file)
        database.exec(statement)
        database.close()
      },
    }
  })
})
