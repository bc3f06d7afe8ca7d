import assert from 'node:assert/strict'
import { type RecordKind, type StoredRecord, UniqueViolation } from './core.ts'
import { contentOf, get, insertAll, type Machine, machine, machines } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

const HELD = machine('held', { name: 'Alpha', serial: 'S-1' })

async function violationOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => 'no violation',
    (reason: unknown) => reason,
  )
  return error instanceof UniqueViolation ? { kind: error.kind, field: error.field, value: error.value } : error
}

export function describeUniqueness(suite: Suite): void {
  describeComparedValues(suite)
  describeFreedValues(suite)
}

function describeComparedValues({ it, open }: Suite): void {
  it.each([
    ['the same id', machine('held', { name: 'Other' }), 'id', 'held'],
    ['the same name', machine('new', { name: 'Alpha' }), 'name', 'Alpha'],
    ['the same serial', machine('new', { serial: 'S-1' }), 'serial', 'S-1'],
  ])('refuses to insert %s', async ([_, record, field, value]) => {
    const storage = await open()
    await insertAll(storage, machines, [HELD])
    const before = await contentOf(storage)
    const insert = storage.write((tx) => tx.collection(machines).insert(record))
    assert.deepEqual(await violationOf(insert), { kind: machines.name, field, value })
    assert.deepEqual(await contentOf(storage), before)
  })

  it.each<[string, Partial<Machine>]>([
    ['another case', { name: 'alpha', serial: 's-1' }],
    ['more blanks', { name: 'Alpha ', serial: ' S-1' }],
    ['the decomposed form', { name: 'A\u030alpha' }],
    ['no serial', { serial: null }],
    ['an empty serial', { serial: '' }],
  ])('tells a value from %s', async ([_, fields]) => {
    const storage = await open()
    await insertAll(storage, machines, [HELD, machine('composed', { name: '\u00c5lpha' })])
    await insertAll(storage, machines, [machine('new', fields)])
    assert.deepEqual(await get(storage, machines, 'new'), machine('new', fields))
  })

  it('counts neither null nor an absent value', async () => {
    interface Sparse extends StoredRecord {
      readonly name?: string | null
    }
    const sparse: RecordKind<Sparse> = { ...machines, recordType: { id: '' } }
    const storage = await open()
    await insertAll(storage, sparse, [{ id: 'm1' }, { id: 'm2' }, { id: 'm3', name: null }, { id: 'm4', name: null }])
    assert.equal((await storage.read((tx) => tx.collection(sparse).find())).totalCount, 4)
  })
}

function describeFreedValues({ it, open }: Suite): void {
  it('holds for updates, which may keep their own value', async () => {
    const storage = await open()
    await insertAll(storage, machines, [HELD, machine('m2', { serial: 'S-2' })])
    const before = await contentOf(storage)
    const update = (record: Machine) => storage.write((tx) => tx.collection(machines).update(record))
    assert.deepEqual(await violationOf(update(machine('m2', { serial: 'S-1' }))), {
      kind: machines.name,
      field: 'serial',
      value: 'S-1',
    })
    assert.deepEqual(await contentOf(storage), before)
    assert.equal(await update({ ...HELD, cost: 5 }), true)
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
    assert.deepEqual(
      items.map(({ id, serial }) => [id, serial]),
      [
        ['a', 'B'],
        ['b', null],
        ['c', 'A'],
      ],
    )
  })

  it('lets two records swap their values', async () => {
    const storage = await open()
    await insertAll(storage, machines, [machine('a', { serial: 'A' }), machine('b', { serial: 'B' })])
    await storage.write(async (tx) => {
      await tx.collection(machines).update(machine('a', { serial: null }))
      await tx.collection(machines).update(machine('b', { serial: 'A' }))
      await tx.collection(machines).update(machine('a', { serial: 'B' }))
    })
    assert.equal((await get(storage, machines, 'a'))?.serial, 'B')
    assert.equal((await get(storage, machines, 'b'))?.serial, 'A')
    const third = storage.write((tx) => tx.collection(machines).insert(machine('c', { serial: 'A' })))
    assert.deepEqual(await violationOf(third), { kind: machines.name, field: 'serial', value: 'A' })
  })
}
