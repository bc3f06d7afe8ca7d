import type { Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { RECORD_KINDS } from 'portcullis/storage'
import { expect, it } from 'vitest'
// Internals: the index behind decisions, compared with an oracle step by step.
import { AccessFeed } from '../../src/access/access-feed.ts'
import { createLoopTurns } from '../../src/platform/system-runtime.ts'

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

/** No policy of these stores has a term. */
const TERMS = { now: () => 0, due: () => undefined }

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('starts afresh when the store is restored to an earlier revision', async () => {
  let storage = await storeOf('a', 'b', 'c')
  const feed = new AccessFeed(createLoopTurns(), TERMS, undefined, () =>
    storage.read(async ({ revision, line }) => ({ revision, line })),
  )
  const knows = (id: string) => storage.read(async (tx) => (await feed.at(tx)).has('identities', id))
  expect([await knows('a'), await knows('c')]).toEqual([true, true])
  storage = await storeOf('a', 'x')
  await knows('a')
  await turn()
  expect([await knows('a'), await knows('c'), await knows('x')]).toEqual([true, false, true])
})

it('starts afresh when the store lost commits and counted them again', async () => {
  const feed = new AccessFeed(createLoopTurns(), TERMS)
  const known = async (storage: Storage, id: string) =>
    storage.read(async (tx) => (await feed.at(tx)).has('identities', id))
  const [lost, found, further] = [await storeOf('a', 'b'), await storeOf('a', 'x'), await storeOf('a', 'y', 'z')]
  expect([await known(lost, 'b'), await known(lost, 'x')]).toEqual([true, false])
  expect([await known(found, 'b'), await known(found, 'x')]).toEqual([false, true])
  expect([await known(further, 'x'), await known(further, 'y'), await known(further, 'z')]).toEqual([false, true, true])
})

it('keeps its index for a snapshot that only began early', async () => {
  const storage = await storeOf('a')
  let asked = 0
  const feed = new AccessFeed(createLoopTurns(), TERMS, undefined, () => {
    asked += 1
    return storage.read(async ({ revision, line }) => ({ revision, line }))
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
