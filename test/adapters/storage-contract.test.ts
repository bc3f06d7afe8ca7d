import { AssertionError } from 'node:assert'
import { memoryStorage } from 'portcullis/memory'
import type { Collection, RecordKind, Storage, StoredRecord, WriteTransaction } from 'portcullis/storage'
import { storageContract } from 'portcullis/storage/contract'
import { describe, expect, it } from 'vitest'

/** A good storage whose transactions are spoilt. */
function spoilt(spoil: (tx: WriteTransaction) => WriteTransaction): Storage {
  const storage = memoryStorage()
  return {
    read: (work) => storage.read((tx) => work(spoil(tx as WriteTransaction))),
    write: (work) => storage.write((tx) => work(spoil(tx))),
    close: () => storage.close(),
  }
}

function withCollections(tx: WriteTransaction, change: <T extends StoredRecord>(good: Collection<T>) => Collection<T>) {
  return {
    revision: tx.revision,
    line: tx.line,
    changesSince: (revision: number, line?: string) => tx.changesSince(revision, line),
    collection: <T extends StoredRecord>(kind: RecordKind<T>) => change(tx.collection(kind)),
  }
}

/** The cases that a storage fails, as `group: name`. */
async function failures(storage: () => Storage, groups: readonly string[]): Promise<readonly string[]> {
  const cases = storageContract(async () => ({ storage: storage(), dispose: async () => undefined }), { histories: 20 })
  const failed: string[] = []
  for (const { group, name, run } of cases.filter((one) => groups.includes(one.group))) {
    await run().catch(() => failed.push(`${group}: ${name}`))
  }
  return failed
}

describe('the storage contract', () => {
  it('finds a feed that answers readers who are ahead', async () => {
    const storage = () => spoilt((tx) => ({ ...withCollections(tx, (good) => good), changesSince: async () => [] }))
    expect(await failures(storage, ['change feed'])).toContain(
      'change feed: sends a reader who is ahead of the snapshot back to the start',
    )
  })

  it('finds an update that says yes to what is not there', async () => {
    const storage = () =>
      spoilt((tx) =>
        withCollections(tx, (good) => ({ ...good, update: async (record) => good.update(record).then(() => true) })),
      )
    const failed = await failures(storage, ['writes', 'random histories'])
    expect(failed).toEqual([
      'writes: answers false to an update or a delete of what is not there',
      'random histories: does in 20 random histories what a plain map does',
    ])
  })

  it('finds a page that counts what it shows', async () => {
    const storage = () =>
      spoilt((tx) =>
        withCollections(tx, (good) => ({
          ...good,
          find: async (query) => {
            const { items } = await good.find(query)
            return { items, totalCount: items.length }
          },
        })),
      )
    const failed = await failures(storage, ['find in order, by page'])
    expect(failed).toContain('find in order, by page: answers a page of limit 2, counting all that matches')
    expect(failed).not.toContain('find in order, by page: answers a page of everything, counting all that matches')
  })

  it('names the seed of a history that goes wrong, and plays it again', async () => {
    const storage = () =>
      spoilt((tx) =>
        withCollections(tx, (good) => ({ ...good, delete: async (id) => good.delete(id).then(() => false) })),
      )
    const played = (seed: number, histories: number) =>
      storageContract(async () => ({ storage: storage(), dispose: async () => undefined }), { seed, histories })
        .at(-1)
        ?.run()
        .then(
          () => 'nothing failed',
          (error: unknown) => error,
        )
    const found = await played(1, 20)
    expect(found).toMatchObject({
      message: expect.stringMatching(/^the history of seed \d+ /),
      cause: expect.any(AssertionError),
    })
    const seed = Number(/seed (\d+)/.exec(String(found))?.[1])
    expect(await played(seed, 1)).toMatchObject({ message: Reflect.get(Object(found), 'message') })
  })

  it('has no two cases of one name', () => {
    const names = storageContract(() => Promise.reject(new Error('not opened'))).map(
      ({ group, name }) => `${group}: ${name}`,
    )
    expect(new Set(names).size).toBe(names.length)
  })
})
