import assert from 'node:assert/strict'
import type { Change, Storage } from './core.ts'
import { insertAll, machine, machines, ticket, tickets } from './kinds.ts'
import type { Suite } from './suite.ts'

function revisionOf(storage: Storage) {
  return storage.read(async (tx) => tx.revision)
}
function changesSince(storage: Storage, revision: number) {
  return storage.read((tx) => tx.changesSince(revision))
}
function entry(revision: number, kind: { readonly name: string }, id: string, operation: Change['operation']) {
  return {
    revision,
    kind: kind.name,
    id,
    operation,
  }
}

export function describeChangeFeed({ it, open }: Suite): void {
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
