import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** The command of this source, as `npx portcullis` is that of an installed package. */
const PORTCULLIS = [process.execPath, '--conditions=portcullis-source', join(root, 'adapters/tools/cli/main.ts')].join(
  ' ',
)

const LANGUAGES = [
  { language: 'Go', needs: ['go', 'version'], command: ['go', 'test', '-count=1'], folder: 'go', passed: /^ok\s/m },
  {
    language: 'Python',
    needs: ['python3', '--version'],
    command: ['python3', '-m', 'unittest', 'discover', 'python'],
    folder: '',
    passed: /^OK$/m,
  },
  {
    language: 'Java',
    needs: ['java', '--version'],
    command: ['java', 'java/AccessTest.java'],
    folder: '',
    passed: /^passed$/m,
  },
] as const

describe('the throwaway controller', () => {
  it.for(LANGUAGES)('serves a test in $language', { timeout: 180_000 }, async (one, { skip }) => {
    const [program, ...version] = one.needs
    const isThere = await run(program, version).then(
      () => true,
      () => false,
    )
    skip(!isThere, `${program} is not on this machine`)
    const [command, ...args] = one.command
    const cwd = join(root, 'examples/test-server', one.folder)
    const { stdout, stderr } = await run(command, args, { cwd, env: { ...process.env, PORTCULLIS } })
    expect(`${stdout}${stderr}`).toMatch(one.passed)
  })
})
