import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { kyselyStorage, sqliteDialect, sqliteStorage } from 'portcullis/kysely'
import { StorageUnavailable } from 'portcullis/storage'
import { afterAll, describe, expect, it } from 'vitest'
import {
  contentOf,
  get,
  insertAll,
  machine,
  machines,
  ticket,
  tickets,
} from '../../../adapters/storage/contract/kinds-of-records.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'

const kinds = [machines, tickets]
const directory = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
let files = 0
const freshFile = () => join(directory, `${++files}.db`)
afterAll(() => rmSync(directory, { recursive: true }))

/** An error as `node:sqlite` throws it. */
function sqliteError(errcode: number): Error {
  return Object.assign(new Error(`result code ${errcode}`), { code: 'ERR_SQLITE_ERROR', errcode })
}

/** A storage whose statements can be made to fail, and are noted. */
async function watchedStorage() {
  const control = { statements: [] as string[], failure: undefined as { at: RegExp; error: Error } | undefined }
  const file = freshFile()
  const dialect = () =>
    watchedDialect(sqliteDialect(file), ({ sql }) => {
      control.statements.push(sql)
      if (control.failure?.at.test(sql)) throw control.failure.error
    })
  return { control, storage: await kyselyStorage({ dialect, kinds }) }
}

describe('SQLite storage when the database cannot be used', () => {
  it.each([
    ['full', 13, /^commit/],
    ['full', 13, /^insert into "contract_machines_roles"/],
    ['full', 13, /^insert into "storage_changes"/],
    ['unreachable', 10, /^begin immediate/],
    ['unreachable', 266, /^update "storage_state"/],
    ['read-only', 8, /^insert into "contract_machines" /],
    ['read-only', 1032, /^commit/],
    ['corrupt', 11, /^select revision/],
    ['corrupt', 267, /^delete from "contract_machines_tags"/],
  ])(
    'says %s for the result code %i of a statement, stores nothing, and goes on afterwards',
    async (reason, code, at) => {
      const { control, storage } = await watchedStorage()
      await insertAll(storage, machines, [machine('m0', { roles: ['a'], tags: { a: 1 } })])
      const before = await contentOf(storage)
      control.failure = { at, error: sqliteError(code) }
      const write = () =>
        storage.write(async (tx) => {
          await tx.collection(machines).delete('m0')
          await tx.collection(machines).insert(machine('m1', { roles: ['a', 'b'], tags: { a: 1 } }))
        })
      const failed = await write().catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(StorageUnavailable)
      expect(failed).toMatchObject({ reason })
      control.failure = undefined
      expect(await contentOf(storage)).toEqual(before)
      await write()
      expect(await get(storage, machines, 'm1')).toEqual(machine('m1', { roles: ['a', 'b'], tags: { a: 1 } }))
      await storage.close()
    },
  )

  it('rolls back a write whose work goes on after a statement that failed', async () => {
    const { control, storage } = await watchedStorage()
    control.failure = { at: /^insert into "contract_machines_roles"/, error: new Error('half way') }
    const write = storage.write(async (tx) => {
      await tx.collection(tickets).insert(ticket('t1'))
      const half = tx.collection(machines).insert(machine('m1', { roles: ['a'] }))
      await half.catch(() => undefined)
    })
    await expect(write).rejects.toThrow('half way')
    control.failure = undefined
    expect(await get(storage, machines, 'm1')).toBeUndefined()
    expect(await get(storage, tickets, 't1')).toBeUndefined()
    await storage.close()
  })

  it('waits for another writer without holding up others, then says that the database is busy', async () => {
    const file = freshFile()
    const storage = await sqliteStorage(file, { kinds, busyTimeoutMs: 200 })
    await insertAll(storage, tickets, [ticket('t1')])
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    const since = performance.now()
    const refused = insertAll(storage, tickets, [ticket('t2')]).catch((error: unknown) => error)
    let reads = 0
    while (performance.now() - since < 100) {
      expect(await get(storage, tickets, 't1')).toEqual(ticket('t1'))
      reads += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(reads).toBeGreaterThan(5)
    expect(await refused).toMatchObject({ name: 'StorageUnavailable', reason: 'busy' })
    const waiting = insertAll(storage, tickets, [ticket('t3')])
    other.exec('rollback')
    other.close()
    await waiting
    expect(await get(storage, tickets, 't3')).toEqual(ticket('t3'))
    await storage.close()
  })

  it('refuses a file that is no database, and opens it when it has been replaced', async () => {
    const file = freshFile()
    writeFileSync(file, 'not a database, but long enough to be looked at as if it were one. '.repeat(20))
    await expect(sqliteStorage(file, { kinds })).rejects.toMatchObject({ reason: 'corrupt' })
    rmSync(file)
    await (await sqliteStorage(file, { kinds })).close()
  })

  it.each([
    ['deleted', (file: string) => rmSync(file)],
    ['moved away', (file: string) => renameSync(file, `${file}.moved`)],
    [
      'replaced',
      (file: string) => {
        copyFileSync(file, `${file}.copy`)
        renameSync(`${file}.copy`, file)
      },
    ],
  ])('acknowledges nothing from the moment at which its file is %s', async (_what, remove) => {
    const file = freshFile()
    const storage = await sqliteStorage(file, { kinds })
    await insertAll(storage, tickets, [ticket('t1')])
    remove(file)
    const refused = await insertAll(storage, tickets, [ticket('t2')]).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'StorageUnavailable', reason: 'unreachable' })
    expect(String(refused)).toContain(`${file} was deleted, moved or replaced since it was opened`)
    await storage.close()
  })

  it('notices a file that goes away during a write, before the write is acknowledged', async () => {
    const file = freshFile()
    const storage = await sqliteStorage(file, { kinds })
    const write = storage.write(async (tx) => {
      await tx.collection(tickets).insert(ticket('t1'))
      renameSync(file, `${file}.moved`)
    })
    await expect(write).rejects.toMatchObject({ name: 'StorageUnavailable', reason: 'unreachable' })
    await storage.close()
  })

  it('answers no read from a file that is gone, makes none in its place, and goes on when it is back', async () => {
    const file = freshFile()
    const storage = await sqliteStorage(file, { kinds })
    await insertAll(storage, tickets, [ticket('t1')])
    expect(await get(storage, tickets, 't1')).toEqual(ticket('t1'))
    renameSync(file, `${file}.moved`)
    await new Promise((resolve) => setTimeout(resolve, 150))
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(get(storage, tickets, 't1')).rejects.toMatchObject({ reason: 'unreachable' })
      await expect(insertAll(storage, tickets, [ticket('t2')])).rejects.toMatchObject({ reason: 'unreachable' })
    }
    expect(existsSync(file)).toBe(false)
    renameSync(`${file}.moved`, file)
    expect(await get(storage, tickets, 't1')).toEqual(ticket('t1'))
    await insertAll(storage, tickets, [ticket('t2')])
    await storage.close()
    const again = await sqliteStorage(file, { kinds })
    expect(await get(again, tickets, 't2')).toEqual(ticket('t2'))
    await again.close()
  })

  it('names a folder that is not there', async () => {
    const file = join(directory, 'absent', 'records.db')
    const opened = sqliteStorage(file, { kinds })
    await expect(opened).rejects.toThrow(
      `sqliteStorage: file names a file in a folder that is not there: ${join(directory, 'absent')}`,
    )
  })
})

