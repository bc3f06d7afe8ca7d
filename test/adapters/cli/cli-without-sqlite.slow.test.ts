import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endAll, portcullis } from './cli-process.ts'

/** A later Node starts without SQLite when it is asked to: what an earlier one is. */
const variables = { NODE_OPTIONS: '--no-experimental-sqlite' }
const NEEDED = 'needs Node 22.13 or later, this is v'

let cwd: string

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-without-sqlite-'))
  await writeFile(join(cwd, 'a.db'), '')
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, maxRetries: 10 })
})

it.each([
  ['serve', ['serve', '--listen', '127.0.0.1:0', '--pki', 'pki'], `--storage sqlite: it ${NEEDED}`],
  ['snapshot', ['snapshot', '--storage', 'sqlite:a.db', '--to', 'b.db'], `snapshot: SQLite ${NEEDED}`],
  ['restore', ['restore', '--from', 'a.db', '--storage', 'sqlite:b.db'], `restore: SQLite ${NEEDED}`],
  ['migrate', ['migrate', '--storage', 'sqlite:b.db'], `migrate: SQLite ${NEEDED}`],
])('portcullis %s says which Node has SQLite', async (_command, args, message) => {
  const { code, stdout, stderr } = await portcullis(args, { cwd, variables }).ended
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`portcullis: ${message}`)
})
