// The projects of `portcullis new`, written by the packed package, installed from it, type-checked, tested and started.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { newProject, whyNotInstalled } from './new-project.ts'

const run = promisify(execFile)
const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
let packed: Awaited<ReturnType<typeof newProject>>
beforeAll(async () => {
  packed = await newProject()
}, 400_000)
afterAll(() => rm(packed.folder, { recursive: true, force: true }))

/** Starts a project, which ends with the test, and resolves to the client of the port that it prints. */
async function started(cwd: string) {
  const port = await freePort()
  const child = spawn(process.execPath, ['--no-warnings', 'main.ts'], { cwd, env: { ...env, PORT: String(port) } })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let told = ''
  child.stderr.on('data', (text) => {
    told += text
  })
  for await (const text of child.stdout) {
    told += text
    if (told.includes(`https://localhost:${port}`)) break
  }
  expect(told).toContain(`https://localhost:${port}`)
  const client = httpsClient({ port })
  onTestFinished(() => client.close())
  return client
}

describe('a new project', () => {
  it.each(['express', 'hono', 'fastify', 'dark-app', 'server', 'test'])(
    'of the template %s is type-checked, passes its tests, and runs',
    { timeout: 300_000 },
    async (template) => {
      const { folder, tarball } = packed
      const command = [join(folder, 'node_modules/portcullis/dist/adapters/tools/cli/main.js'), 'new', `a-${template}`]
      await run(process.execPath, [...command, '--template', template], { cwd: folder })
      const project = join(folder, `a-${template}`)
      expect(await whyNotInstalled(project, tarball)).toBeUndefined()
      await run('npm', ['run', 'check'], { cwd: project, env })
      expect((await run('npm', ['test'], { cwd: project, env })).stdout).toMatch(/fail 0\b/)
      if (template === 'test') return
      const client = await started(project)
      const { status } = await client.fetch('/edge/client/v1/version', { method: 'GET' })
      expect(status).toBe(200)
      if (['express', 'hono', 'fastify'].includes(template)) {
        expect(await (await client.fetch('/', { method: 'GET' })).text()).toBe('hello')
      }
    },
  )
})
