import { type KyselyStorageOptions, kyselyStorage } from 'portcullis/kysely'
import { expect, it } from 'vitest'
import { get, insertAll, type Machine, machine, machines } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'
import type { CachedDatabase } from './sql-cache.ts'

/** Declares the tests of how much a storage keeps in memory, by the statements that it takes to read. */
export function describeCacheRoom(fresh: () => Promise<CachedDatabase>): void {
  async function countedStorage(options: Partial<KyselyStorageOptions>) {
    const { dialect } = await fresh()
    const asked: string[] = []
    const watched = () =>
      watchedDialect(dialect(), ({ sql }) => void (sql.includes('contract_machines') && asked.push(sql)))
    const storage = await kyselyStorage({ ...options, kinds: [machines], dialect: watched })
    /** How many statements on machines it takes to read them. */
    const cost = async (...ids: readonly string[]) => {
      asked.length = 0
      for (const id of ids) await get(storage, machines, id)
      return asked.length
    }
    return { storage, cost }
  }
  const numbered = (count: number, fields: Partial<Machine> = {}) =>
    Array.from({ length: count }, (_, index) => machine(`m${index}`, fields))

  it('asks the database once for a record that is read again and again, and for an id that nobody has', async () => {
    const { storage, cost } = await countedStorage({})
    await insertAll(storage, machines, numbered(2))
    expect(await cost('m0', 'm1', 'none')).toBe(3)
    expect(await cost('m0', 'm1', 'none', 'm0', 'm1', 'none')).toBe(0)
    await storage.write((tx) => tx.collection(machines).update(machine('m0', { cost: 1 })))
    expect(await cost('m0', 'm1', 'none')).toBe(1)
    await storage.close()
  })

  it('keeps no more records than it may, and of those the ones that are read', async () => {
    const { storage, cost } = await countedStorage({ cachedRecords: 10 })
    await insertAll(storage, machines, numbered(100))
    await cost('m0')
    for (let index = 1; index < 100; index += 1) {
      await cost(`m${index}`)
      expect(await cost('m0')).toBe(0)
    }
    const again = await cost(...numbered(100).map(({ id }) => id))
    expect(again).toBeGreaterThanOrEqual(90)
    await storage.close()
  })

  it('counts a long record as several, and keeps none that is longer than everything it may keep', async () => {
    const { storage, cost } = await countedStorage({ cachedRecords: 10 })
    await insertAll(storage, machines, [
      ...numbered(4, { note: 'x'.repeat(4000) }),
      machine('huge', { note: 'x'.repeat(20_000) }),
    ])
    expect(await cost('m0', 'm1', 'm0', 'm1')).toBe(2)
    expect(await cost('huge', 'huge', 'm0', 'm1')).toBe(2)
    expect(await cost('m2', 'm3', 'm2', 'm3')).toBeGreaterThan(1)
    await storage.close()
  })

  it('keeps nothing when it may keep nothing', async () => {
    const { storage, cost } = await countedStorage({ cachedRecords: 0 })
    await insertAll(storage, machines, numbered(1))
    expect(await cost('m0', 'm0', 'm0')).toBe(3)
    await storage.close()
  })
}
