import { kyselyStorage } from 'portcullis/kysely'
import { expect, it } from 'vitest'
import {
  get,
  insertAll,
  machine,
  machines,
  signal,
  where,
} from '../../../adapters/storage/contract/kinds-of-records.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'
import type { CachedDatabase } from './sql-cache.ts'

const AGAIN = { mayBeginAgain: true }

/** Declares the tests of reads whose snapshot is put off: what they cost, and that they are never behind or mixed. */
export function describeDeferredReads(fresh: () => Promise<CachedDatabase>): void {
  async function watchedStorages() {
    const { dialect } = await fresh()
    const asked: string[] = []
    const watched = () => watchedDialect(dialect(), ({ sql }) => void asked.push(sql))
    const one = await kyselyStorage({ dialect: watched, kinds: [machines] })
    const two = await kyselyStorage({ dialect, kinds: [machines] })
    await insertAll(two, machines, [machine('m1', { owner: 'o' }), machine('m2')])
    return { one, two, asked, close: () => Promise.all([one.close(), two.close()]) }
  }
  const change = (id: string, cost: number) => machine(id, { cost })

  it('asks only where the database stands when the cache has everything, once for all that ask together', async () => {
    const { one, asked, close } = await watchedStorages()
    const read = () =>
      one.read(async (tx) => {
        const { items } = await tx.collection(machines).find({ where: where('owner = "o"') })
        return [await tx.collection(machines).get('m2'), items.length, await tx.changesSince(tx.revision)]
      }, AGAIN)
    await read()
    await read()
    asked.length = 0
    expect(await read()).toEqual([machine('m2'), 1, []])
    expect(asked).toEqual([expect.stringContaining('revision')])
    asked.length = 0
    const all = await Promise.all(Array.from({ length: 20 }, read))
    expect(all).toHaveLength(20)
    expect(asked).toHaveLength(1)
    await close()
  })

  it('never shares a look that began before the question', async () => {
    const { dialect } = await fresh()
    const [reached, resumed] = [signal(), signal()]
    let isPausing = false
    const paused = () =>
      watchedDialect(dialect(), async ({ sql }) => {
        if (!isPausing || !/^select revision, forgotten/.test(sql)) return
        isPausing = false
        reached.happen()
        await resumed.happened
      })
    const storage = await kyselyStorage({ dialect: paused, kinds: [machines] })
    const other = await kyselyStorage({ dialect, kinds: [machines] })
    await insertAll(storage, machines, [machine('m1')])
    const cost = async () => (await storage.read((tx) => tx.collection(machines).get('m1'), AGAIN))?.cost
    expect(await cost()).toBe(0)
    isPausing = true
    const early = cost()
    await reached.happened
    await other.write((tx) => tx.collection(machines).update(change('m1', 1)))
    const late = cost()
    resumed.happen()
    await early
    expect(await late).toBe(1)
    await storage.close()
    await other.close()
  })

  it('begins afresh when somebody writes between the look and the first miss, and mixes no two states', async () => {
    const { one, two, close } = await watchedStorages()
    await get(one, machines, 'm1')
    let runs = 0
    const seen = await one.read(async (tx) => {
      runs += 1
      const first = await tx.collection(machines).get('m1')
      if (runs === 1) {
        await two.write(async (write) => {
          await write.collection(machines).update(change('m1', 7))
          await write.collection(machines).update(change('m2', 7))
        })
      }
      const second = await tx.collection(machines).get('m2')
      return [first?.cost, second?.cost]
    }, AGAIN)
    expect([runs, seen]).toEqual([2, [7, 7]])
    await close()
  })

  it('begins afresh also where the work takes the refusal for an answer', async () => {
    const { one, two, close } = await watchedStorages()
    await get(one, machines, 'm1')
    let runs = 0
    const answer = await one.read(async (tx) => {
      runs += 1
      if (runs === 1) await two.write((write) => write.collection(machines).update(change('m2', 7)))
      const found = await tx
        .collection(machines)
        .get('m2')
        .catch(() => undefined)
      return found?.cost ?? 'nothing'
    }, AGAIN)
    expect([runs, answer]).toEqual([2, 7])
    await close()
  })

  it('keeps its snapshot from the first miss on, and gives its connection back', async () => {
    const { one, two, close } = await watchedStorages()
    await get(one, machines, 'm1')
    for (let round = 1; round <= 20; round += 1) {
      const seen = await one.read(async (tx) => {
        const before = await tx.collection(machines).findIds()
        await two.write((write) => write.collection(machines).update(change('m2', round)))
        const { items } = await tx.collection(machines).find()
        return [before.length, items[1]?.cost]
      }, AGAIN)
      expect(seen).toEqual([2, round - 1])
    }
    await close()
  })

  it('runs work once that did not say that it may begin again', async () => {
    const { one, two, close } = await watchedStorages()
    await get(one, machines, 'm1')
    let runs = 0
    const seen = await one.read(async (tx) => {
      runs += 1
      await two.write((write) => write.collection(machines).update(change('m2', 7)))
      return (await tx.collection(machines).get('m2'))?.cost
    })
    expect([runs, seen]).toEqual([1, 0])
    await close()
  })

  it('tells what its work throws, whether it asked the database or not', async () => {
    const { one, close } = await watchedStorages()
    await get(one, machines, 'm1')
    const refuse = async () => Promise.reject(new Error('refused'))
    await expect(one.read(refuse, AGAIN)).rejects.toThrow('refused')
    const asking = one.read(async (tx) => {
      await tx.collection(machines).findIds()
      return refuse()
    }, AGAIN)
    await expect(asking).rejects.toThrow('refused')
    let kept: Promise<unknown> = Promise.resolve()
    await one.read(async (tx) => {
      kept = Promise.resolve()
        .then(() => new Promise((resolve) => setTimeout(resolve, 5)))
        .then(() => tx.collection(machines).get('none'))
    }, AGAIN)
    await expect(kept).rejects.toThrow('transaction has ended')
    await close()
  })
}
