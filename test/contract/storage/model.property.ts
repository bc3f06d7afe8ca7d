import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Collection, type ReadTransaction, type Storage, UniqueViolation } from '../../../src/ports/storage.ts'
import { type Machine, machines, type OpenStorage } from './kinds.ts'
import { NaiveMachines } from './naive-storage.ts'
import { type Step, type Write, writes } from './random-work.ts'

const RUNS = Math.ceil(300 * Number(process.env.PORTCULLIS_PROPERTY_RUNS ?? 1))

const ROLLBACK = new Error('rolled back on purpose')

export function describeModel(open: OpenStorage): void {
  it(`does in ${RUNS} random histories what a plain map does`, { timeout: RUNS * 400 }, async () => {
    const storage = await open()
    await fc.assert(
      fc.asyncProperty(writes, async (history) => {
        const model = await empty(storage)
        for (const write of history) await run(storage, model, write)
      }),
      { numRuns: RUNS },
    )
  })
}

/** Empties the storage, which all histories share because opening one may be slow, and the model of an empty one. */
async function empty(storage: Storage): Promise<NaiveMachines> {
  await storage.write(async (tx) => {
    const { items } = await tx.collection(machines).find()
    for (const { id } of items) await tx.collection(machines).delete(id)
  })
  const model = new NaiveMachines()
  model.revision = await storage.read(async (tx) => tx.revision)
  return model
}

async function run(storage: Storage, model: NaiveMachines, { steps, commits }: Write): Promise<void> {
  const since = model.revision
  const known = model.changes.length
  await model.write(commits, async (draft) => {
    const write = storage.write(async (tx) => {
      expect(tx.revision).toBe(since)
      for (const step of steps) await compare(tx.collection(machines), draft, step)
      await compareContent(tx, draft)
      if (!commits) throw ROLLBACK
    })
    if (commits) await write
    else await expect(write).rejects.toBe(ROLLBACK)
  })
  await storage.read(async (tx) => {
    expect(tx.revision).toBe(model.revision)
    await compareContent(tx, model)
    expect(await tx.changesSince(since)).toEqual(model.changes.slice(known))
  })
}

async function compareContent(tx: ReadTransaction, model: NaiveMachines): Promise<void> {
  expect(await tx.collection(machines).find()).toEqual(model.find({ query: {}, isMeant: () => true }))
}

async function compare(collection: Collection<Machine>, draft: NaiveMachines, step: Step): Promise<void> {
  if (step.kind === 'insert' || step.kind === 'update') {
    await compareStore(collection, draft, step.kind, step.record)
  } else if (step.kind === 'find') {
    const expected = draft.find(step.question)
    expect(await collection.find(step.question.query)).toEqual(expected)
    expect(await collection.findIds(step.question.query)).toEqual(expected.items.map(({ id }) => id))
  } else if (step.kind === 'get') {
    expect(await collection.get(step.id)).toEqual(draft.records.get(step.id))
  } else {
    const isThere = draft.records.delete(step.id)
    if (isThere) draft.note(step.id, 'delete')
    expect(await collection.delete(step.id)).toBe(isThere)
  }
}

async function compareStore(
  collection: Collection<Machine>,
  draft: NaiveMachines,
  operation: 'insert' | 'update',
  record: Machine,
): Promise<void> {
  const isThere = draft.records.has(record.id)
  if (operation === 'update' && !isThere) {
    expect(await collection.update(record)).toBe(false)
    return
  }
  const violations = operation === 'insert' && isThere ? ['id', ...draft.violations(record)] : draft.violations(record)
  if (violations.length > 0) {
    const field = await collection[operation](record).then(
      () => 'none',
      (error: unknown) => (error instanceof UniqueViolation ? error.field : String(error)),
    )
    expect(violations).toContain(field)
    return
  }
  expect(await collection[operation](record)).toBe(operation === 'update' ? true : undefined)
  draft.records.set(record.id, record)
  draft.note(record.id, operation)
}
