import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStorage } from 'portcullis/kysely'
import { afterAll, describe } from 'vitest'
import type { SignUpTables } from './joint-process.ts'
import { jointWriteContract } from './joint-writes.ts'

const folder = await mkdtemp(join(tmpdir(), 'portcullis-joint-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

let made = 0

describe('a joint write in SQLite', () => {
  jointWriteContract(async () => {
    made += 1
    const place = join(folder, `${made}.sqlite`)
    return { place, open: (options) => sqliteStorage<SignUpTables>(place, options) }
  })
})