describe('group commit', () => {
  const count = (statements: readonly string[], text: string) => statements.filter((sql) => sql === text).length

  it('commits 200 writes that come together in a few transactions, and one that comes alone in one', async () => {
    const { control, storage } = await watchedStorage()
    control.statements.length = 0
    await Promise.all(Array.from({ length: 200 }, (_, index) => insertAll(storage, tickets, [ticket(`t${index}`)])))
    expect(count(control.statements, 'commit')).toBeLessThan(20)
    control.statements.length = 0
    await insertAll(storage, tickets, [ticket('alone')])
    expect(count(control.statements, 'commit')).toBe(1)
    expect(await storage.read(async (tx) => tx.revision)).toBe(201)
    await storage.close()
  })

  it('tells everybody of a group when its commit fails, and none of them is stored', async () => {
    const { control, storage } = await watchedStorage()
    control.failure = { at: /^commit/, error: sqliteError(13) }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        storage.write(async (tx) => {
          await tx.collection(tickets).insert(ticket(`t${index}`))
          if (index === 5) throw new Error('its own')
        }),
      ),
    )
    expect(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason.reason === 'full')).toBe(true)
    control.failure = undefined
    expect(await storage.read(async (tx) => [tx.revision, (await tx.collection(tickets).find()).totalCount])).toEqual([
      0, 0,
    ])
    await storage.close()
  })
})
