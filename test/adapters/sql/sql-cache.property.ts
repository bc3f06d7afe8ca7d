import fc from 'fast-check'
import type { Storage } from 'portcullis'
import type { KyselyStorageOptions } from 'portcullis/kysely'
import type { ReadTransaction } from 'portcullis/storage'
import { expect, it } from 'vitest'
import { type Machine, machine, machines, signal, where } from '../../../adapters/storage/contract/kinds-of-records.ts'
import { NaiveMachines, type Question } from '../../../adapters/storage/contract/naive-storage.ts'
import { times } from '../../support/property-runs.ts'

const RUNS = times(100, 50)
const IDS = ['a', 'b', 'c', 'd', 'e', '\u{1f600}'] as const
const SERIALS = ['x', 'y', null] as const
const OWNERS = ['o', 'p', null] as const

/** One event in the life of two storages over one database. */
type Event =
  | {
      readonly kind: 'write'
      readonly by: number
      readonly puts: readonly Machine[]
      readonly deletes: readonly string[]
    }
  | {
      readonly kind: 'look'
      readonly by: number
      readonly questions: readonly Question[]
      readonly mayBeginAgain: boolean
    }
  | { readonly kind: 'begin' | 'end'; readonly by: number; readonly read: number }
  | { readonly kind: 'look back'; readonly read: number; readonly questions: readonly Question[] }

/** A read that stays open, and what it has to see. */
interface OpenRead {
  readonly tx: ReadTransaction
  readonly model: NaiveMachines
  end(): Promise<void>
}

/** Two storages over one database, one of which keeps next to nothing in memory, and reads that stay open: as a plain map. */
export function describeInterleavings(
  fresh: () => Promise<(options: Partial<KyselyStorageOptions>) => Promise<Storage>>,
): void {
  it(`shows in ${RUNS} random interleavings of two storages what a plain map shows`, {
    timeout: 30_000 + RUNS * 400,
  }, async () => {
    const open = await fresh()
    const storages = [await open({ cachedRecords: 8 }), await open({})]
    await fc.assert(
      fc.asyncProperty(events, async (history) => run(storages, history)),
      { numRuns: RUNS },
    )
    for (const storage of storages) await storage.close()
  })
}

async function run(storages: readonly Storage[], history: readonly Event[]): Promise<void> {
  const storageOf = (by: number) => storages[by % storages.length] ?? Promise.reject(new Error('no storage'))
  const model = new NaiveMachines()
  const reads = new Map<number, OpenRead>()
  await (await storageOf(0)).write(async (tx) => {
    for (const { id } of (await tx.collection(machines).find()).items) await tx.collection(machines).delete(id)
  })
  try {
    for (const event of history) {
      if (event.kind === 'write') await write(await storageOf(event.by), model, event.puts, event.deletes)
      else if (event.kind === 'look')
        await (await storageOf(event.by)).read((tx) => compare(tx, model, event.questions), event)
      else if (event.kind === 'look back') {
        const read = reads.get(event.read)
        if (read !== undefined) await compare(read.tx, read.model, event.questions)
      } else {
        await reads.get(event.read)?.end()
        reads.delete(event.read)
        if (event.kind === 'begin') reads.set(event.read, await begin(await storageOf(event.by), model))
      }
    }
  } finally {
    for (const read of reads.values()) await read.end()
  }
}

async function write(storage: Storage, model: NaiveMachines, puts: readonly Machine[], deletes: readonly string[]) {
  await storage.write(async (tx) => {
    const collection = tx.collection(machines)
    for (const id of deletes) {
      expect(await collection.delete(id)).toBe(model.records.delete(id))
    }
    for (const record of puts) {
      if (model.violations(record).length > 0) continue
      if (model.records.has(record.id)) await collection.update(record)
      else await collection.insert(record)
      model.records.set(record.id, record)
    }
  })
}

async function begin(storage: Storage, model: NaiveMachines): Promise<OpenRead> {
  const frozen = new NaiveMachines()
  frozen.records = new Map(model.records)
  const ended = signal()
  return new Promise((resolve, reject) => {
    const read: Promise<void> = storage.read(async (tx) => {
      const end = async () => {
        ended.happen()
        await read
      }
      resolve({ tx, model: frozen, end })
      await ended.happened
    })
    read.catch(reject)
  })
}

async function compare(tx: ReadTransaction, model: NaiveMachines, questions: readonly Question[]): Promise<void> {
  for (const question of questions) {
    expect(await tx.collection(machines).find(question.query)).toEqual(model.find(question))
  }
  for (const id of [...IDS, '\u0000']) {
    expect(await tx.collection(machines).get(id)).toEqual(model.records.get(id))
  }
}

const record: fc.Arbitrary<Machine> = fc
  .record({
    cost: fc.nat(1000),
    serial: fc.constantFrom(...SERIALS),
    owner: fc.constantFrom(...OWNERS),
    roles: fc.constantFrom([], ['red'], ['red', 'blue']),
  })
  .chain((fields) => fc.constantFrom(...IDS).map((id) => machine(id, fields)))

const question: fc.Arbitrary<Question> = fc
  .tuple(
    fc.oneof(
      fc.subarray([...IDS, 'none']).map((ids): readonly [string, Question['isMeant']] => {
        return [ids.length === 0 ? 'false' : `id in ${JSON.stringify(ids)}`, ({ id }) => ids.some((one) => one === id)]
      }),
      fc.constantFrom(...IDS).map((wanted): readonly [string, Question['isMeant']] => {
        return [`id = ${JSON.stringify(wanted)}`, ({ id }) => id === wanted]
      }),
      fc.constantFrom('x', 'y').map((wanted): readonly [string, Question['isMeant']] => {
        return [`serial = "${wanted}"`, ({ serial }) => serial === wanted]
      }),
      fc.constantFrom('o', 'p').map((wanted): readonly [string, Question['isMeant']] => {
        return [`owner = "${wanted}"`, ({ owner }) => owner === wanted]
      }),
      fc.constantFrom('owner', 'serial').map((field): readonly [string, Question['isMeant']] => {
        return [`${field} in ["o", "x", "none"]`, (found) => found[field] === 'o' || found[field] === 'x']
      }),
      fc.constant<readonly [string, Question['isMeant']]>(['true', () => true]),
    ),
    fc.record({ limit: fc.nat(4), offset: fc.nat(3) }, { requiredKeys: [] }),
  )
  .map(([[words, isMeant], page]) => ({ query: { ...page, where: where(words) }, isMeant }))

const by = fc.nat(1)
const read = fc.nat(2)
const asked = fc.array(question, { maxLength: 3 })
const events: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        by,
        puts: fc.array(record, { maxLength: 3 }),
        deletes: fc.subarray([...IDS], { maxLength: 2 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('look' as const),
        by,
        questions: asked,
        mayBeginAgain: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('begin' as const, 'end' as const), by, read }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('look back' as const), read, questions: asked }) },
  ),
  { maxLength: 25 },
)
