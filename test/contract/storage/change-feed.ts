import { expect, it } from 'vitest'
import type { Change, Storage } from '../../../src/ports/storage.ts'
import { insertAll, machine, machines, type OpenStorage, ticket, tickets } from './kinds.ts'

const revisionOf = (storage: Storage) => storage.read(async (tx) => tx.revision)
const changesSince = (storage: Storage, revision: number) => storage.read((tx) => tx.changesSince(revision))
const entry = (revision: number, kind: { readonly name: string }, id: string, operation: Change['operation']) => ({
  revision,
  kind: kind.name,
  id,
  operation,
})

export function describeChangeFeed(open: OpenStorage): void {
  it('begins at revision 0 with nothing', async () => {
    const storage = await open()
    expect(await revisionOf(storage)).toBe(0)
    expect(await changesSince(storage, 0)).toEqual([])
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
    expect(await changesSince(storage, 0)).toEqual([...first, ...second])
    expect(await changesSince(storage, 1)).toEqual(second)
    expect(await changesSince(storage, 2)).toEqual([])
    expect(await revisionOf(storage)).toBe(2)
  })

  it('tells nothing of a write that was rolled back, and does not count it', async () => {
    const storage = await open()
    const write = storage.write(async (tx) => {
      await tx.collection(machines).insert(machine('m1'))
      throw new Error('rolled back')
    })
    await expect(write).rejects.toThrow('rolled back')
    expect(await revisionOf(storage)).toBe(0)
    await insertAll(storage, machines, [machine('m2')])
    expect(await changesSince(storage, 0)).toEqual([entry(1, machines, 'm2', 'insert')])
  })

  it('does not count a write that changed nothing', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1')])
    await storage.write(async (tx) => {
      await tx.collection(machines).get('m1')
      await tx.collection(machines).update(machine('absent'))
      await tx.collection(machines).delete('absent')
      await expect(tx.collection(machines).insert(machine('m1'))).rejects.toThrow('duplicate value')
    })
    expect(await revisionOf(storage)).toBe(1)
    expect(await changesSince(storage, 1)).toEqual([])
  })

  it('belongs to the snapshot: a write sees what was committed before it, not its own changes', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1')])
    const seen = await storage.write(async (tx) => {
      await tx.collection(machines).delete('m1')
      return { revision: tx.revision, changes: await tx.changesSince(0) }
    })
    expect(seen).toEqual({ revision: 1, changes: [entry(1, machines, 'm1', 'insert')] })
    expect(await revisionOf(storage)).toBe(2)
  })

  it('sends a reader who is ahead of the snapshot back to the start', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1')])
    expect(await changesSince(storage, 2)).toBeUndefined()
  })

  it('counts concurrent writes without gaps', async () => {
    const storage = await open()
    await Promise.all(Array.from({ length: 50 }, (_, index) => insertAll(storage, tickets, [ticket(`t${index}`)])))
    const changes = (await changesSince(storage, 0)) ?? []
    expect(changes.map(({ revision }) => revision)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(new Set(changes.map(({ id }) => id)).size).toBe(50)
  })
}
