import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedController, serveOn } from '../../crash/served-controller.ts'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { endAll, portcullis } from './cli-process.ts'

const FIRST = 'a-secret-of-mine'
const cwd = mkdtempSync(join(tmpdir(), 'portcullis-reset-'))
let postgres: PostgresDatabase
beforeAll(async () => {
  postgres = await createDatabase()
})
afterAll(async () => {
  endAll()
  await postgres.drop()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

const reset = (args: readonly string[], input?: string) =>
  portcullis(['admin', 'reset-password', ...args], { cwd, ...(input !== undefined && { input }) }).ended

async function loginStatus({ fetch }: ServedController, password: string): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ username: 'keeper', password })
  return (await fetch('/edge/management/v1/authenticate?method=password', { method: 'POST', headers, body })).status
}

describe.each([
  ['SQLite', () => 'sqlite:net.db'],
  ['PostgreSQL', () => postgres.url],
])('portcullis admin reset-password on %s', (_name, storageOf) => {
  it('lets in while the storage is served, and ends the sessions that are open', async () => {
    const controller = await serveOn(storageOf(), cwd)
    expect((await controller.ask('GET', '/current-identity')).status).toBe(200)
    const { code, stdout, stderr } = await reset(['--storage', storageOf(), '--password-stdin'], 'second-secret-word\n')
    expect([code, stdout, stderr]).toEqual([0, 'the password of keeper is set, its sessions ended\n', ''])
    expect(await loginStatus(controller, 'second-secret-word')).toBe(200)
    expect(await loginStatus(controller, FIRST)).toBe(401)
    expect((await controller.ask('GET', '/current-identity')).status).toBe(401)
    await controller.stop()
  }, 60_000)

  it('lets in that was shut out, while nobody serves the storage', async () => {
    const password = join(cwd, 'password')
    writeFileSync(password, 'third-secret-word\nand what else stands there\n')
    chmodSync(password, 0o644)
    const args = ['--storage', storageOf(), '--password-file', password, '--json']
    const { code, stdout, stderr } = await reset(args)
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ username: 'keeper', isNew: false })])
    expect(stderr).toMatch(/^portcullis: warning: \S+password is open to every user of this machine[^\n]*\n$/)
    expect(stdout + stderr).not.toContain('third-secret')
    const controller = await serveOn(storageOf(), cwd, 'no session')
    expect(await loginStatus(controller, 'third-secret-word')).toBe(200)
    await controller.stop()
  }, 60_000)
})

describe('portcullis admin reset-password refuses with code 2 and one line', () => {
  it.each<[string, readonly string[], string | undefined, RegExp]>([
    ['no terminal and no source', [], undefined, /there is no terminal to ask for the password: --password-stdin/],
    ['a password among the words', ['keeper', 'secret-word'], undefined, /takes one USERNAME; the password is no arg/],
    ['an empty input', ['--password-stdin'], '\n', /--password-stdin: there is no password/],
    ['two lines', ['--password-stdin'], 'a\nb\n', /a password is one line/],
    ['a missing file', ['--password-file', 'nowhere'], undefined, /--password-file: 'nowhere' cannot be read/],
    ['a short password', ['--password-stdin'], 'abcd', /password should be at least 5 chars long/],
    ['an unknown username', ['mallory', '--password-stdin'], 'abcdefghijkl', /usernames of administrators are keeper/],
  ])('%s', async (_what, args, input, line) => {
    const { code, stdout, stderr } = await reset(['--storage', 'sqlite:net.db', ...args], input)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^portcullis: [^\n]+\n$/)
    expect(stderr).toMatch(line)
    expect(stderr).not.toMatch(/secret-word|abcd/)
  })

  it.each([
    ['memory', /memory is gone with the process that keeps it/],
    ['sqlite:nowhere.db', /there is no file nowhere\.db/],
    ['postgres://keeper:secret-word@127.0.0.1:1/net', /ECONNREFUSED/],
  ])('the storage %s', async (storage, line) => {
    const { code, stderr } = await reset(['--storage', storage, '--password-stdin'], 'abcdefghijkl')
    expect([code, stderr]).toEqual([2, expect.stringMatching(line)])
    expect(stderr).not.toContain('secret-word')
  })
})
