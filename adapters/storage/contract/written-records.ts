import assert from 'node:assert/strict'
import { UniqueViolation, type WriteTransaction } from './core.ts'
import { contentOf, get, insertAll, machine, machines, ticket, tickets, where } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

const STEPS: readonly ((tx: WriteTransaction) => Promise<unknown>)[] = [
  (tx) => tx.collection(machines).insert(machine('new', { name: 'new' })),
  (tx) => tx.collection(machines).update(machine('m1', { name: 'renamed', serial: null })),
  (tx) => tx.collection(tickets).delete('t1'),
  (tx) => tx.collection(machines).delete('m2'),
  (tx) => tx.collection(tickets).insert(ticket('t2', { token: 'T-2' })),
]

async function withRecords(open: Suite['open']) {
  const storage = await open()
  await insertAll(storage, machines, [machine('m1', { serial: 'S-1' }), machine('m2', { serial: 'S-2' })])
  await insertAll(storage, tickets, [ticket('t1')])
  return storage
}

export function describeWrites(suite: Suite): void {
  describeAtomicWrites(suite)
  describeAnswersOfWrites(suite)
  describeWritesAfterFailures(suite)
}

function describeAtomicWrites({ it, open }: Suite): void {
  it('commits changes of several kinds together', async () => {
    const storage = await withRecords(open)
    await storage.write(async (tx) => {
      for (const step of STEPS) await step(tx)
    })
    assert.deepEqual(await get(storage, machines, 'new'), machine('new', { name: 'new' }))
    assert.deepEqual(await get(storage, machines, 'm1'), machine('m1', { name: 'renamed' }))
    assert.equal(await get(storage, machines, 'm2'), undefined)
    assert.equal(await get(storage, tickets, 't1'), undefined)
    assert.deepEqual(await get(storage, tickets, 't2'), ticket('t2', { token: 'T-2' }))
  })

  it.each([0, 1, 2, 3, 4, 5])('leaves nothing of a write that throws after %i changes', async (position) => {
    const storage = await withRecords(open)
    const before = await contentOf(storage)
    const failure = new Error('no further')
    const write = storage.write(async (tx) => {
      for (const step of STEPS.slice(0, position)) await step(tx)
      throw failure
    })
    await assert.rejects(write, (error) => error === failure)
    assert.deepEqual(await contentOf(storage), before)
    // Indexes are rolled back too: what was freed is taken again, what was taken is free.
    const again = storage.write((tx) => tx.collection(machines).insert(machine('other', { serial: 'S-1' })))
    await assert.rejects(again, UniqueViolation)
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
    assert.deepEqual(seen, {
      got: [machine('m1', { serial: 'S-9', owner: 'ann', cost: 7 }), undefined],
      all: ['m1', 'm3'],
      byUnique: ['m1'],
      byFreedUnique: [],
      byIndex: ['m1', 'm3'],
      byScan: ['m1', 'm3'],
    })
  })
}

function describeAnswersOfWrites({ it, open }: Suite): void {
  it('answers what the work answers', async () => {
    const storage = await open()
    assert.equal(await storage.write(async () => 'written'), 'written')
    assert.equal(await storage.read(async () => 'read'), 'read')
  })

  it('answers false to an update or a delete of what is not there', async () => {
    const storage = await open()
    await storage.write(async (tx) => {
      assert.equal(await tx.collection(machines).update(machine('m1')), false)
      assert.equal(await tx.collection(machines).delete('m1'), false)
      await tx.collection(machines).insert(machine('m1'))
      assert.equal(await tx.collection(machines).update(machine('m1', { cost: 1 })), true)
      assert.equal(await tx.collection(machines).delete('m1'), true)
      assert.equal(await tx.collection(machines).delete('m1'), false)
    })
    assert.equal(await get(storage, machines, 'm1'), undefined)
  })
}

function describeWritesAfterFailures({ it, open }: Suite): void {
  it('goes on after a violation that the work has caught', async () => {
    const storage = await withRecords(open)
    await storage.write(async (tx) => {
      await tx.collection(machines).insert(machine('m3'))
      await assert.rejects(tx.collection(machines).insert(machine('m4', { serial: 'S-1' })), UniqueViolation)
      await assert.rejects(tx.collection(machines).update(machine('m2', { serial: 'S-1' })), UniqueViolation)
      await tx.collection(machines).insert(machine('m5'))
    })
    const { items } = await storage.read((tx) => tx.collection(machines).find())
    assert.deepEqual(
      items.map(({ id, serial }) => [id, serial]),
      [
        ['m1', 'S-1'],
        ['m2', 'S-2'],
        ['m3', null],
        ['m5', null],
      ],
    )
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
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'fulfilled'),
      outcomes.map((_, index) => index % 2 === 1),
    )
    assert.equal((await storage.read((tx) => tx.collection(machines).find())).totalCount, 10)
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
    assert.equal(totalCount, 5000)
    assert.deepEqual(items, records)
    assert.equal((await storage.read((tx) => tx.changesSince(0)))?.length, 5000)
  })
}
