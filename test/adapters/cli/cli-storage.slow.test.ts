import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectIntegrity } from '../../crash/crash-checks.ts'
import { serveOn } from '../../crash/served-controller.ts'
import { endAll, portcullis } from './cli-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-storage-'))
const run = (...args: readonly string[]) => portcullis(args, { cwd }).ended
const body = (name: string) => ({ name, encryptionRequired: true })

beforeAll(async () => {
  const controller = await serveOn('sqlite:live.db', cwd)
  await controller.ask('POST', '/services', body('before'))
  expect(await run('snapshot', '--storage', 'sqlite:live.db', '--to', 'copy.db')).toMatchObject({ code: 0 })
  await controller.ask('POST', '/services', body('after'))
  expect((await controller.ask('POST', '/database/snapshot')).status).toBeLessThan(300)
  expect(readdirSync(cwd).filter((name) => /^live\.db\.snapshot-\d{8}T\d{6}\.\d{3}Z$/.test(name))).toHaveLength(1)
  const inUse = await run('restore', '--from', 'copy.db', '--storage', 'sqlite:live.db', '--force')
  expect([inUse.code, inUse.stderr]).toEqual([2, expect.stringContaining('is in use')])
  await controller.kill()
})
afterAll(() => {
  endAll()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

describe('portcullis snapshot and restore', () => {
  it('puts back what a snapshot of a served storage held; the copy serves and passes the integrity check', async () => {
    copyFileSync(join(cwd, 'live.db'), join(cwd, 'other.db'))
    const restored = await run('restore', '--from', 'copy.db', '--storage', 'sqlite:other.db', '--force')
    expect(restored).toMatchObject({ code: 0, stdout: 'restored other.db from copy.db\n' })
    const controller = await serveOn('sqlite:other.db', cwd)
    const { data } = await controller.ask('GET', '/services')
    expect(data).toEqual([expect.objectContaining({ name: 'before' })])
    await expectIntegrity(controller)
    await controller.kill()
  })

  it('restores over a damaged file', async () => {
    writeFileSync(join(cwd, 'damaged.db'), 'damaged '.repeat(2000))
    const { code } = await run('restore', '--from', 'copy.db', '--storage', 'sqlite:damaged.db', '--force')
    expect(code).toBe(0)
    const restored = new DatabaseSync(join(cwd, 'damaged.db'), { readOnly: true })
    expect(restored.prepare('select name from services').all()).toEqual([{ name: 'before' }])
    restored.close()
  })

  it.each([
    [['snapshot', '--storage', 'sqlite:live.db', '--to', 'copy.db'], 'copy.db is there already: --force replaces it'],
    [['restore', '--from', 'copy.db', '--storage', 'sqlite:live.db'], 'live.db is there already: --force replaces it'],
    [['restore', '--from', 'none.db', '--storage', 'sqlite:new.db'], 'restore: there is no file none.db'],
    [['snapshot', '--storage', 'sqlite:live.db'], 'snapshot needs --to FILE'],
    [
      ['snapshot', '--storage', 'postgres://a:b@c/d', '--to', 'x'],
      'snapshot needs --storage sqlite:FILE: a PostgreSQL database is copied with pg_dump',
    ],
    [
      ['restore', '--storage', 'postgres://a:b@c/d', '--from', 'x'],
      'restore needs --storage sqlite:FILE: a PostgreSQL database is put back with pg_restore',
    ],
    [['migrate'], 'migrate needs --storage sqlite:FILE or postgres://…'],
    [['snapshot', '--to', 'x'], 'snapshot needs --storage sqlite:FILE'],
    [
      ['snapshot', '--storage', 'memory', '--to', 'x'],
      'snapshot needs --storage sqlite:FILE: memory is gone with the process that keeps it',
    ],
    [
      ['migrate', '--storage', 'memory'],
      'migrate needs --storage sqlite:FILE or postgres://…: memory is gone with the process that keeps it',
    ],
  ])('refuses %j with code 2 and one line', async (args, line) => {
    const { code, stderr } = await run(...args)
    expect([code, stderr]).toEqual([2, `portcullis: ${line}\n`])
  })
})

describe('portcullis migrate', () => {
  it('prints the SQL without making anything, does it, and is done', async () => {
    const dry = await run('migrate', '--storage', 'sqlite:fresh.db', '--dry-run')
    expect(dry.stdout).toMatch(/^create table "identities"/m)
    expect(existsSync(join(cwd, 'fresh.db'))).toBe(false)
    expect((await run('migrate', '--storage', 'sqlite:fresh.db')).stdout).toMatch(/^did the migration '/)
    expect((await run('migrate', '--storage', 'sqlite:fresh.db')).stdout).toBe('the tables are up to date\n')
  })

  it('takes a prefix of the tables, which it makes beside those without', async () => {
    const prefixed = ['migrate', '--storage', 'sqlite:prefixed.db', '--table-prefix', 'net_']
    expect((await run(...prefixed, '--dry-run')).stdout).toMatch(/^create table "net_identities"/m)
    expect((await run(...prefixed)).stdout).toMatch(/^did the migration '/)
    expect((await run('migrate', '--storage', 'sqlite:prefixed.db', '--dry-run')).stdout).toMatch(
      /^create table "identities"/m,
    )
  }, 60_000)

  it('refuses a database of a newer version, and a schema where there are none, with code 2 and one line', async () => {
    await run('migrate', '--storage', 'sqlite:newer.db')
    const newer = new DatabaseSync(join(cwd, 'newer.db'))
    newer.exec('update storage_migrations set format = 99')
    newer.close()
    for (const more of [[], ['--dry-run']]) {
      const { code, stdout, stderr } = await run('migrate', '--storage', 'sqlite:newer.db', ...more)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^portcullis: migrate: [^\n]*schema format 99, made by a newer version[^\n]*\n$/)
    }
    const { code, stderr } = await run('migrate', '--storage', 'sqlite:newer.db', '--schema', 'network')
    expect([code, stderr]).toEqual([2, 'portcullis: --schema is for a storage postgres://…\n'])
  }, 60_000)
})

describe('portcullis pki on a storage', () => {
  it.each([['status'], ['rotate', 'root']])(
    '%s makes no keys where the folder of the network is not there',
    async (...words) => {
      const { code, stderr } = await run('pki', ...words, '--storage', 'sqlite:copy.db', '--pki', 'nowhere')
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("there is no folder 'nowhere': --pki names the folder"),
      ])
      expect(existsSync(join(cwd, 'nowhere'))).toBe(false)
    },
  )
})
