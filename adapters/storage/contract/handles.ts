import assert from 'node:assert/strict'
import { type ReadTransaction, StorageUnavailable, type WriteTransaction } from './core.ts'
import { machine, machines } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

const ENDED = /transaction has ended/

const READS: readonly [string, (tx: ReadTransaction) => Promise<unknown>][] = [
  ['collection', async (tx) => tx.collection(machines)],
  ['changesSince', (tx) => tx.changesSince(0)],
]

export function describeHandles({ it, open }: Suite): void {
  it.each(READS)('refuses %s of a read that has ended', async ([_, use]) => {
    const storage = await open()
    const tx = await storage.read(async (handle) => handle)
    await assert.rejects(use(tx), ENDED)
  })

  it.each(READS)('refuses %s of a write that was committed', async ([_, use]) => {
    const storage = await open()
    const tx = await storage.write(async (handle) => handle)
    await assert.rejects(use(tx), ENDED)
  })

  it.each(READS)('refuses %s of a write that was rolled back', async ([_, use]) => {
    const storage = await open()
    const handles: WriteTransaction[] = []
    const write = storage.write(async (tx) => {
      handles.push(tx)
      throw new Error('rolled back')
    })
    await assert.rejects(write, /rolled back/)
    for (const tx of handles) await assert.rejects(use(tx), ENDED)
    assert.equal(handles.length, 1)
  })

  it('refuses a collection of a transaction that has ended, and changes nothing', async () => {
    const storage = await open()
    const collection = await storage.write(async (tx) => tx.collection(machines))
    await assert.rejects(collection.insert(machine('m1')), ENDED)
    await assert.rejects(collection.update(machine('m1')), ENDED)
    await assert.rejects(collection.delete('m1'), ENDED)
    await assert.rejects(collection.get('m1'), ENDED)
    await assert.rejects(collection.find(), ENDED)
    await assert.rejects(async () => {
      for await (const _ of collection.scan([])) assert.fail('a transaction that has ended is scanned')
    }, ENDED)
    assert.deepEqual((await storage.read((tx) => tx.collection(machines).find())).items, [])
  })

  it('finishes the writes that it accepted before it closes, then refuses', async () => {
    const storage = await open()
    const accepted = storage.write(async (tx) => {
      await tx.collection(machines).insert(machine('m1'))
      return 'written'
    })
    await storage.close()
    assert.equal(await accepted, 'written')
    const closed = (error: unknown) => error instanceof StorageUnavailable && error.reason === 'closed'
    await assert.rejects(
      storage.read(async () => 'read'),
      closed,
    )
    await assert.rejects(
      storage.write(async () => 'written'),
      closed,
    )
  })
}
