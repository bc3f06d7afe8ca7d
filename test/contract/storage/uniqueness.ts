import { expect, it } from 'vitest'
import { type RecordKind, type StoredRecord, UniqueViolation } from '../../../src/ports/storage.ts'
import { contentOf, get, insertAll, type Machine, machine, machines, type OpenStorage } from './kinds.ts'

const HELD = machine('held', { name: 'Alpha', serial: 'S-1' })

async function violationOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => 'no violation',
    (reason: unknown) => reason,
  )
  return error instanceof UniqueViolation ? { kind: error.kind, field: error.field, value: error.value } : error
}

export function describeUniqueness(open: OpenStorage): void {
  it.each([
    ['the same id', machine('held', { name: 'Other' }), 'id', 'held'],
    ['the same name', machine('new', { name: 'Alpha' }), 'name', 'Alpha'],
    ['the same serial', machine('new', { serial: 'S-1' }), 'serial', 'S-1'],
  ])('refuses to insert %s', async (_, record, field, value) => {
    const storage = await open()
    await insertAll(storage, machines, [HELD])
    const before = await contentOf(storage)
    const insert = storage.write((tx) => tx.collection(machines).insert(record))
    expect(await violationOf(insert)).toEqual({ kind: machines.name, field, value })
    expect(await contentOf(storage)).toEqual(before)
  })

  it.each<[string, Partial<Machine>]>([
    ['another case', { name: 'alpha', serial: 's-1' }],
    ['more blanks', { name: 'Alpha ', serial: ' S-1' }],
    ['the decomposed form', { name: 'A\u030alpha' }],
    ['no serial', { serial: null }],
    ['an empty serial', { serial: '' }],
  ])('tells a value from %s', async (_, fields) => {
    const storage = await open()
    await insertAll(storage, machines, [HELD, machine('composed', { name: '\u00c5lpha' })])
    await insertAll(storage, machines, [machine('new', fields)])
    expect(await get(storage, machines, 'new')).toEqual(machine('new', fields))
  })

  it('counts neither null nor an absent value', async () => {
    interface Sparse extends StoredRecord {
      readonly name?: string | null
    }
    const sparse: RecordKind<Sparse> = { ...machines, recordType: { id: '' } }
    const storage = await open()
    await insertAll(storage, sparse, [{ id: 'm1' }, { id: 'm2' }, { id: 'm3', name: null }, { id: 'm4', name: null }])
    expect((await storage.read((tx) => tx.collection(sparse).find())).totalCount).toBe(4)
  })

  it('holds for updates, which may keep their own value', async () => {
    const storage = await open()
    await insertAll(storage, machines, [HELD, machine('m2', { serial: 'S-2' })])
    const before = await contentOf(storage)
    const update = (record: Machine) => storage.write((tx) => tx.collection(machines).update(record))
    expect(await violationOf(update(machine('m2', { serial: 'S-1' })))).toEqual({
      kind: machines.name,
      field: 'serial',
      value: 'S-1',
    })
    expect(await contentOf(storage)).toEqual(before)
    expect(await update({ ...HELD, cost: 5 })).toBe(true)
  })

  it('frees a value with an update or a delete, also for the same write', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('a', { serial: 'A' }), machine('b', { serial: 'B' })])
    await storage.write(async (tx) => {
      await tx.collection(machines).delete('a')
      await tx.collection(machines).insert(machine('c', { serial: 'A' }))
      await tx.collection(machines).update(machine('b', { serial: null }))
      await tx.collection(machines).insert(machine('a', { serial: 'B' }))
    })
    const { items } = await storage.read((tx) => tx.collection(machines).find())
    expect(items.map(({ id, serial }) => [id, serial])).toEqual([
      ['a', 'B'],
      ['b', null],
      ['c', 'A'],
    ])
  })

  it('lets two records swap their values', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('a', { serial: 'A' }), machine('b', { serial: 'B' })])
    await storage.write(async (tx) => {
      await tx.collection(machines).update(machine('a', { serial: null }))
      await tx.collection(machines).update(machine('b', { serial: 'A' }))
      await tx.collection(machines).update(machine('a', { serial: 'B' }))
    })
    expect((await get(storage, machines, 'a'))?.serial).toBe('B')
    expect((await get(storage, machines, 'b'))?.serial).toBe('A')
    const third = storage.write((tx) => tx.collection(machines).insert(machine('c', { serial: 'A' })))
    expect(await violationOf(third)).toEqual({ kind: machines.name, field: 'serial', value: 'A' })
  })
}
