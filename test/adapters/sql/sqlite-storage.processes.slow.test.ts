import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStorage } from 'portcullis/kysely'
import { afterAll, describe } from 'vitest'
import { machines, tickets } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { describeProcesses } from './sql-processes.ts'

const directory = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
let files = 0
afterAll(() => rmSync(directory, { recursive: true }))

describe('several processes over one SQLite file', () => {
  describeProcesses(async () => {
    files += 1
    const file = join(directory, `${files}.db`)
    return { where: { file }, open: () => sqliteStorage(file, { kinds: [machines, tickets] }) }
  })
})
