import assert from 'node:assert/strict'
import type { Change, HistoryPoint, Storage } from './core.ts'
import { insertAll, machine, machines, ticket, tickets } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

function revisionOf(storage: Storage) {
  return storage.read(async (tx) => tx.revision)
}
function placeOf(storage: Storage): Promise<HistoryPoint> {
  return storage.read(async ({ revision, line }) => ({ revision, line }))
}
async function lineOf(storage: Storage) {
  return (await placeOf(storage)).line
}
function changesSince(storage: Storage, revision: number, line?: string) {
  return storage.read((tx) => tx.changesSince(revision, line))
}
function entry(revision: number, kind: { readonly name: string }, id: string, operation: Change['operation']) {
  return { revision, kind: kind.name, id, operation }
}

export function describeChangeFeed(suite: Suite): void {
  describeRevisions(suite)
  describeLines(suite)
}

function describeRevisions({ it, open }: Suite): void {
  it('begins at revision 0 with nothing', async () => {
    const storage = await open()
    assert.equal(await revisionOf(storage), 0)
    assert.deepEqual(await changesSince(storage, 0), [])
  })

  it('tells every change in order, those of one write under one revision', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('b'), machine('a')])
    await storage.write(async (tx) => {
      await tx.collection(tickets).insert(ticket('t'))
      await tx.collection(machines).update(machine('a', { cost: 1 }))
      await tx.collection(machines).delete('b')
    })
    const first = [entry(1, machines, 'b', 'insert'), entry(1, machines, 'a', 'insert')]
    const second = [
      entry(2, tickets, 't', 'insert'),
      entry(2, machines, 'a', 'update'),
      entry(2, machines, 'b', 'delete'),
    ]
    assert.deepEqual(await changesSince(storage, 0), [...first, ...second])
    assert.deepEqual(await changesSince(storage, 1), second)
    assert.deepEqual(await changesSince(storage, 2), [])
    assert.equal(await revisionOf(storage), 2)
  })

  it('tells nothing of a write that was rolled back, and does not count it', async () => {
    const storage = await open()
    const write = storage.write(async (tx) => {
      await tx.collection(machines).insert(machine('m1'))
      throw new Error('rolled back')
    })
    await assert.rejects(write, /rolled back/)
    assert.equal(await revisionOf(storage), 0)
    await insertAll(storage, machines, [machine('m2')])
    assert.deepEqual(await changesSince(storage, 0), [entry(1, machines, 'm2', 'insert')])
  })

  it('does not count a write that changed nothing', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1')])
    await storage.write(async (tx) => {
      await tx.collection(machines).get('m1')
      await tx.collection(machines).update(machine('absent'))
      await tx.collection(machines).delete('absent')
      await assert.rejects(tx.collection(machines).insert(machine('m1')), /duplicate value/)
    })
    assert.equal(await revisionOf(storage), 1)
    assert.deepEqual(await changesSince(storage, 1), [])
  })

  it('belongs to the snapshot: a write sees what was committed before it, not its own changes', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1')])
    const seen = await storage.write(async (tx) => {
      await tx.collection(machines).delete('m1')
      return { revision: tx.revision, changes: await tx.changesSince(0) }
    })
    assert.deepEqual(seen, { revision: 1, changes: [entry(1, machines, 'm1', 'insert')] })
    assert.equal(await revisionOf(storage), 2)
  })

  it('sends a reader who is ahead of the snapshot back to the start', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1')])
    assert.equal(await changesSince(storage, 2), undefined)
  })
}

function describeLines({ it, open }: Suite): void {
  it('gives each commit a line of its own, where it tells lines at all', async () => {
    const [storage, other] = [await open(), await open()]
    await insertAll(storage, machines, [machine('m1')])
    await insertAll(other, machines, [machine('m1')])
    const first = await lineOf(storage)
    if (first === undefined) return
    assert.equal(await lineOf(storage), first)
    assert.notEqual(await lineOf(other), first)
    const inside = await storage.write(async (tx) => {
      await tx.collection(machines).delete('m1')
      return tx.line
    })
    assert.equal(inside, first)
    const second = await lineOf(storage)
    assert.notEqual(second, first)
    await storage.write((tx) => tx.collection(machines).delete('m1'))
    assert.equal(await lineOf(storage), second)
    await Promise.all([insertAll(storage, tickets, [ticket('t1')]), insertAll(storage, tickets, [ticket('t2')])])
    assert.equal(new Set([first, second, await lineOf(storage)]).size, 3)
  })

  it('tells what follows a commit to who saw that commit, and sends who saw another one back to the start', async () => {
    const storage = await open()
    const places: HistoryPoint[] = []
    for (let round = 1; round <= 5; round += 1) {
      await insertAll(storage, machines, [machine(`m${round}`), machine(`n${round}`)])
      places.push(await placeOf(storage))
    }
    for (const { revision, line } of places) {
      assert.deepEqual(await changesSince(storage, revision, line), await changesSince(storage, revision))
      const inside = await storage.write((tx) => tx.changesSince(revision, line))
      assert.deepEqual(inside, await changesSince(storage, revision))
      if (line === undefined) continue
      assert.equal(await changesSince(storage, revision, `${line}0`), undefined)
      assert.equal(await storage.write((tx) => tx.changesSince(revision, `${line}0`)), undefined)
    }
    assert.equal((await changesSince(storage, 0))?.length, 10)
  })

  it('counts concurrent writes without gaps', async () => {
    const storage = await open()
    await Promise.all(Array.from({ length: 50 }, (_, index) => insertAll(storage, tickets, [ticket(`t${index}`)])))
    const changes = (await changesSince(storage, 0)) ?? []
    assert.deepEqual(
      changes.map(({ revision }) => revision),
      Array.from({ length: 50 }, (_, index) => index + 1),
    )
    assert.equal(new Set(changes.map(({ id }) => id)).size, 50)
  })
}
