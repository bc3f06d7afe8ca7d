import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { loadedBy } from './loaded-by.ts'
import { install, newProject, whyNotInstalled } from './new-project.ts'

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

/** The versions that the package is for: the oldest, and the newest of the lines that are kept. */
const NODES = ['20.19.0', '22', '24']

/** Bytes, gzipped, of what an entry point loads of the package by itself; it may grow, but not unnoticed. */
const SIZES: Readonly<Record<string, number>> = {
  '.': 34_800,
  './client': 5_600,
  './policy': 33_800,
  './storage': 48_300,
  './storage/contract': 25_500,
  './model': 105_000,
  './memory': 8_500,
  './node': 42_500,
  './fabric': 41_500,
  './sdk': 68_000,
  './testing': 257_000,
  './testing/global-setup': 219_000,
  './testing/jest': 29_000,
  './testing/vitest': 29_000,
  './explorer': 4_700,
  './express': 41_500,
  './fastify': 41_500,
  './gateway': 88_200,
  './hono': 3_000,
  './kysely': 75_500,
  './opentelemetry': 3_500,
}
/** Bytes of the whole package as it travels, the page of the explorer included. */
const TARBALL = 1_870_000

/** Bytes of declarations that an editor reads for an entry point; they may grow, but not unnoticed. */
const DECLARATIONS: Readonly<Record<string, number>> = {
  '.': 309_000,
  './client': 148_000,
  './policy': 68_900,
  './sdk': 212_500,
}

/** Every entry point whose types need no other package; that of storages in databases needs kysely, and no database's. */
const TYPED = [
  '.',
  './client',
  './policy',
  './storage',
  './storage/contract',
  './memory',
  './model',
  './node',
  './fabric',
  './sdk',
  './testing',
  './express',
  './gateway',
  './explorer',
  './kysely',
]

/** A project that uses what the entry points declare: its answers are typed to their members. */
const TYPED_PROGRAM = `${TYPED.map((name, index) => `import * as entry${index} from 'portcullis${name.slice(1)}'`).join('\n')}
export const entries = [${TYPED.map((_, index) => `entry${index}`).join(', ')}]
const management = entry1.createManagementClient({ baseUrl: 'https://localhost:1280', token: 'a-token' })
const { data: identity } = await management.call('GET /identities/{id}', { params: { id: 'laptop' } })
export const attributes: readonly string[] = identity.roleAttributes
const body: entry1.PostureCheckCreate = { name: 'os', typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: [] }] }
await management.call('POST /posture-checks', { body })
// @ts-expect-error a service has a name
await management.call('POST /services', { body: { encryptionRequired: true } })
// @ts-expect-error there is no such member
export const wrong = identity.nothing
`

/** A test of a user of jest: what holds, what does not, and what is told of it. */
const JEST_TEST = `
import 'portcullis/testing/jest'
import { createTestController } from 'portcullis/testing'

const model = {
  identities: [{ name: 'laptop', type: 'Default', isAdmin: false, roleAttributes: ['staff'] }],
  services: [{ name: 'wiki' }, { name: 'payroll' }],
  servicePolicies: [{ name: 'all', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['@wiki'] }],
}
test('right', async () => {
  const net = await createTestController({ model })
  await expect(net).toAllow('laptop', 'Dial', 'wiki')
  await expect(net).not.toAllow('laptop', 'Dial', 'payroll')
})
test('wrong', async () => {
  await expect(await createTestController({ model })).toAllow('laptop', 'Dial', 'payroll')
})
`

/** The bytes of a declaration file and of all of the package that it leads to. */
async function declarationBytes(path: string, read = new Set<string>()): Promise<number> {
  if (read.has(path)) return 0
  read.add(path)
  const text = await readFile(path, 'utf8')
  let bytes = Buffer.byteLength(text)
  for (const [, name = ''] of text.matchAll(/from ["'](\.[^"']+)["']/g)) {
    bytes += await declarationBytes(join(dirname(path), name.replace(/\.js$/, '.d.ts')), read)
  }
  return bytes
}

let tarball = ''
let bytesInstalled = 0
let lock: { readonly packages: Readonly<Record<string, { readonly dependencies?: object }>> } = { packages: {} }

/** The binary of a version of Node, installed beside the project by its npm package. */
function nodeOf(version: string): string {
  return join(project, `node_modules/node-${version.split('.')[0]}/bin/node`)
}

/** The bytes of all files below a folder. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Installs what a runtime needs, with the programs that are tried on it; answers why it is not there, if it is not. */
async function installed(...packages: readonly string[]): Promise<string | undefined> {
  await cp(join(import.meta.dirname, 'runtimes'), project, { recursive: true })
  return whyNotInstalled(project, ...packages)
}

