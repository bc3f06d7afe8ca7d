import { kyselyStorage } from 'portcullis/kysely'
import type { WriteTransaction } from 'portcullis/storage'
import { expect, it } from 'vitest'
import { get, insertAll, machine, machines, where } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'
import type { CachedDatabase } from './sql-cache.ts'

/** Declares the tests of reads inside writes, which the cache may answer: they see every commit and what the write did itself. */
export function describeCachedWrites(fresh: () => Promise<CachedDatabase>): void {
  async function watchedStorages() {
    const { dialect } = await fresh()
    const asked: string[] = []
    const watched = () =>
      watchedDialect(dialect(), ({ sql }) => void (sql.includes('contract_machines') && asked.push(sql)))
    const one = await kyselyStorage({ dialect: watched, kinds: [machines] })
    const two = await kyselyStorage({ dialect, kinds: [machines] })
    await insertAll(two, machines, [machine('m1', { owner: 'o', serial: 's' }), machine('m2')])
    return { one, two, asked, close: () => Promise.all([one.close(), two.close()]) }
  }
  const inEveryWay = async (tx: WriteTransaction) => {
    const collection = tx.collection(machines)
    const found = [
      await collection.get('m1'),
      await collection.get('m9'),
      (await collection.find({ where: where('serial = "s"') })).items[0],
      (await collection.find({ where: where('owner = "o"') })).items[0],
      (await collection.find({ where: where('id in ["m1", "m9"]') })).items[0],
    ]
    return found.map((one) => one?.cost)
  }

  it('reads inside a write what the cache holds, without a statement', async () => {
    const { one, asked, close } = await watchedStorages()
    await one.write(inEveryWay)
    asked.length = 0
    expect(await one.write(inEveryWay)).toEqual([0, undefined, 0, 0, 0])
    expect(asked).toEqual([])
    await close()
  })

  it('sees inside a write what another storage has just committed', async () => {
    const { one, two, close } = await watchedStorages()
    for (let cost = 1; cost <= 5; cost += 1) {
      await one.write(inEveryWay)
      await two.write((tx) => tx.collection(machines).update(machine('m1', { owner: 'o', serial: 's', cost })))
      expect(await one.write(inEveryWay)).toEqual([cost, undefined, cost, cost, cost])
    }
    await close()
  })

  it('sees what the write has done itself, and what the writes before it in one commit have done', async () => {
    const { one, close } = await watchedStorages()
    await one.write(inEveryWay)
    const raise = (cost: number) =>
      one.write(async (tx) => {
        const before = await inEveryWay(tx)
        await tx.collection(machines).update(machine('m1', { owner: 'o', serial: 's', cost }))
        return [before, await inEveryWay(tx)]
      })
    const results = await Promise.all([raise(1), raise(2), raise(3)])
    const all = (cost: number) => [cost, undefined, cost, cost, cost]
    expect(results).toEqual([0, 1, 2].map((cost) => [all(cost), all(cost + 1)]))
    expect(await one.write(inEveryWay)).toEqual(all(3))
    await close()
  })

  it('sees that a value has gone from one record to another in the same write', async () => {
    const { one, close } = await watchedStorages()
    await one.write(inEveryWay)
    const holders = await one.write(async (tx) => {
      const collection = tx.collection(machines)
      await collection.delete('m1')
      await collection.update(machine('m2', { owner: 'o', serial: 's' }))
      await collection.insert(machine('m9'))
      return [
        (await collection.find({ where: where('serial = "s"') })).items.map(({ id }) => id),
        (await collection.find({ where: where('owner = "o"') })).items.map(({ id }) => id),
        (await collection.find({ where: where('id in ["m1", "m9"]') })).items.map(({ id }) => id),
      ]
    })
    expect(holders).toEqual([['m2'], ['m2'], ['m9']])
    await close()
  })

  const WITH_INDEX = ['name', 'serial', 'owner', 'cost', 'active']
  it.each([
    ['none, where they stay as they are', { note: 'other', weight: 3, roles: ['r'] }, []],
    ['all, where a unique text changes', { serial: 't' }, WITH_INDEX],
    ['all, where a number changes', { cost: 7 }, WITH_INDEX],
    ['all, where a boolean changes', { active: true }, WITH_INDEX],
  ] as const)('writes indexed fields of a changed record: %s', async (_, change, written) => {
    const { one, two, asked, close } = await watchedStorages()
    const changed = machine('m1', { owner: 'o', serial: 's', ...change })
    await one.write((tx) => tx.collection(machines).update(changed))
    const [update = ''] = asked.filter((sql) => sql.startsWith('update'))
    const [named = ''] = update.split(' where ')
    expect(WITH_INDEX.filter((field) => named.includes(`"${field}" =`))).toEqual(written)
    expect(await get(two, machines, 'm1')).toEqual(changed)
    await close()
  })

  it('keeps nothing of a write that was rolled back', async () => {
    const { one, close } = await watchedStorages()
    await one.write(inEveryWay)
    const fail = one.write(async (tx) => {
      await tx.collection(machines).update(machine('m1', { cost: 9 }))
      await inEveryWay(tx)
      throw new Error('no')
    })
    await Promise.all([expect(fail).rejects.toThrow('no'), one.write(inEveryWay)])
    expect(await get(one, machines, 'm1')).toMatchObject({ cost: 0, owner: 'o' })
    expect(await one.write(inEveryWay)).toEqual([0, undefined, 0, 0, 0])
    await close()
  })
}
