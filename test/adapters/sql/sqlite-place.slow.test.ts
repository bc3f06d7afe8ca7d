import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Storage } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController, recordingLogger } from 'portcullis/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { get, insertAll, ticket, tickets } from '../../../adapters/storage/contract/kinds-of-records.ts'

const directory = mkdtempSync(join(tmpdir(), 'portcullis-place-'))
afterAll(() => rmSync(directory, { recursive: true }))
let folders = 0

/** A storage with one record, in a folder of its own. */
async function opened() {
  const folder = join(directory, `${++folders}`)
  mkdirSync(folder)
  const file = join(folder, 'records.db')
  const storage = await sqliteStorage(file, { kinds: [tickets] })
  await insertAll(storage, tickets, [ticket('t1')])
  await get(storage, tickets, 't1')
  return { folder, file, storage }
}

const AWAY = { name: 'StorageUnavailable', reason: 'unreachable' }

/** Reads look every 100 ms. */
const lookingAgain = () => setTimeout(120)

async function expectAway(storage: Storage): Promise<void> {
  await lookingAgain()
  await expect(get(storage, tickets, 't1')).rejects.toMatchObject(AWAY)
  await expect(insertAll(storage, tickets, [ticket('t2')])).rejects.toMatchObject(AWAY)
  // Again: what was noticed once is not forgotten by opening something else.
  await expect(insertAll(storage, tickets, [ticket('t3')])).rejects.toMatchObject(AWAY)
  await expect(get(storage, tickets, 't1')).rejects.toMatchObject(AWAY)
}

function replace(file: string, make: (other: string) => void): void {
  make(`${file}.other`)
  renameSync(`${file}.other`, file)
}

describe('a SQLite file that is gone', () => {
  it.each<[string, (file: string, folder: string) => void]>([
    ['deleted', (file) => unlinkSync(file)],
    ['moved away', (file) => renameSync(file, `${file}.away`)],
    ['moved away with its folder', (_file, folder) => renameSync(folder, `${folder}.away`)],
    ['deleted with everything beside it', (_file, folder) => rmSync(folder, { recursive: true })],
    ['replaced by an empty file', (file) => replace(file, (other) => writeFileSync(other, ''))],
    ['replaced by a copy', (file) => replace(file, (other) => copyFileSync(file, other))],
  ])('because it was %s is noticed by the next read and write', async (_what, remove) => {
    const { file, folder, storage } = await opened()
    remove(file, folder)
    await expectAway(storage)
    await storage.close()
  })

  it('goes on when it is back, with everything that was acknowledged', async () => {
    const { file, storage } = await opened()
    renameSync(file, `${file}.away`)
    await expectAway(storage)
    renameSync(`${file}.away`, file)
    expect(await get(storage, tickets, 't1')).toEqual(ticket('t1'))
    await insertAll(storage, tickets, [ticket('t2')])
    await storage.close()
    const again = await sqliteStorage(file, { kinds: [tickets] })
    expect(await again.read(async (tx) => (await tx.collection(tickets).find()).totalCount)).toBe(2)
    await again.close()
  })

  it('as to its write-ahead log refuses until every connection has let go of it, and has lost nothing', async () => {
    const { file, storage } = await opened()
    const readAtOnce = () => Promise.allSettled(Array.from({ length: 4 }, () => storage.read(() => setTimeout(20))))
    await readAtOnce()
    unlinkSync(`${file}-wal`)
    const outcomes: unknown[] = []
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const one = insertAll(storage, tickets, [ticket(`w${attempt}`)]).then(() => `w${attempt}`)
      outcomes.push(await one.catch((error: { reason: string }) => error.reason))
      await lookingAgain()
      await readAtOnce()
    }
    expect(outcomes[0]).toBe('unreachable')
    expect(outcomes.at(-1)).toBe('w4')
    await storage.close()
    const again = await sqliteStorage(file, { kinds: [tickets] })
    const { items } = await again.read((tx) => tx.collection(tickets).find())
    const acknowledged = outcomes.filter((outcome) => outcome !== 'unreachable')
    expect(items.map(({ id }) => id).sort()).toEqual(['t1', ...acknowledged].sort())
    await again.close()
  })

  it('before a write commits is not acknowledged', async () => {
    const { file, storage } = await opened()
    const write = storage.write(async (tx) => {
      await tx.collection(tickets).insert(ticket('t2'))
      unlinkSync(file)
    })
    await expect(write).rejects.toMatchObject(AWAY)
    await storage.close()
  })

  it('is not made anew, and a restart makes one', async () => {
    const { file, storage } = await opened()
    unlinkSync(file)
    await expectAway(storage)
    await storage.close()
    const anew = await sqliteStorage(file, { kinds: [tickets] })
    expect(await get(anew, tickets, 't1')).toBeUndefined()
    await anew.close()
  })

  it('stays where it is for many processes and connections', async () => {
    const { file, storage } = await opened()
    for (let round = 0; round < 3; round += 1) {
      const other = await sqliteStorage(file, { kinds: [tickets] })
      await Promise.all(Array.from({ length: 20 }, (_, at) => insertAll(other, tickets, [ticket(`r${round}a${at}`)])))
      await Promise.all(Array.from({ length: 20 }, () => get(storage, tickets, 't1')))
      await insertAll(storage, tickets, [ticket(`r${round}`)])
      await other.close()
    }
    expect(await storage.read(async (tx) => (await tx.collection(tickets).find()).totalCount)).toBe(64)
    await storage.close()
  })
})

it('a controller whose file is gone answers 503 and logs an error', async () => {
  const file = join(directory, 'served.db')
  const logger = recordingLogger()
  const controller = await createTestController({ storage: await sqliteStorage(file), logger })
  const admin = await controller.asAdmin()
  await admin.call('POST /services', { body: { name: 'before', encryptionRequired: true } })
  unlinkSync(file)
  const create = admin.call('POST /services', { body: { name: 'nowhere', encryptionRequired: true } })
  await expect(create).rejects.toMatchObject({ status: 503 })
  await lookingAgain()
  await expect(admin.call('GET /services')).rejects.toMatchObject({ status: 503 })
  expect(logger.entries).toContainEqual({
    level: 'error',
    message: 'the storage is not available',
    fields: expect.objectContaining({
      reason: 'unreachable',
      error: expect.stringContaining('served.db was deleted, moved or replaced'),
    }),
  })
  await controller.close()
})
