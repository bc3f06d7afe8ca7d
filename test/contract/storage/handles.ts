import { expect, it } from 'vitest'
import type { ReadTransaction, WriteTransaction } from '../../../src/ports/storage.ts'
import { machine, machines, type OpenStorage } from './kinds.ts'

const ENDED = /transaction has ended/

const READS: readonly [string, (tx: ReadTransaction) => Promise<unknown>][] = [
  ['collection', async (tx) => tx.collection(machines)],
  ['changesSince', (tx) => tx.changesSince(0)],
]

export function describeHandles(open: OpenStorage): void {
  it.each(READS)('refuses %s of a read that has ended', async (_, use) => {
    const storage = await open()
    const tx = await storage.read(async (handle) => handle)
    await expect(use(tx)).rejects.toThrow(ENDED)
  })

  it.each(READS)('refuses %s of a write that was committed', async (_, use) => {
    const storage = await open()
    const tx = await storage.write(async (handle) => handle)
    await expect(use(tx)).rejects.toThrow(ENDED)
  })

  it.each(READS)('refuses %s of a write that was rolled back', async (_, use) => {
    const storage = await open()
    const handles: WriteTransaction[] = []
    const write = storage.write(async (tx) => {
      handles.push(tx)
      throw new Error('rolled back')
    })
    await expect(write).rejects.toThrow('rolled back')
    for (const tx of handles) await expect(use(tx)).rejects.toThrow(ENDED)
    expect(handles).toHaveLength(1)
  })

  it('refuses a collection of a transaction that has ended, and changes nothing', async () => {
    const storage = await open()
    const collection = await storage.write(async (tx) => tx.collection(machines))
    await expect(collection.insert(machine('m1'))).rejects.toThrow(ENDED)
    await expect(collection.update(machine('m1'))).rejects.toThrow(ENDED)
    await expect(collection.delete('m1')).rejects.toThrow(ENDED)
    await expect(collection.get('m1')).rejects.toThrow(ENDED)
    await expect(collection.find()).rejects.toThrow(ENDED)
    expect((await storage.read((tx) => tx.collection(machines).find())).items).toEqual([])
  })

  it('finishes the writes that it accepted before it closes, then refuses', async () => {
    const storage = await open()
    const accepted = storage.write(async (tx) => {
      await tx.collection(machines).insert(machine('m1'))
      return 'written'
    })
    await storage.close()
    expect(await accepted).toBe('written')
    await expect(storage.read(async () => 'read')).rejects.toThrow(/closed/)
    await expect(storage.write(async () => 'written')).rejects.toThrow(/closed/)
  })
}
