import { open, rename, rm, stat } from 'node:fs/promises'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { createPrivateFile, type SqlitePlace } from './sqlite-place.ts'

/** How many statements are kept prepared; the oldest go first, but those that were used meanwhile are spared once. */
const PREPARED = 300

interface Prepared {
  readonly statement: StatementSync
  readonly answersRows: boolean
  isUsed: boolean
}

/** Reads look so often, in ms, whether the file is still in its place; writes do every time. */
const LOOK_INTERVAL_MS = 100

/** A connection that prepares each statement once, and does not acknowledge what is written to a file that is gone. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #place: SqlitePlace
  #lookedAt = 0
  #isWriting = false
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: DatabaseSync, place: SqlitePlace) {
    this.#database = database
    this.#place = place
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    switch (query.sql) {
      case 'begin':
        this.#look(LOOK_INTERVAL_MS)
        break
      case 'begin immediate':
        this.#look(0)
        this.#isWriting = true
        break
      case 'rollback':
        this.#isWriting = false
        break
      case 'commit':
        if (!this.#isWriting) break
        this.#isWriting = false
        this.#run(query)
        this.#look(0)
        return { rows: [] }
      default:
        this.#look(LOOK_INTERVAL_MS)
    }
    return this.#run(query)
  }

  #look(intervalMs: number): void {
    const now = performance.now()
    if (now - this.#lookedAt < intervalMs) return
    this.#lookedAt = now
    this.#place.assertSame()
  }

  #run<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const { statement, answersRows } = this.#prepare(sql)
    // Kysely leaves the types of parameters and rows open; SQLite itself refuses what it cannot bind.
    const values = parameters as readonly SQLInputValue[]
    if (answersRows) return { rows: allRows(statement, values) as R[] }
    const { changes } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const { statement } = this.#prepare(sql)
    const values = parameters as readonly SQLInputValue[]
    for (const row of statement.iterate(...values)) yield { rows: [row as R] }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known !== undefined) {
      known.isUsed = true
      return known
    }
    const statement = this.#database.prepare(sql)
    const prepared = { statement, answersRows: statement.columns().length > 0, isUsed: false }
    this.#makeRoom()
    this.#prepared.set(sql, prepared)
    return prepared
  }

  #makeRoom(): void {
    for (const [sql, prepared] of this.#prepared) {
      if (this.#prepared.size < PREPARED) return
      this.#prepared.delete(sql)
      if (!prepared.isUsed) continue
      prepared.isUsed = false
      this.#prepared.set(sql, prepared)
    }
  }
}

/** The rows of a statement, with large integers where some are too large for a number: what holds one is damaged. */
function allRows(statement: StatementSync, values: readonly SQLInputValue[]): unknown[] {
  try {
    return statement.all(...values)
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'ERR_OUT_OF_RANGE') throw error
    statement.setReadBigInts(true)
    try {
      return statement.all(...values)
    } finally {
      statement.setReadBigInts(false)
    }
  }
}

/** How far a copy is, in bytes; a copy may end smaller than its original, because free pages stay behind. */
export interface CopyProgress {
  readonly copied: number
  readonly total: number
}

/** Told how far a copy is. */
export type OnCopyProgress = (progress: CopyProgress) => void

const PROGRESS_INTERVAL_MS = 500

/** In a thread of its own, because to check and to copy a large file takes seconds. */
const COPY = `
const { workerData: { from, to } } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(from, { readOnly: true, timeout: 5000 })
const [verdict] = Object.values(database.prepare('pragma quick_check(1)').get() ?? {})
if (verdict !== 'ok') throw Object.assign(new Error(from + ': ' + verdict), { errcode: 11 })
database.prepare('vacuum into ?').run(to)
database.close()`

/**
 * Copies a SQLite database as it is at one moment, whoever writes to it meanwhile. The copy is on the disk, whole, before it
 * has its name; what had that name is replaced. A damaged database is not copied. Errors are those of SQLite and of the file
 * system.
 */
export async function copyDatabase(from: string, to: string, onProgress?: OnCopyProgress): Promise<void> {
  const unfinished = `${to}.unfinished`
  await rm(unfinished, { force: true })
  const total = (await stat(from)).size
  const sizeOf = async () => (await stat(unfinished).catch(() => undefined))?.size ?? 0
  const timer =
    onProgress &&
    setInterval(async () => onProgress({ copied: Math.min(await sizeOf(), total), total }), PROGRESS_INTERVAL_MS)
  try {
    await createPrivateFile(unfinished)
    await vacuumInto(from, unfinished)
    const file = await open(unfinished, 'r+')
    await file.sync().finally(() => file.close())
    await rename(unfinished, to)
  } finally {
    clearInterval(timer)
    await rm(unfinished, { force: true })
  }
}

function vacuumInto(from: string, to: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(COPY, { eval: true, workerData: { from, to } })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}
