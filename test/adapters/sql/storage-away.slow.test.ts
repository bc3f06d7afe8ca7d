import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Logger, Storage } from 'portcullis'
import { kyselyStorage, postgresStorage, sqliteDialect, sqliteStorage } from 'portcullis/kysely'
import { createTestController, recordingLogger } from 'portcullis/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { startPostgres } from '../../support/postgres.ts'
import { tcpGate } from '../../support/tcp-gate.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'
import { endAll, portcullis } from '../cli/cli-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-away-'))
afterAll(() => {
  endAll()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

const API = 'https://controller.test/edge/management/v1'

/** A controller on a storage, asked as its admin. */
async function startController(storage: Storage, logger?: Logger) {
  const controller = await createTestController({ storage, ...(logger && { logger }) })
  const login = { query: { method: 'password' }, body: { username: 'admin', password: 'admin-password' } } as const
  const { data } = await controller.management.call('POST /authenticate', login)
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'zt-session': data.token, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await controller.fetch(new Request(`${API}${path}`, { method, headers, ...sent }))
    // Only errors have this member.
    const { error } = (await response.json()) as { error?: { code: string; cause: { message: string } } }
    return [response.status, response.headers.get('retry-after'), error?.code, error?.cause.message]
  }
  return {
    list: () => ask('GET', '/services'),
    create: (name: string) => ask('POST', '/services', { name, encryptionRequired: true }),
    close: () => controller.close(),
  }
}

const refusedAs = (reason: string) => [503, '5', 'TIMEOUT', `the storage is not available: ${reason}`]
const LISTED = [200, null, undefined, undefined]
const CREATED = [201, null, undefined, undefined]

describe('a database that cannot be used at present', () => {
  it.each([
    ['full', 13, /^insert into "services"/],
    ['full', 13, /^commit/],
    ['read-only', 8, /^insert into "services"/],
    ['corrupt', 11, /^insert into "services"/],
    ['unreachable', 10, /^begin immediate/],
  ])('answers 503 with Retry-After while it is %s (SQLite result code %i), and goes on', async (reason, code, at) => {
    let isFailing = false
    const file = join(cwd, `${reason}${String(at).length}.db`)
    const dialect = () =>
      watchedDialect(sqliteDialect(file), ({ sql }) => {
        if (isFailing && at.test(sql)) throw Object.assign(new Error('disk'), { errcode: code })
      })
    const controller = await startController(await kyselyStorage({ dialect }))
    isFailing = true
    expect(await controller.create('mail')).toEqual(refusedAs(reason))
    isFailing = false
    expect(await controller.list()).toEqual(LISTED)
    expect(await controller.create('mail')).toEqual(CREATED)
    await controller.close()
  })

  it('answers 503 while another program holds the lock of a SQLite file, reads meanwhile, and goes on', async () => {
    const file = join(cwd, 'locked.db')
    const controller = await startController(await sqliteStorage(file, { busyTimeoutMs: 200 }))
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    const [created, listed] = await Promise.all([controller.create('mail'), controller.list()])
    expect([created, listed]).toEqual([refusedAs('busy'), LISTED])
    other.exec('rollback')
    other.close()
    expect(await controller.create('mail')).toEqual(CREATED)
    await controller.close()
  })

  it('answers 503 once the file of a SQLite database is gone, tells it in the log, and goes on when it is back', async () => {
    const file = join(cwd, 'gone.db')
    const logger = recordingLogger()
    const controller = await startController(await sqliteStorage(file), logger)
    renameSync(file, `${file}.moved`)
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect([await controller.create('mail'), await controller.list()]).toEqual([
      refusedAs('unreachable'),
      refusedAs('unreachable'),
    ])
    const told = logger.entries.filter(({ level }) => level === 'error').map(({ fields }) => String(fields?.error))
    expect(told[0]).toContain(`${file} was deleted, moved or replaced since it was opened`)
    renameSync(`${file}.moved`, file)
    expect(await controller.create('mail')).toEqual(CREATED)
    await controller.close()
  })

  it('answers 503 while PostgreSQL is away, and goes on when it is back', async () => {
    const server = await startPostgres()
    const { port, username } = new URL(server.url)
    const gate = await tcpGate(Number(port))
    const connection = `postgres://${username}@127.0.0.1:${gate.port}/postgres`
    const controller = await startController(await postgresStorage({ connection, busyTimeoutMs: 2000 }))
    expect(await controller.create('before')).toEqual(CREATED)
    await gate.shut()
    expect(await controller.create('mail')).toEqual(refusedAs('unreachable'))
    expect(await controller.list()).toEqual(refusedAs('unreachable'))
    await gate.open()
    expect(await controller.list()).toEqual(LISTED)
    expect(await controller.create('mail')).toEqual(CREATED)
    await controller.close()
    await gate.shut()
    await server.stop()
  })
})

describe('portcullis serve on a database that cannot be used', () => {
  writeFileSync(join(cwd, 'damaged.db'), 'not a database, but as long as the header of one. '.repeat(40))

  it.each([
    ['a file that is no database', 'sqlite:damaged.db', /--storage sqlite: .*damaged.*/],
    ['a folder that is not there', 'sqlite:absent/records.db', /--storage sqlite: .*folder that is not there: absent/],
    ['a folder in place of a file', 'sqlite:.', /--storage sqlite: .* is a folder/],
    ['a server that is away', 'postgres://keeper:secret@127.0.0.1:1/none', /--storage postgres: .*away.*/],
  ])('ends with code 2 and one line for %s', async (_what, storage, line) => {
    const { code, stderr, stdout } = await portcullis(['serve', '--listen', '127.0.0.1:0', '--storage', storage], {
      cwd,
    }).ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(line)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).not.toContain('secret')
  })
})
