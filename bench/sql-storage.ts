import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { CompiledQuery } from 'kysely'
import type { FindQuery, Storage } from 'portcullis'
import { kyselyStorage, sqliteDialect, sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { RECORD_KINDS, type RecordKind, type StoredRecord } from 'portcullis/storage'
import { watchedDialect } from '../test/support/watched-dialect.ts'
import { elapsed, milliseconds } from './elapsed.ts'
import type { BenchRow } from './row.ts'
import { benchSqlReads } from './sql/reads.ts'
import { benchSqlRequests } from './sql-requests.ts'

const IDENTITIES = 100_000
const SERVICES = 2000
const SINGLE = 3000

const PARTS = new Map<string, () => AsyncIterable<BenchRow>>([
  ['reads', benchSqlReads],
  ['requests', benchSqlRequests],
  ['writes', singleCreates],
  ['storage', benchFile],
])

/**
 * Measures requests that read over SQL against memory storage, then SQLite on a file with 100,000 identities and 2,000
 * services, every commit durable: through a controller first, then by itself. In the parts named: `sql:reads,writes`.
 */
export async function* benchSqlStorage(parts: readonly string[] = [...PARTS.keys()]): AsyncGenerator<BenchRow> {
  for (const [name, part] of PARTS) if (parts.includes(name)) yield* part()
}

async function* benchFile(): AsyncGenerator<BenchRow> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  const file = join(directory, 'records.db')
  const memory = memoryStorage()
  let storage = await sqliteStorage(file)
  try {
    const sqlImport = await importAll(storage)
    await importAll(memory)
    await storage.close()
    const open = await elapsed(async () => {
      storage = await sqliteStorage(file)
      await storage.read((tx) => tx.collection(identities).get(identity(7).id))
    })
    const imported = sqlImport / 1000
    yield { name: 'SQLite: import 100k identities, 2k services', value: imported, unit: 's', target: '≤15 s (W9)' }
    yield { name: 'SQLite: open it, first read', value: open, unit: 'ms', target: '≤1,500 ms (W20)' }
    yield* await reads(storage, memory)
  } finally {
    await storage.close()
    await rm(directory, { recursive: true })
  }
}

async function importAll(storage: Storage): Promise<number> {
  return elapsed(async () => {
    for (let begin = 0; begin < IDENTITIES; begin += 5000) {
      await storage.write(async (tx) => {
        const collection = tx.collection(identities)
        for (let index = begin; index < begin + 5000; index += 1) await collection.insert(identity(index))
      })
    }
    await storage.write(async (tx) => {
      for (let index = 0; index < SERVICES; index += 1) await tx.collection(services).insert(service(index))
    })
  })
}

async function* singleCreates(): AsyncGenerator<BenchRow> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  const storage = await sqliteStorage(join(directory, 'single.db'))
  const create = (index: number) =>
    storage.write((tx) => tx.collection(identities).insert(identity(IDENTITIES + index)))
  await create(0)
  const sequential = await elapsed(async () => {
    for (let index = 1; index <= SINGLE; index += 1) await create(index)
  })
  const concurrent = await elapsed(async () => {
    for (let begin = SINGLE + 1; begin <= 4 * SINGLE; begin += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, offset) => create(begin + offset)))
    }
  })
  await storage.close()
  const sequentialRate = SINGLE / (sequential / 1000)
  const bare = bareInserts(join(directory, 'bare.db'))
  const same = await sameStatements(directory)
  await rm(directory, { recursive: true })
  yield {
    name: 'SQLite: durable single creates, one after the other',
    value: sequentialRate,
    unit: 'writes/s',
    ceiling: { name: 'the same statements by SQLite alone, a commit each', value: same },
    target: '≥0.6 of it',
    details: `${(sequentialRate / bare).toFixed(2)} x bare inserts of the same rows into one table without an index`,
  }
  yield {
    name: 'SQLite: the same, 100 at a time',
    value: (3 * SINGLE) / (concurrent / 1000),
    unit: 'writes/s',
    ceiling: { name: 'one after the other', value: sequentialRate },
    target: '≥3 times it',
  }
}

/** The rate at which SQLite takes the inserts and updates of such writes into the same tables, a commit each, in per second. */
async function sameStatements(directory: string): Promise<number> {
  const writes: CompiledQuery[][] = []
  const watch = (query: CompiledQuery) => {
    if (query.sql === 'begin immediate') writes.push([])
    else if (/^(insert|update)/.test(query.sql)) writes.at(-1)?.push(query)
  }
  const place = join(directory, 'same.db')
  const fresh = await sqliteStorage(place)
  await fresh.close()
  const copy = join(directory, 'watched.db')
  const watched = await kyselyStorage({ dialect: () => watchedDialect(sqliteDialect(copy), watch) })
  writes.length = 0
  for (let index = 0; index <= SINGLE; index += 1) {
    await watched.write((tx) => tx.collection(identities).insert(identity(IDENTITIES + index)))
  }
  await watched.close()
  const database = new DatabaseSync(place)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  const prepared = new Map<string, StatementSync>()
  const begin = performance.now()
  for (const statements of writes) {
    database.exec('begin immediate')
    for (const { sql, parameters } of statements) {
      const statement = prepared.get(sql) ?? database.prepare(sql)
      prepared.set(sql, statement)
      // SQLite itself refuses what it cannot bind.
      statement.run(...(parameters as SQLInputValue[]))
    }
    database.exec('commit')
  }
  const rate = writes.length / ((performance.now() - begin) / 1000)
  database.close()
  return rate
}

