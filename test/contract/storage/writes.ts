import { expect, it } from 'vitest'
import { UniqueViolation, type WriteTransaction } from '../../../src/ports/storage.ts'
import { contentOf, get, insertAll, machine, machines, type OpenStorage, ticket, tickets, where } from './kinds.ts'

const STEPS: readonly ((tx: WriteTransaction) => Promise<unknown>)[] = [
  (tx) => tx.collection(machines).insert(machine('new', { name: 'new' })),
  (tx) => tx.collection(machines).update(machine('m1', { name: 'renamed', serial: null })),
  (tx) => tx.collection(tickets).delete('t1'),
  (tx) => tx.collection(machines).delete('m2'),
  (tx) => tx.collection(tickets).insert(ticket('t2', { token: 'T-2' })),
]

async function withRecords(open: OpenStorage) {
  const storage = await open()
  await insertAll(storage, machines, [machine('m1', { serial: 'S-1' }), machine('m2', { serial: 'S-2' })])
  await insertAll(storage, tickets, [ticket('t1')])
  return storage
}

export function describeWrites(open: OpenStorage): void {
  it('commits changes of several kinds together', async () => {
    const storage = await withRecords(open)
    await storage.write(async (tx) => {
      for (const step of STEPS) await step(tx)
    })
    expect(await get(storage, machines, 'new')).toEqual(machine('new', { name: 'new' }))
    expect(await get(storage, machines, 'm1')).toEqual(machine('m1', { name: 'renamed' }))
    expect(await get(storage, machines, 'm2')).toBeUndefined()
    expect(await get(storage, tickets, 't1')).toBeUndefined()
    expect(await get(storage, tickets, 't2')).toEqual(ticket('t2', { token: 'T-2' }))
  })

  it.each([0, 1, 2, 3, 4, 5])('leaves nothing of a write that throws after %i changes', async (position) => {
    const storage = await withRecords(open)
    const before = await contentOf(storage)
    const failure = new Error('no further')
    const write = storage.write(async (tx) => {
      for (const step of STEPS.slice(0, position)) await step(tx)
      throw failure
    })
    await expect(write).rejects.toBe(failure)
    expect(await contentOf(storage)).toEqual(before)
    // Indexes are rolled back too: what was freed is taken again, what was taken is free.
    const again = storage.write((tx) => tx.collection(machines).insert(machine('other', { serial: 'S-1' })))
    await expect(again).rejects.toThrow(UniqueViolation)
    await storage.write((tx) => tx.collection(machines).insert(machine('new', { name: 'new' })))
  })

  it('shows a write its own changes, however it looks for them', async () => {
    const storage = await withRecords(open)
    const seen = await storage.write(async (tx) => {
      const collection = tx.collection(machines)
      await collection.insert(machine('m3', { serial: 'S-3', owner: 'ann', cost: 7 }))
      await collection.update(machine('m1', { serial: 'S-9', owner: 'ann', cost: 7 }))
      await collection.delete('m2')
      const find = async (text: string) => {
        const { items } = await collection.find({ where: where(text) })
        return items.map(({ id }) => id)
      }
      return {
        got: [await collection.get('m1'), await collection.get('m2')],
        all: (await collection.find()).items.map(({ id }) => id),
        byUnique: await find('serial = "S-9"'),
        byFreedUnique: await find('serial in ["S-1", "S-2"]'),
        byIndex: await find('owner = "ann"'),
        byScan: await find('cost > 6'),
      }
    })
    expect(seen).toEqual({
      got: [machine('m1', { serial: 'S-9', owner: 'ann', cost: 7 }), undefined],
      all: ['m1', 'm3'],
      byUnique: ['m1'],
      byFreedUnique: [],
      byIndex: ['m1', 'm3'],
      byScan: ['m1', 'm3'],
    })
  })

  it('answers what the work answers', async () => {
    const storage = await open()
    expect(await storage.write(async () => 'written')).toBe('written')
    expect(await storage.read(async () => 'read')).toBe('read')
  })

  it('answers false to an update or a delete of what is not there', async () => {
    const storage = await open()
    await storage.write(async (tx) => {
      expect(await tx.collection(machines).update(machine('m1'))).toBe(false)
      expect(await tx.collection(machines).delete('m1')).toBe(false)
      await tx.collection(machines).insert(machine('m1'))
      expect(await tx.collection(machines).update(machine('m1', { cost: 1 }))).toBe(true)
      expect(await tx.collection(machines).delete('m1')).toBe(true)
      expect(await tx.collection(machines).delete('m1')).toBe(false)
    })
    expect(await get(storage, machines, 'm1')).toBeUndefined()
  })

  it('goes on after a violation that the work has caught', async () => {
    const storage = await withRecords(open)
    await storage.write(async (tx) => {
      await tx.collection(machines).insert(machine('m3'))
      await expect(tx.collection(machines).insert(machine('m4', { serial: 'S-1' }))).rejects.toThrow(UniqueViolation)
      await expect(tx.collection(machines).update(machine('m2', { serial: 'S-1' }))).rejects.toThrow(UniqueViolation)
      await tx.collection(machines).insert(machine('m5'))
    })
    const { items } = await storage.read((tx) => tx.collection(machines).find())
    expect(items.map(({ id, serial }) => [id, serial])).toEqual([
      ['m1', 'S-1'],
      ['m2', 'S-2'],
      ['m3', null],
      ['m5', null],
    ])
  })

  it('lets the writes behind a failing one go on', async () => {
    const storage = await open()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, position) =>
        storage.write(async (tx) => {
          await tx.collection(machines).insert(machine(`m${position}`))
          if (position % 2 === 0) throw new Error(`write ${position} fails`)
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(outcomes.map((_, index) => index % 2 === 1))
    expect((await storage.read((tx) => tx.collection(machines).find())).totalCount).toBe(10)
  })

  it('takes 5,000 inserts in one write', async () => {
    const storage = await open()
    const records = Array.from({ length: 5000 }, (_, index) =>
      machine(`m${String(index).padStart(4, '0')}`, {
        serial: `S-${index}`,
        owner: `owner ${index % 50}`,
        cost: index,
      }),
    )
    await insertAll(storage, machines, records)
    const { items, totalCount } = await storage.read((tx) => tx.collection(machines).find())
    expect(totalCount).toBe(5000)
    expect(items).toEqual(records)
    expect(await storage.read((tx) => tx.changesSince(0))).toHaveLength(5000)
  })
}
