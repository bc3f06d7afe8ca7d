import assert from 'node:assert/strict'
import { type Collection, type ReadTransaction, type Storage, UniqueViolation } from './core.ts'
import { type Machine, machine, machines, where } from './kinds-of-records.ts'
import { NaiveMachines, type Question } from './naive-storage.ts'
import type { Suite } from './suite.ts'

type Step =
  | { readonly kind: 'insert'; readonly record: Machine }
  | { readonly kind: 'update'; readonly record: Machine }
  | { readonly kind: 'get'; readonly id: string }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'find'; readonly question: Question }

/** One write: what it does, and whether it then throws. */
interface Write {
  readonly steps: readonly Step[]
  readonly commits: boolean
}

// Small pools, so that values collide often; the last two of TEXTS sort differently by UTF-16 unit and by code point.
const IDS = ['a', 'b', 'c', 'd', 'e', 'B', '\uff5a', '\u{1f600}'] as const
const TEXTS = ['x', 'X', 'xy', '', '\uff5a', '\u{1f600}'] as const

const WEIGHED_STEPS = [
  ...(['insert', 'insert', 'insert', 'insert', 'update', 'update', 'update'] as const),
  ...(['delete', 'delete', 'get', 'find', 'find', 'find'] as const),
] as const

const ORDERS = [
  { field: 'id', kind: 'string' },
  { field: 'name', kind: 'string' },
  { field: 'serial', kind: 'string' },
  { field: 'owner', kind: 'string' },
  { field: 'cost', kind: 'integer' },
  { field: 'weight', kind: 'number' },
  { field: 'active', kind: 'boolean' },
  { field: 'seenAt', kind: 'instant' },
] as const

type Meaning = readonly [string, (record: Machine) => boolean]

const MEANINGS: readonly [Meaning, ...Meaning[]] = [
  ['true', () => true],
  ['id = "a"', ({ id }) => id === 'a'],
  ['id in ["b", "e", "a", "none"]', ({ id }) => ['a', 'b', 'e'].includes(id)],
  ['name = "x"', ({ name }) => name === 'x'],
  ['serial in ["x", "X"]', ({ serial }) => serial === 'x' || serial === 'X'],
  ['serial = null', ({ serial }) => serial === null],
  ['owner = "x"', ({ owner }) => owner === 'x'],
  ['owner != "x"', ({ owner }) => owner !== 'x'],
  ['owner in ["", "xy"]', ({ owner }) => owner === '' || owner === 'xy'],
  ['owner > "X"', ({ owner }) => owner !== null && !['', 'X'].includes(owner)],
  ['owner contains "x"', ({ owner }) => owner?.includes('x') ?? false],
  ['active', ({ active }) => active],
  ['cost = 1', ({ cost }) => cost === 1],
  ['cost between -1 and 2', ({ cost }) => cost >= -1 && cost < 2],
  ['weight < 1', ({ weight }) => weight !== null && weight < 1],
  ['anyOf(roles) = "x"', ({ roles }) => roles.includes('x')],
  ['anyOf(roles) in ["X", "x"]', ({ roles }) => roles.includes('x') || roles.includes('X')],
  ['allOf(roles) = "x"', ({ roles }) => roles.every((role) => role === 'x')],
  ['tags.key = "x"', ({ tags }) => tags.key === 'x'],
  ['owner = "x" and cost = 1', ({ owner, cost }) => owner === 'x' && cost === 1],
  ['cost = 1 and not active', ({ cost, active }) => cost === 1 && !active],
  ['name = "x" or owner = "x"', ({ name, owner }) => name === 'x' || owner === 'x'],
  ['id in ["a", "b", "c"] and owner != null', ({ id, owner }) => 'abc'.includes(id) && owner !== null],
]

/** Draws that look random and are the same for the same seed, by the mulberry32 generator. */
class Draws {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A whole number from 0 up to but not including `bound`. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound)
  }

  oneOf<T>(first: T, ...others: readonly T[]): T {
    return [first, ...others][this.below(others.length + 1)] ?? first
  }

  /** Some of the items, each at most once, in any order. */
  someOf<T>(items: readonly T[], most: number): readonly T[] {
    const shuffled = items.map((item) => ({ item, place: this.below(2 ** 30) })).sort((a, b) => a.place - b.place)
    return shuffled.slice(0, this.below(most + 1)).map(({ item }) => item)
  }

  times<T>(most: number, make: () => T): readonly T[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }
}

/** The writes of one history; the same for the same seed. */
function randomHistory(seed: number): readonly Write[] {
  const draws = new Draws(seed)
  return draws.times(8, () => ({ steps: draws.times(12, () => step(draws)), commits: draws.below(4) > 0 }))
}

function step(draws: Draws): Step {
  const kind = draws.oneOf<Step['kind']>(...WEIGHED_STEPS)
  switch (kind) {
    case 'insert':
    case 'update':
      return { kind, record: record(draws) }
    case 'delete':
    case 'get':
      return { kind, id: draws.oneOf(...IDS) }
    case 'find':
      return { kind, question: question(draws) }
  }
}

function record(draws: Draws): Machine {
  const text = () => draws.oneOf<string>(...TEXTS)
  const orNull = <T>(value: T) => (draws.below(4) === 0 ? null : value)
  const tagNames = draws.someOf(['key', 'other', '__proto__'], 3)
  return machine(draws.oneOf(...IDS), {
    name: text(),
    serial: orNull(text()),
    owner: orNull(text()),
    cost: draws.below(6) - 2,
    weight: orNull(draws.oneOf(-1.5, 0, 0.5, 2)),
    active: draws.below(2) === 0,
    seenAt: orNull(draws.below(6)),
    roles: draws.someOf(TEXTS, 3),
    tags: Object.fromEntries(tagNames.map((name) => [name, text()])),
  })
}

function question(draws: Draws): Question {
  const orderBy = draws
    .someOf(ORDERS, 3)
    .map((order) => ({ ...order, direction: draws.oneOf<'asc' | 'desc'>('asc', 'desc') }))
  const query = {
    ...(draws.below(2) === 0 ? { orderBy } : {}),
    ...(draws.below(2) === 0 ? { limit: draws.below(10) } : {}),
    ...(draws.below(2) === 0 ? { offset: draws.below(5) } : {}),
  }
  if (draws.below(2) === 0) return { query, isMeant: () => true }
  const [words, isMeant] = draws.oneOf(...MEANINGS)
  return { query: { ...query, where: where(words) }, isMeant }
}

const ROLLBACK = new Error('rolled back on purpose')

/** How many random histories, beginning with that of the seed. */
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
