import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { expectIntegrity } from '../../crash/crash-checks.ts'
import { type Answer, type ServedController, serveOn, textIn } from '../../crash/served-controller.ts'
import { startPostgres } from '../../support/postgres.ts'
import { endAll, portcullis } from './cli-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-disasters-'))
afterAll(() => {
  endAll()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

const PAGE = 4096
/** Milliseconds that processes may take on a machine that has much else to do. */
const PATIENCE_MS = 120_000
const filler = 'x'.repeat(2000)
const FULL = /^the storage is not available: (full|unreachable)$/
const create = (controller: ServedController, name: string) =>
  controller.ask('POST', '/services', { name, encryptionRequired: true, tags: { filler } })
const list = (controller: ServedController) => controller.ask('GET', '/services?limit=500')

const expectRefused = ({ status, retryAfter, cause }: Answer, reason: RegExp) => {
  expect([status, retryAfter]).toEqual([503, '5'])
  expect(cause).toMatch(reason)
}

/**
 * Creates services until ten at once are refused, each as it should be; the ids of those that were not. After the first
 * refusal SQLite may find room again by moving its log into the database.
 */
async function createUntilFull(controller: ServedController): Promise<readonly string[]> {
  const ids: string[] = []
  for (let turn = 0; ; turn += 1) {
    const one = await create(controller, `mail${turn}`)
    if (one.status === 201) {
      ids.push(textIn(one.data, 'id'))
      continue
    }
    expectRefused(one, FULL)
    const ten = await Promise.all(Array.from({ length: 10 }, (_, at) => create(controller, `more${turn}.${at}`)))
    const acknowledged = ten.filter(({ status }) => status === 201)
    for (const refused of ten)
      if (!acknowledged.includes(refused)) expectRefused(refused, /^the storage is not available/)
    for (const { data } of acknowledged) ids.push(textIn(data, 'id'))
    if (acknowledged.length === 0) return ids
  }
}

async function expectAll(controller: ServedController, ids: readonly string[]): Promise<void> {
  for (const id of ids) expect((await controller.ask('GET', `/services/${id}`)).status).toBe(200)
  await expectIntegrity(controller)
}

describe('portcullis serve on SQLite', () => {
  it(
    'answers 503 when the system lets its files grow no more, reads meanwhile, and has kept what it acknowledged',
    async () => {
      const storage = `sqlite:${join(mkdtempSync(join(cwd, 'limited-')), 'limited.db')}`
      const limited = await serveOn(storage, cwd, undefined, { fileBlocks: 6000 })
      const ids = await createUntilFull(limited)
      expect(ids.length).toBeGreaterThan(3)
      expect((await list(limited)).totalCount).toBe(ids.length)
      await limited.kill()
      const unlimited = await serveOn(storage, cwd, limited.token)
      await expectAll(unlimited, ids)
      expect((await create(unlimited, 'more')).status).toBe(201)
      await unlimited.kill()
    },
    PATIENCE_MS,
  )

  it(
    'answers 503 while pages of its file are overwritten, goes on when they are back, and does not start on them',
    async () => {
      const file = join(cwd, 'pages.db')
      const before = await serveOn('sqlite:pages.db', cwd)
      const ids: string[] = []
      for (let turn = 0; turn < 20; turn += 1) ids.push(textIn((await create(before, `mail${turn}`)).data, 'id'))
      // Writes in the write-ahead log must be in the file.
      await before.stop()
      const controller = await serveOn('sqlite:pages.db', cwd, before.token)
      const whole = readFileSync(file)
      overwrite(file, damaged(whole))
      expectRefused(await list(controller), /^the storage is not available: corrupt$/)
      expectRefused(await create(controller, 'late'), /^the storage is not available: corrupt$/)
      overwrite(file, whole)
      expect((await list(controller)).totalCount).toBe(ids.length)
      expect((await create(controller, 'late')).status).toBe(201)
      await expectAll(controller, ids)
      await controller.stop()

      overwrite(file, damaged(readFileSync(file)))
      const { code, stdout, stderr } = await portcullis(
        ['serve', '--listen', '127.0.0.1:0', '--storage', 'sqlite:pages.db'],
        {
          cwd,
        },
      ).ended
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^portcullis: --storage sqlite: the database is damaged: [^\n]+\n$/)
    },
    PATIENCE_MS,
  )
})

describe('portcullis serve on PostgreSQL', () => {
  it(
    'answers 503 while the server is stopped, goes on by itself, and has kept what it acknowledged',
    async () => {
      const server = await startPostgres({ isDurable: true })
      const controller = await serveOn(server.url, cwd)
      const ids: string[] = []
      let isOver = false
      const write = async (writer: number) => {
        for (let turn = 0; !isOver; turn += 1) {
          const answer = await create(controller, `mail${writer}-${turn}`)
          if (answer.status === 201) ids.push(textIn(answer.data, 'id'))
          else expectRefused(answer, /^the storage is not available: (unreachable|busy)$/)
        }
      }
      const writers = [0, 1, 2, 3].map(write)
      while (ids.length < 20) await new Promise((resolve) => setTimeout(resolve, 5))
      await server.crash()
      expectRefused(await list(controller), /unreachable/)
      expectRefused(await create(controller, 'meanwhile'), /unreachable/)
      await server.start()
      const known = ids.length
      while (ids.length < known + 20) await new Promise((resolve) => setTimeout(resolve, 5))
      isOver = true
      await Promise.all(writers)
      await expectAll(controller, ids)
      await controller.kill()
      await server.stop()
    },
    PATIENCE_MS,
  )
})

/** Bytes with others in the middle of each page but the first. */
function damaged(whole: Buffer): Buffer {
  const bytes = Buffer.from(whole)
  for (let start = PAGE; start < bytes.length; start += PAGE) bytes.fill(0x41, start, start + 1000)
  return bytes
}

/** Writes into the file as it is, which other processes have open. */
function overwrite(file: string, bytes: Buffer): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, 0)
  closeSync(handle)
}
