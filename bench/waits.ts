import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { engineOf } from '../src/controller/guarded-engine.ts'
import { contextOf } from '../src/engine/entity-services.ts'
import { createDatabase } from '../test/support/postgres.ts'
import type { BenchRow } from './row.ts'
import { OtherWriter } from './waits/other-writer.ts'
import { OTHER, SCENARIOS, type Scenario } from './waits/scenarios.ts'
import { type SeenWrite, watchedStorage } from './waits/watched-storage.ts'

/** `PORTCULLIS_BENCH_WAITS=5000` leaves the others out. */
const COUNTS = (process.env.PORTCULLIS_BENCH_WAITS ?? '5000,50000').split(',').map(Number)
/** For how long (ms) the other writer is watched alone, before each request. */
const ALONE_MS = 1500

const DATABASES = [
  ['SQLite', withSqlite],
  ['PostgreSQL', withPostgres],
] as const

/**
 * How long others wait while one request takes much away: the longest wait of another writer, against the longest of the same
 * writer alone just before, and the largest write, in time, in processor time and in records. `parts` are texts, any of which
 * the name of a row has to contain (`waits:CA,SQLite`).
 */
export async function* benchWaits(parts: readonly string[] = ['']): AsyncGenerator<BenchRow> {
  for (const count of COUNTS) {
    for (const scenario of SCENARIOS) {
      for (const [database, within] of DATABASES) {
        const name = `${database}, ${count}: ${scenario.name}`
        if (!parts.some((part) => name.includes(part))) continue
        yield within((storage) => measured(name, storage, scenario, count))
      }
    }
  }
}

async function measured(name: string, storage: Storage, scenario: Scenario, count: number): Promise<BenchRow> {
  const watched = watchedStorage(storage)
  const controller = await createTestController({ storage: watched, clock: 'live' })
  try {
    await scenario.seed(watched, count)
    const context = contextOf(engineOf(controller.engine))
    await context.storage.read((tx) => context.access.at(tx))
    const alone = new OtherWriter(context, OTHER)
    await new Promise((resolve) => setTimeout(resolve, ALONE_MS))
    const waitAlone = await alone.stop()
    watched.take()
    const other = new OtherWriter(context, OTHER)
    const begun = performance.now()
    await scenario.act(engineOf(controller.engine))
    const took = (performance.now() - begun) / 1000
    const wait = await other.stop()
    const writes = watched.take()
    const most = (of: keyof SeenWrite) => Math.max(...writes.map((write) => write[of]))
    const largest = `${most('heldMs').toFixed(0)} ms, ${most('processorMs').toFixed(0)} ms of this processor, ${most('changes')} records`
    return {
      name,
      value: wait,
      unit: 'ms',
      ceiling: { name: 'the writer alone', value: waitAlone },
      target: '<100 ms',
      details: `in ${took.toFixed(1)} s; the largest of ${writes.length} writes: ${largest}`,
    }
  } finally {
    await controller.close()
    await storage.close()
  }
}

async function withSqlite<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  try {
    return await work(await sqliteStorage(join(directory, 'records.db')))
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function withPostgres<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
  const database = await createDatabase()
  try {
    return await work(await postgresStorage({ connection: database.url }))
  } finally {
    await database.drop()
  }
}
