import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
let project = ''

/** A program of a new user, in an empty project that has nothing but the packed package. */
const PROGRAM = `
import { createController, createPkiMaterial } from 'portcullis'
import { createManagementClient } from 'portcullis/client'
import { memoryStorage } from 'portcullis/memory'
import { createTestController } from 'portcullis/testing'
import { serve } from 'portcullis/node'

const controller = await createController({
  storage: memoryStorage(),
  address: 'localhost:1280',
  admin: { username: 'admin', password: 'a-long-password' },
})
const management = createManagementClient({ baseUrl: 'https://localhost:1280', fetch: (request) => controller.fetch(request) })
const { data } = await management.call('POST /authenticate', {
  query: { method: 'password' },
  body: { username: 'admin', password: 'a-long-password' },
})
const admin = management.withToken(data.token)
await admin.call('POST /services', { body: { name: 'wiki', encryptionRequired: true } })
const services = await admin.call('GET /services', { query: {} })
await controller.close()
await (await createTestController()).close()
console.log(JSON.stringify({ names: services.data.map(({ name }) => name), serve: typeof serve, pki: typeof createPkiMaterial }))
`

let tarball = ''

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'portcullis-packed-'))
  await run('npm', ['pack', '--pack-destination', project, '--loglevel=error'], { cwd: root })
  tarball = join(project, (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? '')
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'new-user', private: true, type: 'module' }))
  await run('npm', ['install', tarball, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: project })
}, 180_000)

afterAll(() => rm(project, { recursive: true, force: true }))

describe('the packed package in an empty project', () => {
  it('brings at most 12 dependencies of its own and 45 packages in all', async () => {
    const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'))
    const installed = Object.keys(lock.packages).filter((path) => path.startsWith('node_modules/'))
    expect(Object.keys(lock.packages['node_modules/portcullis'].dependencies).length).toBeLessThanOrEqual(12)
    expect(installed.length).toBeLessThanOrEqual(45)
  })

  it.each(['this', "the machine's own"])('runs a program of a new user on %s Node', async (which) => {
    await writeFile(join(project, 'program.mjs'), PROGRAM)
    const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
    const env = which === 'this' ? process.env : { ...process.env, PATH: path.join(delimiter) }
    const { stdout } = await run('node', ['program.mjs'], { cwd: project, env })
    expect(JSON.parse(stdout)).toEqual({ names: ['wiki'], serve: 'function', pki: 'function' })
  })

  it('is what bundlers and other tools expect of a package', async () => {
    await expect(run('npx', ['publint', 'run', tarball, '--strict'], { cwd: root })).resolves.toBeDefined()
  }, 60_000)

  it('has types that are right for ES modules', async () => {
    const types = run('npx', ['attw', tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'], { cwd: root })
    await expect(types).resolves.toBeDefined()
  }, 60_000)
})
