import { memoryStorage } from 'portcullis/memory'
import { type Filter, parseQuery } from '../src/kernel/filter/index.ts'

import type { FindQuery, RecordKind, Storage, StoredRecord } from '../src/ports/record-storage.ts'
import { elapsed, milliseconds } from './elapsed.ts'
import type { BenchRow } from './row.ts'

const RECORDS = 100_000

interface Sample extends StoredRecord {
  readonly name: string
  readonly externalId: string | null
  readonly authPolicyId: string
  readonly createdAt: number
  readonly roleAttributes: readonly string[]
  readonly tags: Readonly<Record<string, unknown>>
}

const samples: RecordKind<Sample> = {
  name: 'samples',
  fields: {
    name: 'string',
    externalId: 'string',
    authPolicyId: 'string',
    createdAt: 'instant',
    roleAttributes: 'set',
    tags: 'json',
  },
  unique: ['name', 'externalId'],
  indexed: ['authPolicyId'],
}

/** Measures the memory storage with 100,000 identity-like records, three of whose fields have an index. */
export async function benchMemoryStorage(): Promise<BenchRow[]> {
  // As they come off the wire: text that is assembled in memory is slower to read.
  const records: Sample[] = JSON.parse(JSON.stringify(Array.from({ length: RECORDS }, (_, index) => sample(index))))
  const byId = new Map<string, Sample>()
  const storage = memoryStorage()
  const find = (query: FindQuery) => storage.read((tx) => tx.collection(samples).find(query))
  const id = (round: number) => sample((round * 7919) % RECORDS).id
  const ids = Array.from({ length: 1000 }, (_, round) => id(round))
  const idAt = (round: number) => ids[round % ids.length] ?? ''

  const bulk = await elapsed(() =>
    storage.write(async (tx) => {
      const collection = tx.collection(samples)
      for (const record of records) await collection.insert(record)
    }),
  )
  const bulkCeiling = await elapsed(async () => {
    for (const record of records) byId.set(record.id, Object.freeze({ ...record }))
  })
  const single = await elapsed(async () => {
    for (let round = 0; round < 10_000; round += 1) {
      await storage.write((tx) => tx.collection(samples).insert(sample(RECORDS + round)))
    }
  })
  await storage.write(async (tx) => {
    for (let round = 0; round < 10_000; round += 1) await tx.collection(samples).delete(sample(RECORDS + round).id)
  })
  const reads = await perSecond(100_000, (round) => storage.read((tx) => tx.collection(samples).get(idAt(round))))
  const readsCeiling = await perSecond(100_000, async (round) => byId.get(idAt(round)))
  const contains: FindQuery = {
    where: predicate('name contains "77"'),
    orderBy: [{ field: 'createdAt', kind: 'instant', direction: 'desc' }],
    limit: 25,
    offset: 50,
  }
  const inOrder = records.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const containsCeiling = await milliseconds(20, async () => inOrder.filter(({ name }) => name.includes('77')).length)
  const ms = 'ms'
  return [
    {
      name: 'insert, all in one write',
      value: RECORDS / (bulk / 1000),
      unit: 'records/s',
      ceiling: { name: 'copy, freeze and Map.set', value: RECORDS / (bulkCeiling / 1000) },
      target: 'bulk import of 100k ≤5 s (W9)',
    },
    { name: 'insert, one write each', value: 10_000 / (single / 1000), unit: 'writes/s' },
    {
      name: 'get by id, one read each',
      value: reads,
      unit: 'reads/s',
      ceiling: { name: 'Map.get behind a promise', value: readsCeiling },
    },
    { name: 'default list: 10 of 100k', value: await milliseconds(2000, () => find({ limit: 10 })), unit: ms },
    {
      name: 'list sorted by name: 10 of 100k',
      value: await milliseconds(2000, () =>
        find({ limit: 10, orderBy: [{ field: 'name', kind: 'string', direction: 'asc' }] }),
      ),
      unit: ms,
    },
    {
      name: 'find by unique name among 100k',
      value: await milliseconds(2000, () => find({ where: predicate('name = "identity number 77777"') })),
      unit: ms,
    },
    {
      name: 'unindexed contains over 100k, sorted, a page of 25',
      value: await milliseconds(20, () => find(contains)),
      unit: ms,
      ceiling: { name: 'Array.filter with String.includes, in the order of ids', value: containsCeiling },
      target: '≤40 ms (W10)',
    },
    {
      name: 'longest hold of the event loop by that scan',
      value: await longestHold(storage, contains),
      unit: ms,
      target: '≤10 ms',
    },
  ]
}

function sample(index: number): Sample {
  return {
    id: `${((index * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')}-${index}`,
    name: `identity number ${index}`,
    externalId: index % 10 === 0 ? `external-${index}` : null,
    authPolicyId: index % 100 === 0 ? `policy-${index % 7}` : 'default',
    createdAt: 1_700_000_000_000 + ((index * 48_271) % RECORDS),
    roleAttributes: [`group-${index % 10}`, `site-${index % 250}`],
    tags: { region: `r${index % 20}` },
  }
}

function predicate(text: string): Filter {
  const symbols = Object.fromEntries(Object.entries(samples.fields).map(([field, kind]) => [field, { field, kind }]))
  return parseQuery(text, symbols).where ?? { kind: 'all' }
}

async function perSecond(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  return 1000 / (await milliseconds(rounds, work))
}

async function longestHold(storage: Storage, query: FindQuery): Promise<number> {
  let longest = 0
  let last = performance.now()
  let isWatching = true
  const watch = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (isWatching) setImmediate(watch)
  }
  setImmediate(watch)
  await Promise.all(Array.from({ length: 4 }, () => storage.read((tx) => tx.collection(samples).find(query))))
  isWatching = false
  return longest
}
