import assert from 'node:assert/strict'
import type { ReadTransaction } from './core.ts'
import { insertAll, machine, machines, signal, ticket, tickets } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

async function look(tx: ReadTransaction) {
  return {
    revision: tx.revision,
    changes: await tx.changesSince(0),
    m1: await tx.collection(machines).get('m1'),
    machines: (await tx.collection(machines).find()).items,
    tickets: (await tx.collection(tickets).find()).totalCount,
  }
}

export function describeSnapshots({ it, open }: Suite): void {
  it('shows a read one state from beginning to end, while a write commits and new reads see it', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1', { cost: 1 }), machine('m2')])
    const begun = signal()
    const written = signal()
    const reading = storage.read(async (tx) => {
      const before = await look(tx)
      begun.happen()
      await written.happened
      return { before, after: await look(tx) }
    })
    await begun.happened
    await storage.write(async (tx) => {
      await tx.collection(machines).update(machine('m1', { cost: 2 }))
      await tx.collection(machines).delete('m2')
      await tx.collection(machines).insert(machine('m3'))
      await tx.collection(tickets).insert(ticket('t1'))
    })
    const fresh = await storage.read(look)
    written.happen()

    const { before, after } = await reading
    assert.deepEqual(before.machines, [machine('m1', { cost: 1 }), machine('m2')])
    assert.deepEqual(after, before)
    assert.deepEqual(fresh.machines, [machine('m1', { cost: 2 }), machine('m3')])
    assert.equal(fresh.tickets, 1)
    assert.equal(fresh.revision, before.revision + 1)
  })

  it('shows no read what a write has not committed yet, and the write is not disturbed', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1', { cost: 1 })])
    const begun = signal()
    const looked = signal()
    const writing = storage.write(async (tx) => {
      await tx.collection(machines).update(machine('m1', { cost: 2 }))
      begun.happen()
      await looked.happened
      return tx.collection(machines).get('m1')
    })
    await begun.happened
    assert.deepEqual((await storage.read(look)).m1, machine('m1', { cost: 1 }))
    looked.happen()
    assert.deepEqual(await writing, machine('m1', { cost: 2 }))
    assert.deepEqual((await storage.read(look)).m1, machine('m1', { cost: 2 }))
  })

  it('never shows half of a write: a sum that writes keep is the same in every read', async () => {
    const storage = await open()
    await insertAll(storage, tickets, [ticket('from', { uses: 100 }), ticket('to', { uses: 0 })])
    const move = () =>
      storage.write(async (tx) => {
        const collection = tx.collection(tickets)
        const { items } = await collection.find()
        for (const item of items) await collection.update({ ...item, uses: item.uses + (item.id === 'to' ? 1 : -1) })
      })
    const sum = () =>
      storage.read(async (tx) => {
        const from = await tx.collection(tickets).get('from')
        await new Promise((resolve) => setImmediate(resolve))
        const to = await tx.collection(tickets).get('to')
        return (from?.uses ?? 0) + (to?.uses ?? 0)
      })
    const work = Array.from({ length: 50 }, () => [move(), sum()] as const)
    const sums = await Promise.all(work.map(([, read]) => read))
    await Promise.all(work.map(([write]) => write))
    assert.deepEqual(new Set(sums), new Set([100]))
    assert.equal((await storage.read((tx) => tx.collection(tickets).get('to')))?.uses, 50)
  })
}