beforeAll(async () => {
  ;({ folder: project, tarball } = await newProject())
  // The files of the package itself are counted before anything else is there.
  lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'))
  bytesInstalled = await bytesBelow(join(project, 'node_modules'))
  const nodes = NODES.map((version) => `node-${version.split('.')[0]}@npm:node@${version}`)
  await install(project, ...nodes)
}, 400_000)

afterAll(() => rm(project, { recursive: true, force: true }))

// Each test installs packages or starts programs, which takes a minute on a busy machine.
describe('the packed package in an empty project', { timeout: 120_000 }, () => {
  it('brings at most ten dependencies of its own, and 44 packages and 20 MB in all', async () => {
    const installed = Object.keys(lock.packages).filter((path) => path.startsWith('node_modules/'))
    expect(Object.keys(lock.packages['node_modules/portcullis']?.dependencies ?? {}).length).toBeLessThanOrEqual(10)
    expect(installed.length).toBeGreaterThan(1)
    expect(installed.length).toBeLessThanOrEqual(44)
    expect(bytesInstalled).toBeGreaterThan(10_000_000)
    expect(bytesInstalled).toBeLessThan(20_000_000)
  })

  it('has the licences of the packages that are bundled with it', async () => {
    const notices = await readFile(join(project, 'node_modules/portcullis/dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
    const named = [...notices.matchAll(/^=== (\S+) \d\S*, (MIT|Apache-2.0) ===$/gm)].map(([, name]) => name)
    expect(named).toEqual(['hash-wasm', 're2js', 'reflect-metadata', 'uqr'])
    expect(notices.match(/Permission is hereby granted|Apache License/g)?.length).toBeGreaterThanOrEqual(4)
  })

  it.each(NODES)('runs a program of a new user on Node %s', async (version) => {
    await writeFile(join(project, 'program.mjs'), PROGRAM)
    const told = await run(nodeOf(version), ['--version'])
    expect(told.stdout).toMatch(new RegExp(`^v${version.replaceAll('.', '\\.')}\\b`))
    const { stdout } = await run(nodeOf(version), ['program.mjs'], { cwd: project })
    expect(JSON.parse(stdout)).toEqual({ names: ['wiki'], serve: 'function', pki: 'function' })
  })

  it.each(NODES)('is required by CommonJS on Node %s', async (version) => {
    const flags = ['--no-warnings', '--eval', "console.log(typeof require('portcullis').createController)"]
    expect((await run(nodeOf(version), flags, { cwd: project })).stdout).toBe('function\n')
  })

  it('has matchers for jest', async () => {
    await install(project, 'jest@30')
    await writeFile(join(project, 'access.test.mjs'), JEST_TEST)
    const flags = [
      '--experimental-vm-modules',
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--testMatch=**/access.test.mjs',
      '--verbose',
    ]
    const failed = await run(nodeOf('24'), flags, { cwd: project }).then(String, (error) => String(error.stderr))
    expect(failed).toContain('✓ right')
    expect(failed).toContain('✕ wrong')
    expect(failed).toMatch(/laptop.*payroll/)
    expect(failed).toContain('1 failed, 1 passed, 2 total')
  })

  it.for(['bun', 'deno'])('runs on %s', async (runtime, { skip }) => {
    const reason = await installed(runtime)
    skip(reason !== undefined, reason)
    const flags = runtime === 'deno' ? ['run', '-A', 'main.mjs'] : ['main.mjs']
    const { stdout } = await run(join(project, `node_modules/.bin/${runtime}`), flags, { cwd: project })
    expect(stdout).toBe('COULD_NOT_VALIDATE\n')
    const network = execFile(nodeOf('24'), ['network.mjs'], { cwd: project })
    const ended = once(network, 'exit')
    const [tokens] = await Promise.race([once(network.stdout ?? network, 'data'), ended])
    const devices = [...flags.slice(0, -1), 'device.mjs', ...String(tokens).trim().split(' ')]
    const told = await run(join(project, `node_modules/.bin/${runtime}`), devices, { cwd: project })
    expect(told.stdout).toBe('200 salaries payroll\n')
    network.stdin?.end()
    await ended
  })

  it('runs on Workers with a hasher and a judge of schemas that they allow', async ({ skip }) => {
    const reason = await installed('miniflare', 'esbuild', '@cfworker/json-schema')
    skip(reason !== undefined, reason)
    const { stdout } = await run(nodeOf('24'), ['workers.mjs'], { cwd: project })
    const [plain, hasher, both] = stdout.split('\n')
    expect(plain).toMatch(/^plain: CompileError/)
    expect(hasher).toMatch(/^hasher: ApiError: 400 COULD_NOT_VALIDATE: .*Code generation from strings/)
    expect(both).toBe('both: COULD_NOT_VALIDATE')
  })

  it('is bundled with a server by which no package is asked for that is optional', async () => {
    const program = join(project, 'bundled-server.mjs')
    await writeFile(program, PROGRAM)
    const logs: string[] = []
    const onLog = (_level: string, { code, message }: { readonly code?: string; readonly message: string }) =>
      void (code === 'UNRESOLVED_IMPORT' && logs.push(message))
    const bundle = await rolldown({ input: program, cwd: project, platform: 'node', onLog })
    await bundle.generate({ format: 'esm' })
    await bundle.close()
    expect(logs).toEqual([])
  })

  it('has what its documents link to', async () => {
    const folder = join(project, 'node_modules/portcullis')
    const documents = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.md'))
    expect(documents.length).toBeGreaterThan(20)
    for (const document of documents) {
      const text = await readFile(join(folder, document), 'utf8')
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path)
      for (const path of links) await expect(stat(join(folder, dirname(document), path))).resolves.toBeDefined()
    }
  })

  it('brings examples that run where they are copied to', async () => {
    await install(project, 'express', 'kysely', 'yaml')
    await cp(join(project, 'node_modules/portcullis/examples'), join(project, 'examples'), { recursive: true })
    const flags = ['--no-warnings', 'examples/express/main.ts']
    const env = { ...process.env, PORT: '0', ADMIN_PASSWORD: 'a-long-password' }
    const example = execFile(nodeOf('24'), flags, { cwd: project, env })
    const ended = once(example, 'exit')
    const [line] = await Promise.race([once(example.stdout ?? example, 'data'), ended])
    expect(String(line)).toMatch(/^https:\/\/localhost:\d+ is served/)
    example.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    const quickstart = [
      '--no-warnings',
      'examples/quickstart/main.ts',
      '--once',
      '--listen',
      `127.0.0.1:${await freePort()}`,
    ]
    const told = await run(nodeOf('24'), quickstart, { cwd: project })
    expect(told.stdout).toContain('edge router er-cloud, encrypted from end to end: "salaries, for laptop"')
  })

  it.runIf(process.env.PORTCULLIS_PACKAGE === 'all')(
    'passes the tests that import it by its name',
    async () => {
      const peers = ['acme-client@5', 'express@5', 'fastify@5', 'hono@4', 'kysely', 'pg', 'yaml', '@opentelemetry/api']
      await install(project, ...peers)
      const env = { ...process.env, PORTCULLIS_INSTALLED_IN: project, PORTCULLIS_PACKAGE: '', NO_COLOR: '1' }
      const vitest = join(root, 'node_modules/vitest/vitest.mjs')
      const { stdout } = await run(process.execPath, [vitest, 'run'], { cwd: root, env, maxBuffer: 10_000_000 }).catch(
        // Vitest tells what failed on its standard error.
        ({ stdout: text, stderr }) =>
          Promise.reject(new Error(`${String(stderr).slice(0, 8000)}\n${String(text).slice(-200)}`)),
      )
      expect(stdout).toMatch(/\d{3,} passed, 0 failed/)
    },
    900_000,
  )

  it('is as small as it was', async () => {
    const { size } = await stat(tarball)
    expect(size).toBeLessThan(TARBALL)
    const sizes = await loadedBy(join(project, 'node_modules/portcullis'))
    expect([...sizes.keys()].toSorted()).toEqual(Object.keys(SIZES).toSorted())
    expect([...sizes].filter(([entry, bytes]) => bytes > (SIZES[entry] ?? 0))).toEqual([])
  })

  it('has declarations that hold without those of other packages, and that are few', async () => {
    const main = join(project, 'typed.mts')
    await writeFile(main, TYPED_PROGRAM)
    const program = ts.createProgram({
      rootNames: [main],
      options: {
        target: ts.ScriptTarget.ES2024,
        lib: ['lib.es2024.d.ts'],
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
        // Declarations that a user of those packages has: an earlier test may have installed the packages without them.
        paths: {
          kysely: [join(root, 'node_modules/kysely/dist/index.d.ts')],
          express: [join(root, 'node_modules/@types/express/index.d.ts')],
        },
        module: ts.ModuleKind.NodeNext,
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
      },
    })
    const complaints = ts.getPreEmitDiagnostics(program)
    expect(complaints.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
    const folder = join(project, 'node_modules/portcullis')
    const { exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    for (const [entry, most] of Object.entries(DECLARATIONS)) {
      expect([entry, await declarationBytes(join(folder, exports[entry].types))]).toEqual([
        entry,
        expect.toSatisfy((bytes: number) => bytes > 1000 && bytes < most),
      ])
    }
  }, 60_000)

  it('is what bundlers and other tools expect of a package', async () => {
    await expect(run('npx', ['publint', 'run', tarball, '--strict'], { cwd: root })).resolves.toBeDefined()
  }, 60_000)

  it('has types that are right for ES modules', async () => {
    const types = run('npx', ['attw', tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'], { cwd: root })
    await expect(types).resolves.toBeDefined()
  }, 60_000)
})