/** Commits of SQLite itself with a row of the same size each, per second. */
function bareInserts(file: string): number {
  const database = new DatabaseSync(file)
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table t (id text primary key, record text)',
  )
  const insert = database.prepare('insert into t values (?, ?)')
  const rows = Array.from({ length: SINGLE }, (_, index) => identity(index)).map(
    (row) => [row.id, JSON.stringify(row)] as const,
  )
  const begin = performance.now()
  for (const row of rows) insert.run(...row)
  const rate = SINGLE / ((performance.now() - begin) / 1000)
  database.close()
  return rate
}

async function reads(storage: Storage, memory: Storage): Promise<BenchRow[]> {
  const ids = Array.from({ length: 1000 }, (_, round) => identity((round * 7919) % IDENTITIES).id)
  const get = (from: Storage) => (round: number) =>
    from.read((tx) => tx.collection(identities).get(ids[round % ids.length] ?? ''))
  const find = (from: Storage, kind: RecordKind, query: FindQuery) => () =>
    from.read((tx) => tx.collection(kind).find(query))
  const contains: FindQuery = {
    where: { kind: 'contains', operand: { kind: 'field', field: 'name' }, text: '77', foldCase: false },
    orderBy: [{ field: 'createdAt', kind: 'instant', direction: 'desc' }],
    limit: 25,
    offset: 50,
  }
  const pointSql = 1 / (await milliseconds(20_000, get(storage)))
  const pointMemory = 1 / (await milliseconds(20_000, get(memory)))
  const compared = async (name: string, rounds: number, kind: RecordKind, query: FindQuery): Promise<BenchRow> => ({
    name: `SQLite: ${name}`,
    value: await milliseconds(rounds, find(storage, kind, query)),
    unit: 'ms',
    ceiling: { name: 'memory storage', value: await milliseconds(rounds, find(memory, kind, query)) },
  })
  const wanted = new Set(Array.from({ length: 200 }, (_, index) => service(index * 9).id))
  const some: FindQuery = { where: { kind: 'in', operand: { kind: 'field', field: 'id' }, values: wanted }, limit: 100 }
  return [
    {
      name: 'SQLite: get by id, one read each',
      value: 1000 * pointSql,
      unit: 'reads/s',
      ceiling: { name: 'memory storage', value: 1000 * pointMemory },
    },
    await compared('list of 10 of 100k identities', 500, identities, { limit: 10 }),
    await compared('list of 100 of 2k services', 500, services, { limit: 100 }),
    await compared('list of 100 of 200 services by id', 500, services, some),
    {
      ...(await compared('unindexed contains over 100k, sorted, a page of 25', 20, identities, contains)),
      target: '≤60 ms (W10)',
    },
  ]
}

const identities = kindNamed('identities')
const services = kindNamed('services')

function kindNamed(name: string): RecordKind<StoredRecord & Record<string, unknown>> {
  const kind = RECORD_KINDS.find((candidate) => candidate.name === name)
  if (kind === undefined) throw new Error(`no kind of record is named ${name}`)
  // The benchmark writes records of its own making, which the declaration's type would name field by field.
  return kind as RecordKind<StoredRecord & Record<string, unknown>>
}

function scattered(index: number): string {
  return `${((index * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')}-${index}`
}

function identity(index: number): StoredRecord & Record<string, unknown> {
  return {
    ...identities.defaults,
    id: scattered(index),
    name: `identity number ${index}`,
    typeId: 'Device',
    externalId: index % 10 === 0 ? `external-${index}` : null,
    createdAt: 1_700_000_000_000 + ((index * 48_271) % IDENTITIES),
    updatedAt: 1_700_000_000_000,
    roleAttributes: [`group-${index % 10}`, `room-${index % 1000}`, `site-${index % 250}`],
    envInfo: { arch: 'x64', os: 'linux', osVersion: '6.1', hostname: `host-${index}` },
    tags: { region: `r${index % 20}` },
  }
}

function service(index: number): StoredRecord & Record<string, unknown> {
  return {
    ...services.defaults,
    id: scattered(index),
    name: `service number ${index}`,
    createdAt: 1_700_000_000_000 + index,
    updatedAt: 1_700_000_000_000,
    roleAttributes: [`group-${index % 10}`, `site-${index % 250}`],
    encryptionRequired: true,
    tags: {},
  }
}
