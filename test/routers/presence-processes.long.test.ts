import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createController, createPkiMaterial, type Storage } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { enrollEdgeRouter, plainPasswordHasher, TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ControlProcessTask } from '../support/control-process.ts'
import { startPostgres } from '../support/postgres.ts'

const PROGRAM = fileURLToPath(new URL('../support/control-process.ts', import.meta.url))
/** So long (ms) is a process believed that was killed. */
const BELIEVED_MS = 30_000

interface Database {
  readonly where: ControlProcessTask['where']
  readonly storage: Storage
}

const DATABASES: readonly (readonly [string, () => Promise<Database>])[] = [
  [
    'SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'portcullis-processes-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const where = { file: join(folder, 'network.db') }
      return { where, storage: await sqliteStorage(where.file) }
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const server = await startPostgres()
      onTestFinished(() => server.stop())
      const where = { url: server.url }
      return { where, storage: await postgresStorage({ connection: where.url }) }
    },
  ],
]

/** A controller of this process whose clock may go ahead, and a process that holds two routers over the same database. */
async function twoProcesses(open: () => Promise<Database>) {
  const { where, storage } = await open()
  const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now: Date.now() })
  let aheadMs = 0
  const controller = await createController({
    storage,
    pki,
    address: 'controller.test:1280',
    admin: TEST_ADMIN,
    passwordHasher: plainPasswordHasher,
    rateLimits: false,
    clock: { now: () => Date.now() + aheadMs },
  })
  onTestFinished(() => controller.close())
  const send = async (token: string, method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'zt-session': token }) }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await controller.fetch(new Request(`https://controller.test/edge/management/v1${path}`, init))
    return JSON.parse(await response.text()).data
  }
  const { token } = await send('', 'POST', '/authenticate?method=password', TEST_ADMIN)
  const call = (method: string, path: string, body?: object) => send(String(token), method, path, body)
  const routers = [
    await enrollEdgeRouter(controller, String(token), { name: 'r1' }),
    await enrollEdgeRouter(controller, String(token), { name: 'r2' }),
  ]
  const child = fork(PROGRAM, { execArgv: ['--conditions=portcullis-source'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const told = routers.map(({ id, chain }) => ({ id, chain: chain.map((der) => Buffer.from(der).toString('base64')) }))
  child.send({ where, pki, routers: told } satisfies ControlProcessTask)
  await message(child, (said) => said === 'connected')
  const online = async () => {
    const items: unknown[] = Object.values(await call('GET', '/edge-routers?filter=isOnline=true sort by name'))
    return items.map((router) => Reflect.get(Object(router), 'name'))
  }
  await vi.waitFor(async () => expect(await online()).toEqual(['r1', 'r2']), 5000)
  return { call, child, routers, online, goAhead: (ms: number) => (aheadMs += ms) }
}

/** Resolves with how many ms it took until a child said something. */
async function message(child: ChildProcess, isWanted: (said: unknown) => boolean): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const [said] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process ended with ${code}`))),
    ])
    if (isWanted(said)) return performance.now() - begun
  }
}

describe.each(DATABASES)('two processes over one database: %s', (_name, open) => {
  it('what one does to a router that the other holds closes its channel there soon', async () => {
    const { call, child, routers, online } = await twoProcesses(open)
    const [disabled, deleted] = routers
    const isClosed = (id: string | undefined) => (said: unknown) => Reflect.get(Object(said), 'closed') === id
    await call('PATCH', `/edge-routers/${disabled?.id}`, { disabled: true })
    expect(await message(child, isClosed(disabled?.id))).toBeLessThan(5000)
    await vi.waitFor(async () => expect(await online()).toEqual(['r2']), 5000)
    await call('DELETE', `/edge-routers/${deleted?.id}`)
    expect(await message(child, isClosed(deleted?.id))).toBeLessThan(5000)
    await vi.waitFor(async () => expect(await online()).toEqual([]), 5000)
  })

  it('routers of a process that is killed are offline half a minute later', async () => {
    const { child, online, goAhead } = await twoProcesses(open)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await online()).toEqual(['r1', 'r2'])
    goAhead(BELIEVED_MS)
    expect(await online()).toEqual([])
  })
})
