import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { endAll, portcullis, portIn } from '../adapters/cli/cli-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-shell-'))
afterAll(() => {
  endAll()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

/** The blocks of a guide in a language. */
function blocksIn(guide: string, language: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs', guide), 'utf8')
  return [...text.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, block = '']) =>
    kind === language ? [block] : [],
  )
}

it('the lines of the first guide for a shell make an identity, enroll it and list its services', async () => {
  const variables = { PORTCULLIS_ADMIN_USERNAME: 'admin', PORTCULLIS_ADMIN_PASSWORD: 'a-long-password' }
  const served = portcullis(['serve', '--listen', '127.0.0.1:0', '--advertise', 'localhost:1280'], { cwd, variables })
  const port = portIn(await served.ready)
  const lines = blocksIn('getting-started.md', 'bash').join('').replace('localhost:1280', `localhost:${port}`)
  const { stdout } = await promisify(execFile)('bash', ['-euc', lines], { cwd })
  expect(stdout.trim().split('\n').at(-1)).toBe('wiki')
})

it('the model of its guide passes its own assertions, and fails as the guide says without the exception', async () => {
  const model = blocksIn('policies-as-code.md', 'yaml').join('')
  writeFileSync(join(cwd, 'network.yaml'), model)
  expect(await portcullis(['test', 'network.yaml'], { cwd }).ended).toMatchObject({ code: 0, stderr: '' })
  writeFileSync(join(cwd, 'network.yaml'), model.replace(/^ +unless:.*\n/m, ''))
  const { code, stdout } = await portcullis(['test', 'network.yaml'], { cwd }).ended
  const [failure] = blocksIn('policies-as-code.md', '')
  expect(failure).toMatch(/^FAIL/)
  expect([code, stdout]).toEqual([3, expect.stringContaining(failure ?? '')])
})

it('a model that is a program is refused with a hint where its package makes it none', async () => {
  writeFileSync(join(cwd, 'package.json'), '{ "type": "commonjs" }')
  const program = `export default ${JSON.stringify({ services: [{ name: 'wiki' }], assertions: [{ as: [], dial: {} }] })}`
  writeFileSync(join(cwd, 'network.js'), program)
  const { code, stderr } = await portcullis(['test', 'network.js'], { cwd }).ended
  expect([code, stderr]).toEqual([2, expect.stringMatching(/network\.js: cannot be loaded: .*"type": "module".*\.mjs/)])
  writeFileSync(join(cwd, 'network.mjs'), program)
  expect((await portcullis(['test', 'network.mjs'], { cwd }).ended).stderr).not.toContain('cannot be loaded')
})
