import { expect, it } from 'vitest'
import { memoryStorage } from '../../adapters/memory/index.ts'
import { AccessFeed } from '../../src/access/access-feed.ts'
import type { Storage } from '../../src/index.ts'
import { EVENT_LOOP_TURNS } from '../../src/platform/system-runtime.ts'
import { RECORD_KINDS } from '../../src/storage.ts'

/** A store with one identity for each id, and one write for each. */
async function storeOf(...ids: readonly string[]): Promise<Storage> {
  const storage = memoryStorage()
  const identities = RECORD_KINDS.find(({ name }) => name === 'identities')
  if (identities === undefined) throw new Error('no identities')
  for (const id of ids) {
    const record = { id, name: id, roleAttributes: [], createdAt: 0, updatedAt: 0, tags: {} }
    await storage.write((tx) => tx.collection(identities).insert(record))
  }
  return storage
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('starts afresh when the store is restored to an earlier revision', async () => {
  let storage = await storeOf('a', 'b', 'c')
  const feed = new AccessFeed(EVENT_LOOP_TURNS, undefined, () => storage.read(async (tx) => tx.revision))
  const knows = (id: string) => storage.read(async (tx) => (await feed.at(tx)).has('identities', id))
  expect([await knows('a'), await knows('c')]).toEqual([true, true])
  storage = await storeOf('a', 'x')
  await knows('a')
  await turn()
  expect([await knows('a'), await knows('c'), await knows('x')]).toEqual([true, false, true])
})

it('keeps its index for a snapshot that only began early', async () => {
  const storage = await storeOf('a')
  let asked = 0
  const feed = new AccessFeed(EVENT_LOOP_TURNS, undefined, () => {
    asked += 1
    return storage.read(async (tx) => tx.revision)
  })
  const identities = RECORD_KINDS.find(({ name }) => name === 'identities')
  await storage.read(async (early) => {
    const record = { id: 'b', name: 'b', roleAttributes: [], createdAt: 0, updatedAt: 0, tags: {} }
    if (identities !== undefined) await storage.write((tx) => tx.collection(identities).insert(record))
    const index = await storage.read((tx) => feed.at(tx))
    expect(await feed.at(early)).toBe(index)
    await turn()
    expect(await storage.read((tx) => feed.at(tx))).toBe(index)
  })
  expect(asked).toBe(1)
})
