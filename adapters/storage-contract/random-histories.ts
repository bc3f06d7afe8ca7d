import assert from 'node:assert/strict'
import { type Collection, type ReadTransaction, type Storage, UniqueViolation } from './core.ts'
import { type Machine, machines } from './kinds.ts'
import { NaiveMachines } from './naive-storage.ts'
import { randomHistory, type Step, type Write } from './random-work.ts'
import type { Suite } from './suite.ts'

const ROLLBACK = new Error('rolled back on purpose')

/** How many random histories, beginning with the one of the seed. */
export function describeRandomHistories({ histories, seed }: { readonly histories: number; readonly seed: number }) {
  return ({ it, open }: Suite): void => {
    it(`does in ${histories} random histories what a plain map does`, async () => {
      const storage = await open()
      for (let at = 0; at < histories; at += 1) await play(storage, seed + at)
    })
  }
}

async function play(storage: Storage, seed: number): Promise<void> {
  const history = randomHistory(seed)
  const model = await empty(storage)
  for (const [position, write] of history.entries()) {
    try {
      await run(storage, model, write)
    } catch (cause) {
      const told = JSON.stringify(history.slice(0, position + 1))
      throw new Error(`the history of seed ${seed} goes another way in its last write: ${told}`, { cause })
    }
  }
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
      assert.equal(tx.revision, since)
      for (const step of steps) await compare(tx.collection(machines), draft, step)
      await compareContent(tx, draft)
      if (!commits) throw ROLLBACK
    })
    if (commits) await write
    else await assert.rejects(write, (error) => error === ROLLBACK)
  })
  await storage.read(async (tx) => {
    assert.equal(tx.revision, model.revision)
    await compareContent(tx, model)
    assert.deepEqual(await tx.changesSince(since), model.changes.slice(known))
  })
}

async function compareContent(tx: ReadTransaction, model: NaiveMachines): Promise<void> {
  assert.deepEqual(await tx.collection(machines).find(), model.find({ query: {}, isMeant: () => true }))
}

async function compare(collection: Collection<Machine>, draft: NaiveMachines, step: Step): Promise<void> {
  if (step.kind === 'insert' || step.kind === 'update') {
    await compareStore(collection, draft, step.kind, step.record)
  } else if (step.kind === 'find') {
    const expected = draft.find(step.question)
    assert.deepEqual(await collection.find(step.question.query), expected)
    assert.deepEqual(
      await collection.findIds(step.question.query),
      expected.items.map(({ id }) => id),
    )
  } else if (step.kind === 'get') {
    assert.deepEqual(await collection.get(step.id), draft.records.get(step.id))
  } else {
    const isThere = draft.records.delete(step.id)
    if (isThere) draft.note(step.id, 'delete')
    assert.equal(await collection.delete(step.id), isThere)
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
    assert.equal(await collection.update(record), false)
    return
  }
  const violations = operation === 'insert' && isThere ? ['id', ...draft.violations(record)] : draft.violations(record)
  if (violations.length > 0) {
    const field = await collection[operation](record).then(
      () => 'none',
      (error: unknown) => (error instanceof UniqueViolation ? error.field : String(error)),
    )
    assert.ok(violations.includes(field))
    return
  }
  assert.equal(await collection[operation](record), operation === 'update' ? true : undefined)
  draft.records.set(record.id, record)
  draft.note(record.id, operation)
}
