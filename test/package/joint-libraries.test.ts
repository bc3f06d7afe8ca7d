// The programs of docs/storage.md that join a commit of the network by a library, run with the libraries themselves.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../support/postgres.ts'
import { complaints, programsIn, textOf } from './guide-programs.ts'
import { newProject, whyNotInstalled } from './new-project.ts'

const programs = programsIn(textOf('storage.md'))

const network = (opened: string) => `
  import { createController } from 'portcullis'
  import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
  export const storage = await ${opened}
  const logger = { info() {}, warn() {}, error: console.error }
  export const controller = await createController({ storage, address: 'localhost:1280', webhooks: false, logger })`

/** Signs up a tenant, the same again, and a tenant whose name the network refuses after the table took it. */
const SIGNING_UP = `
  import { SYSTEM_CALL } from 'portcullis'
  import { controller, storage } from './network.ts'
  import { signUp } from './sign-up.ts'
  const query = (text: string) => storage.together(({ connection }) => connection.query(text))
  await query('create table tenants (name text primary key, seats integer not null)')
  const failed: string[] = []
  for (const name of ['acme', 'acme', 'longer'.repeat(200)]) {
    await signUp(name).catch((error: Error) => failed.push(String(error.cause ?? error)))
  }
  const { rows } = await query('select name, seats from tenants order by name')
  const { items } = await controller.engine.identities.list(SYSTEM_CALL, { filter: 'isDefaultAdmin = false', sort: 'name' })
  console.log(JSON.stringify({ rows, names: items.map(({ name }) => name), failed }))
  await controller.close()`

const PRISMA_SCHEMA = `
  generator client {
    provider = "prisma-client"
    output   = "./generated"
  }
  datasource db {
    provider = "postgresql"
  }
  model Tenant {
    name  String @id
    seats Int
    @@map("tenants")
  }`

const run = promisify(execFile)
let project = ''
beforeAll(async () => {
  project = (await newProject()).folder
}, 400_000)
afterAll(() => rm(project, { recursive: true, force: true }))

/** Writes a program of the guide into a folder of its own, over a storage that is opened so, with files beside it. */
async function written(path: string, opened: string): Promise<string> {
  const folder = join(project, path.replace('.ts', ''))
  const code = programs.find((program) => program.path === path)?.code ?? ''
  await mkdir(folder, { recursive: true })
  const files = { 'network.ts': network(opened), 'sign-up.ts': code, 'main.ts': SIGNING_UP }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** Runs the program of a folder; answers what it prints. */
async function printed(folder: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['--no-warnings', 'main.ts'], { cwd: folder })
  return JSON.parse(stdout)
}

async function postgres(): Promise<string> {
  const { url, drop } = await createDatabase()
  onTestFinished(drop)
  return `postgresStorage({ connection: '${url}' })`
}

/** One tenant is signed up, and nothing of the others is there. */
const ONE = {
  rows: [{ name: 'acme', seats: 5 }],
  names: ['acme-laptop'],
  failed: [expect.stringMatching(/unique/i), expect.stringMatching(/^ControllerError: name .*at most 1024/)],
}

/** The programs of Drizzle, and how their storage is opened. */
const DRIZZLE: Readonly<Record<string, () => Promise<string>>> = {
  'drizzle-postgres.ts': postgres,
  'drizzle-sqlite.ts': async () => "sqliteStorage(':memory:')",
}

it.for(Object.entries(DRIZZLE))(
  '%s makes a tenant and its invitation one commit',
  { timeout: 200_000 },
  async ([path, opened], { skip }) => {
    const reason = await whyNotInstalled(project, 'drizzle-orm@0.45', 'pg@8', '@types/pg@8', 'kysely@0.29')
    skip(reason !== undefined, reason)
    const folder = await written(path, await opened())
    expect(complaints([join(folder, 'sign-up.ts')])).toEqual([])
    expect(await printed(folder)).toEqual(ONE)
  },
)

it('prisma.ts does, and is refused a transaction of its own', { timeout: 400_000 }, async ({ skip }) => {
  const prisma = ['prisma@7.10.0', '@prisma/client@7.10.0', '@prisma/adapter-pg@7.10.0']
  const reason = await whyNotInstalled(project, ...prisma, 'pg@8', 'kysely@0.29')
  skip(reason !== undefined, reason)
  const folder = await written('prisma.ts', await postgres())
  await writeFile(join(folder, 'schema.prisma'), PRISMA_SCHEMA)
  // The client is written without an engine; without this, one is downloaded.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
  const cli = join(project, 'node_modules/prisma/build/index.js')
  await run(process.execPath, [cli, 'generate', '--schema', 'schema.prisma'], { cwd: folder, env })
  expect(complaints([join(folder, 'sign-up.ts')])).toEqual([])
  expect(await printed(folder)).toEqual(ONE)
  const place = join(folder, 'sign-up.ts')
  const [whole, operation = ''] = /await (prisma[.].*)/.exec(readFileSync(place, 'utf8')) ?? []
  const code = readFileSync(place, 'utf8').replace(
    String(whole),
    `await prisma.$transaction([${operation}, ${operation}])`,
  )
  await writeFile(join(folder, 'network.ts'), network(await postgres()))
  await writeFile(place, code)
  const refused = expect.stringContaining('the joint write is the transaction')
  expect(await printed(folder)).toEqual({ rows: [], names: [], failed: [refused, refused, refused] })
})
