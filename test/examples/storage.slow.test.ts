import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

it('the storage of the guide passes the contract, under the test runner of Node', { timeout: 120_000 }, async () => {
  const flags = ['--conditions=portcullis-source', '--test', '--test-reporter=tap']
  // The variable would tell the runner that it is itself a test.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, 'examples/storage/map-storage.test.ts'], {
    cwd: root,
    env,
  })
  expect(stdout).toMatch(/^# pass 21\d$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})

it('the guide shows the storage and its test as they are', () => {
  const guide = readFileSync(join(root, 'docs/writing-a-storage.md'), 'utf8')
  for (const file of ['map-storage.ts', 'map-storage.test.ts', 'use.ts']) {
    expect(guide).toContain(readFileSync(join(root, 'examples/storage', file), 'utf8').trim())
  }
})

it('the guide creates a controller over the storage', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=portcullis-source', 'examples/storage/use.ts'],
    { cwd: root },
  )
  expect(stdout).toMatch(/revision \d+/)
})
