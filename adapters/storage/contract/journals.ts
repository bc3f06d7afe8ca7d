import assert from 'node:assert/strict'
import { equals } from './core.ts'
import { type Entry, entries, get, insertAll } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

function entry(id: string, about: string): Entry {
  return { id, about, place: Number(id.slice(1)), content: { 'Who?': 'Ann', deep: [1, { two: null }] } }
}

const BY_ID_DOWN = [{ field: 'id', kind: 'string', direction: 'desc' }] as const

export function describeJournals({ it, open }: Suite): void {
  it('finds what a write adds within that write, and after it', async () => {
    const storage = await open()
    await insertAll(storage, entries, [entry('e1', 'Web')])
    const found = await storage.write(async (tx) => {
      const collection = tx.collection(entries)
      await collection.insert(entry('e2', 'Web'))
      await collection.insert(entry('e3', 'Wiki'))
      return (await collection.find({ where: equals('about', 'Web') })).items.map(({ id }) => id)
    })
    assert.deepEqual(found.toSorted(), ['e1', 'e2'])
    assert.deepEqual(await get(storage, entries, 'e3'), entry('e3', 'Wiki'))
    const last = await storage.read((tx) => tx.collection(entries).findIds({ orderBy: BY_ID_DOWN, limit: 2 }))
    assert.deepEqual(last, ['e3', 'e2'])
  })

  it('keeps nothing of a write that throws, and all of those beside it', async () => {
    const storage = await open()
    const write = (id: string, fails: boolean) =>
      storage.write(async (tx) => {
        await tx.collection(entries).insert(entry(id, 'Web'))
        if (fails) throw new Error('no further')
      })
    await Promise.allSettled(Array.from({ length: 12 }, (_, at) => write(`e${at}`, at % 3 === 0)))
    const kept = await storage.read((tx) => tx.collection(entries).findIds())
    assert.deepEqual(kept.toSorted(), ['e1', 'e10', 'e11', 'e2', 'e4', 'e5', 'e7', 'e8'])
  })

  it('lets go of what is removed', async () => {
    const storage = await open()
    await insertAll(storage, entries, [entry('e1', 'Web'), entry('e2', 'Web')])
    assert.equal(await storage.write((tx) => tx.collection(entries).delete('e1')), true)
    assert.equal(await storage.write((tx) => tx.collection(entries).delete('e1')), false)
    assert.deepEqual(await storage.read((tx) => tx.collection(entries).findIds()), ['e2'])
  })
}
