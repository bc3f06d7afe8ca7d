import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))
const PROGRAM = `"${PROJECT}node_modules/.bin/node" --conditions=portcullis-source "${PROJECT}adapters/tools/cli/main.ts"`
/** Lines of some 60 bytes each: more than a pipe holds. */
const ASSERTIONS = 3000

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-output-'))
  const assertions = Array.from({ length: ASSERTIONS }, () => '  - { as: laptop, dial: { deny: wiki } }\n').join('')
  const network =
    'identities: [{ name: laptop, type: Device, isAdmin: false }]\nservices: [{ name: wiki, encryptionRequired: true }]\n'
  await writeFile(join(folder, 'long.yaml'), `${network}assertions:\n${assertions}`)
})
afterAll(() => rm(folder, { recursive: true }))

function shell(line: string): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd: folder, maxBuffer: 2 ** 26, env: { PATH: process.env.PATH ?? '' } }
    execFile('/bin/sh', ['-c', line], options, (_, stdout, stderr) => resolve({ stdout, stderr }))
  })
}

describe('an answer that is longer than a pipe', () => {
  it('is there to its end, however slowly it is read', async () => {
    const { stdout } = await shell(
      `${PROGRAM} test --format tap long.yaml | (dd bs=1 count=1 2>/dev/null; sleep 2; cat)`,
    )
    expect(stdout.length).toBeGreaterThan(100_000)
    expect(stdout.split('\n').filter((line) => line.startsWith('ok '))).toHaveLength(ASSERTIONS)
  }, 60_000)

  it('ends without a word when its reader has left', async () => {
    const command = `${PROGRAM} test --format tap long.yaml; echo "ended with $?" >&2`
    const { stdout, stderr } = await shell(`(${command}) | head -n 1`)
    expect([stdout.trim(), stderr.trim()]).toEqual([expect.stringMatching(/^TAP version/), 'ended with 141'])
  }, 60_000)
})
