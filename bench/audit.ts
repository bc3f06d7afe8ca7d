import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { createTestController, type TestController } from 'portcullis/testing'
import { engineOf } from '../src/controller/guarded-engine.ts'
import { contextOf } from '../src/engine/entity-services.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { auditByRequest } from './audit-requests.ts'
import { median } from './dataplane/workloads.ts'
import type { BenchRow } from './row.ts'

const WRITES = 200
/** Writes of one turn: other work on the machine falls on both sides alike where turns are short. */
const TURN = 20
const ROUNDS = 40
const WARM_UP = 5

/** Measures a write with the audit trail against the same without it, in turns, in process and over TLS: its record, and its part of a seal. */
export async function* benchAudit(): AsyncGenerator<BenchRow> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  try {
    yield await compared('SQLite', (name) => sqliteStorage(join(folder, `${name}.db`)))
    yield await auditByRequest('SQLite', (name) => ({ file: join(folder, `${name}.db`) }))
    const server = await startPostgres({ isDurable: true })
    try {
      yield await compared('PostgreSQL', (name) => postgresStorage({ connection: server.url, tablePrefix: `${name}_` }))
      yield await auditByRequest('PostgreSQL', (name) => ({ url: server.url, tablePrefix: `${name}_` }))
    } finally {
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Side {
  readonly controller: TestController
  readonly storage: Storage
  readonly hasTrail: boolean
  /** Milliseconds of the processor for each round. */
  readonly took: number[]
}

async function compared(name: string, open: (name: string) => Promise<Storage>): Promise<BenchRow> {
  const sides = [await sideOf(await open('with'), true), await sideOf(await open('without'), false)] as const
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const took = new Map<Side, number>()
    for (let turn = 0; turn < WRITES / TURN; turn += 1) {
      for (const side of turn % 2 === 0 ? sides : sides.toReversed())
        took.set(side, (took.get(side) ?? 0) + (await writeSome(side, round, turn)))
    }
    if (round >= WARM_UP) for (const [side, ms] of took) side.took.push(ms)
  }
  for (const { controller, storage } of sides) {
    await controller.close()
    await storage.close()
  }
  const [value, without] = [median(sides[0].took) / WRITES, median(sides[1].took) / WRITES]
  return {
    name: `${name}: a service is created in process with the audit trail, processor`,
    value,
    unit: 'ms',
    ceiling: { name: 'the same without it', value: without },
    target: '≤1.10',
  }
}

async function sideOf(storage: Storage, hasTrail: boolean): Promise<Side> {
  const controller = await createTestController({ storage })
  if (!hasTrail) contextOf(engineOf(controller.engine)).writes.record(async () => undefined)
  return { controller, storage, hasTrail, took: [] }
}

async function writeSome({ controller, hasTrail }: Side, round: number, turn: number): Promise<number> {
  const begin = process.cpuUsage()
  for (let count = 0; count < TURN; count += 1) {
    const body = { name: `service ${round} ${turn} ${count}`, roleAttributes: ['a', 'b'], encryptionRequired: true }
    await controller.admin.call('POST /services', { body })
  }
  // The clock of a test stands still, and so does the timer of seals.
  const isLast = (turn + 1) * TURN >= WRITES
  if (hasTrail && isLast) await engineOf(controller.engine).auditTrail.seal()
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1000
}
