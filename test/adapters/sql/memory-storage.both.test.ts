import type { Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import {
  insertAll,
  machine,
  machines,
  ticket,
  tickets,
  where,
} from '../../../adapters/storage/contract/kinds-of-records.ts'
// Internals: the change feed of the memory storage, whose bound no storage shows.
import { ChangeFeed } from '../../../src/platform/memory/state.ts'
import { describeStorageContract } from '../../contract/storage.ts'

describeStorageContract('memory', async () => {
  const storage = memoryStorage()
  return { storage, dispose: () => storage.close() }
})

describe('memory storage', () => {
  it('throws when a write begins inside a write, which would wait for itself', async () => {
    const storage = memoryStorage()
    const nested = storage.write(() => storage.write(async () => 'never'))
    await expect(nested).rejects.toThrow('inside another write')
    const other = memoryStorage()
    expect(await storage.write(() => other.write(async () => 'another storage'))).toBe('another storage')
  })

  it('lets work that a write has set off write later', async () => {
    const storage = memoryStorage()
    const later = await storage.write(async (tx) => {
      await tx.collection(tickets).insert(ticket('t1'))
      const delayed = new Promise((resolve) => setTimeout(resolve, 1))
      return { written: delayed.then(() => storage.write((next) => next.collection(tickets).delete('t1'))) }
    })
    expect(await later.written).toBe(true)
  })

  it('refuses a kind whose unique field holds a list', async () => {
    const storage = memoryStorage()
    const unsound = { ...machines, unique: ['roles'] }
    const insert = storage.write((tx) => tx.collection(unsound).insert(machine('m1')))
    await expect(insert).rejects.toThrow('contract-machines.roles cannot be unique')
  })

  const slow = () => {
    const words = Array.from({ length: 60 }, (_, index) => `name contains "no such word ${index}"`)
    return { where: where(`not (${words.join(' or ')})`) }
  }

  async function withMany() {
    const storage = memoryStorage()
    const records = Array.from({ length: 20_000 }, (_, index) => machine(`m${index}`, { name: `number ${index}` }))
    await insertAll(storage, machines, records)
    return storage
  }

  it('gives way to others during a long scan, and still answers from its snapshot', async () => {
    const storage = await withMany()
    let turns = 0
    let isScanning = true
    const count = () => {
      turns += 1
      if (isScanning) setImmediate(count)
    }
    setImmediate(count)
    const scan = storage.read((tx) => tx.collection(machines).find(slow()))
    await storage.write((tx) => tx.collection(machines).delete('m19999'))
    const { totalCount } = await scan
    isScanning = false
    expect(totalCount).toBe(20_000)
    expect(turns).toBeGreaterThan(2)
  })

  it('answers a long scan inside a write as of its beginning, whatever the write changes meanwhile', async () => {
    const storage = await withMany()
    const { totalCount } = await storage.write(async (tx) => {
      const collection = tx.collection(machines)
      await collection.insert(machine('first'))
      const scan = collection.find(slow())
      for (let index = 10_000; index < 20_000; index += 1) await collection.delete(`m${index}`)
      return scan
    })
    expect(totalCount).toBe(20_001)
  })
})

describeStorageContract('memory, a fork', async () => {
  const storage = memoryStorage().fork()
  return { storage, dispose: () => storage.close() }
})

describe('a fork', () => {
  const idsIn = async (storage: Storage) =>
    (await storage.read((tx) => tx.collection(tickets).find())).items.map(({ id }) => id)

  const insert = (storage: Storage, id: string) => storage.write((tx) => tx.collection(tickets).insert(ticket(id)))

  it('begins with what was committed, and goes its own way', async () => {
    const origin = memoryStorage()
    await insert(origin, 'both')
    const fork = origin.fork()
    await insert(origin, 'origin')
    await insert(fork, 'fork')
    await fork.write((tx) => tx.collection(tickets).update(ticket('both', { uses: 9 })))
    expect(await idsIn(origin)).toEqual(['both', 'origin'])
    expect(await idsIn(fork)).toEqual(['both', 'fork'])
    const kept = await origin.read((tx) => tx.collection(tickets).get('both'))
    expect(kept).toEqual(ticket('both'))
  })

  it('tells the changes since it began, and no earlier ones', async () => {
    const origin = memoryStorage()
    await insert(origin, 'first')
    const fork = origin.fork()
    await insert(fork, 'second')
    const [all, own] = await fork.read(async (tx) => [await tx.changesSince(0), await tx.changesSince(1)])
    expect(all).toBeUndefined()
    expect(own).toMatchObject([{ id: 'second' }])
  })

  it('is kept by a snapshot until the next one', async () => {
    const storage = memoryStorage()
    expect(storage.lastSnapshot).toBeUndefined()
    await insert(storage, 'before')
    await storage.snapshot()
    await insert(storage, 'after')
    const { lastSnapshot } = storage
    expect(lastSnapshot && (await idsIn(lastSnapshot))).toEqual(['before'])
    await storage.snapshot()
    expect(storage.lastSnapshot && (await idsIn(storage.lastSnapshot))).toEqual(['after', 'before'])
  })
})

describe('change feed of the memory storage', () => {
  const changes = (revision: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      revision,
      kind: 'kind',
      id: `${revision}.${index}`,
      operation: 'insert' as const,
    }))

  function feedOf(capacity: number, ...sizes: readonly number[]) {
    const feed = new ChangeFeed(capacity, { revision: 0 })
    for (const [index, size] of sizes.entries()) feed.append(changes(index + 1, size), { revision: index + 1 })
    return (since: number, upTo = sizes.length) => feed.between(since, upTo)?.map(({ id }) => id)
  }

  it.each<[string, number, readonly number[], number, readonly string[] | undefined]>([
    ['all while there is room', 4, [1, 2, 1], 0, ['1.0', '2.0', '2.1', '3.0']],
    ['what follows a revision', 4, [1, 2, 1], 1, ['2.0', '2.1', '3.0']],
    ['nothing after the last revision', 4, [1, 2, 1], 3, []],
    ['undefined beyond the last revision', 4, [1, 2, 1], 4, undefined],
    ['undefined when the oldest are forgotten', 3, [1, 2, 1], 0, undefined],
    ['all that follows what is forgotten', 3, [1, 2, 1], 1, ['2.0', '2.1', '3.0']],
    ['undefined when a part of a revision is forgotten', 2, [1, 2, 1], 1, undefined],
    ['what follows a revision of which a part is forgotten', 2, [1, 2, 1], 2, ['3.0']],
    ['undefined before a write larger than the feed', 2, [1, 5], 1, undefined],
    ['nothing after a write larger than the feed', 2, [1, 5], 2, []],
    ['the latest of many', 2, Array.from({ length: 50 }, () => 1), 48, ['49.0', '50.0']],
    ['undefined long before the latest of many', 2, Array.from({ length: 50 }, () => 1), 47, undefined],
  ])('tells %s', (_, capacity, sizes, since, expected) => {
    expect(feedOf(capacity, ...sizes)(since)).toEqual(expected)
  })

  it('forgets the lines of revisions with their changes, but that of the last forgotten one', () => {
    const feed = new ChangeFeed(2, { revision: 0, line: 'l0' })
    for (let revision = 1; revision <= 5; revision += 1)
      feed.append(changes(revision, 1), { revision, line: `l${revision}` })
    expect([3, 4, 5].map((since) => feed.between(since, 5, `l${since}`)?.length)).toEqual([2, 1, 0])
    expect([2, 3, 4].map((since) => feed.between(since, 5, 'another'))).toEqual([undefined, undefined, undefined])
  })

  it('tells a snapshot nothing of later commits', () => {
    expect(feedOf(10, 1, 1, 1)(0, 2)).toEqual(['1.0', '2.0'])
    expect(feedOf(10, 1, 1, 1)(3, 2)).toBeUndefined()
  })

  it('remembers 100,000 changes', async () => {
    const storage = memoryStorage()
    await storage.write((tx) => tx.collection(tickets).insert(ticket('first')))
    const records = Array.from({ length: 100_000 }, (_, index) => ticket(`t${index}`))
    await insertAll(storage, tickets, records)
    const [before, after] = await storage.read(async (tx) => [await tx.changesSince(0), await tx.changesSince(1)])
    expect(before).toBeUndefined()
    expect(after).toHaveLength(100_000)
  })
})
