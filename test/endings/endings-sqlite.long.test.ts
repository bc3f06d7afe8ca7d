import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { everyEnding } from './every-ending.ts'
import { sqliteStore } from './two-processes.ts'
import { buildNetwork } from './ways.ts'

const folder = mkdtempSync(join(tmpdir(), 'portcullis-endings-'))
afterAll(() => rmSync(folder, { recursive: true }))

everyEnding(await buildNetwork(sqliteStore(folder)), false)
