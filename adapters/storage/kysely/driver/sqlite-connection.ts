import { type BigIntStats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'

/** How a SQLite file is used. */
export interface SqliteDriverOptions {
  /** `full`: a commit survives a loss of power. `normal`: it survives the end of the process. Default: `full`. */
  readonly synchronous?: 'full' | 'normal'
  /** MiB of the file that a connection keeps in memory. Default: 32. */
  readonly cacheMiB?: number
}

/** Ms that SQLite waits by itself, which holds up the event loop; longer waits happen outside of it. */
const BLOCKING_WAIT_MS = 5

/** Bytes of the file that are mapped into memory: 1 GiB. */
const MAPPED_BYTES = 1_073_741_824

/**
 * Opens a SQLite file for one connection: durable as the options say, with a write-ahead log and its memory settings. Rejects when another
 * file has taken the name of the file that was opened first.
 */
export async function openSqlite(
  file: string,
  { synchronous = 'full', cacheMiB = 32 }: SqliteDriverOptions,
  place: SqlitePlace,
): Promise<DatabaseSync> {
  const { DatabaseSync } = await builtInSqlite()
  let database: DatabaseSync | undefined
  try {
    place.opening()
    // References are kept by the engine, in every storage alike: the tables declare no foreign keys to check again.
    database = new DatabaseSync(file, { enableForeignKeyConstraints: false, timeout: BLOCKING_WAIT_MS })
    place.opened()
    await enterWalMode(database)
    // The first GiB of the file is read from the memory of the operating system where it is, without a copy. The rest is read as usual: a
    // larger map would take address space that a container may not have.
    database.exec(`pragma synchronous = ${synchronous}; pragma cache_size = ${-1024 * cacheMiB};
      pragma mmap_size = ${MAPPED_BYTES}; pragma temp_store = memory`)
    return database
  } catch (error) {
    if (database !== undefined) closeSqlite(database, place)
    if (error instanceof Error) error.message += `: ${file}`
    throw error
  }
}

/** Closes a database that was opened by {@link openSqlite}. */
export function closeSqlite(database: DatabaseSync, place: SqlitePlace): void {
  try {
    database.close()
  } finally {
    place.closed()
  }
}

const ATTEMPTS = 100

/**
 * Enters the write-ahead log: readers see their snapshot while another process writes, which the engine relies on, and a commit is
 * one write to the log. A file keeps its mode, but of several processes that enter it at once some find the file busy.
 */
async function enterWalMode(database: DatabaseSync): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof Error) || Reflect.get(error, 'errcode') !== 5) throw error
    }
    await new Promise<void>((resolve) => runtime.timer(10, resolve, true))
  }
}

/** The SQLite that is built into Node. Rejects with a message that names the version where there is none. */
export function builtInSqlite(): Promise<typeof import('node:sqlite')> {
  return import('node:sqlite').catch((cause: unknown) => {
    throw new Error(`SQLite needs Node 22.13 or later, this is ${process.version}`, { cause })
  })
}

/** How many statements are kept prepared; the oldest go first, but a statement that was used meanwhile is spared once. */
const PREPARED = 300

interface Prepared {
  readonly statement: StatementSync
  readonly answersRows: boolean
  isUsed: boolean
}

/** Reads look so often, in ms, whether the file is still in its place; writes do every time. */
const LOOK_INTERVAL_MS = 100

/** A connection that prepares each statement once, and acknowledges no write to a file that is gone. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #place: SqlitePlace
  #lookedAt = 0
  #isWriting = false
  /** The error by which SQLite rolled a write back by itself. Further statements would each be a commit of their own. */
  #rolledBack: { readonly cause: unknown } | undefined
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: DatabaseSync, place: SqlitePlace) {
    this.#database = database
    this.#place = place
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#assertBegun()
    switch (query.sql) {
      case 'begin':
        this.#look(LOOK_INTERVAL_MS)
        break
      case 'begin immediate':
        this.#look(0)
        this.#run(query)
        this.#isWriting = true
        return { rows: [] }
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

  /** Runs a statement whose rows are arrays of values: columns may have the same name. */
  async executeForArrays<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#assertBegun()
    this.#look(LOOK_INTERVAL_MS)
    return this.#run(query, true)
  }

  #assertBegun(): void {
    if (this.#rolledBack === undefined) return
    const { cause } = this.#rolledBack
    const message = `SQLite rolled the transaction back: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new Error(message, { cause })
  }

  #look(intervalMs: number): void {
    const now = runtime.monotonic()
    if (now - this.#lookedAt < intervalMs) return
    this.#lookedAt = now
    this.#place.assertSame()
  }

  #run<R>({ sql, parameters }: CompiledQuery, asArrays = false): QueryResult<R> {
    const { statement, answersRows } = this.#prepare(sql)
    // Kysely leaves the types of parameters and rows open; SQLite itself refuses what it cannot bind.
    const values = parameters as readonly SQLInputValue[]
    try {
      if (answersRows) return { rows: allRows(statement, values, asArrays) as R[] }
      const { changes } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes) }
    } catch (error) {
      if (this.#isWriting && mayBegin(this.#database)) this.#rolledBack = { cause: error }
      throw error
    }
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
    // SQLite would run the first statement, and drop the others in silence.
    if (/[^\s;]/.test(sql.slice(statement.sourceSQL.length))) throw new Error('SQLite takes one statement at a time')
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

/** Whether no transaction is under way. One is afterwards. */
function mayBegin(database: DatabaseSync): boolean {
  try {
    database.exec('begin')
    return true
  } catch {
    return false
  }
}

/** The rows of a statement, as arrays of values where these are asked for. */
function allRows(statement: StatementSync, values: readonly SQLInputValue[], asArrays: boolean): unknown[] {
  if (!asArrays) return allObjects(statement, values)
  if (!('setReturnArrays' in statement))
    throw new Error(`rows as arrays need Node 22.16 or later, this is ${process.version}`)
  statement.setReturnArrays(true)
  try {
    return allObjects(statement, values)
  } finally {
    statement.setReturnArrays(false)
  }
}

/** The rows of a statement, with large integers where some are too large for a number: a record with such a value is damaged. */
function allObjects(statement: StatementSync, values: readonly SQLInputValue[]): unknown[] {
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

/** SQLite's result code for a file that cannot be read or written. */
const SQLITE_IOERR = 10

/**
 * Watches that a SQLite file and its write-ahead log stay where the connections of one storage found them: SQLite itself goes on with a
 * file that has lost its name, and the writes that it acknowledges then are lost.
 */
export class SqlitePlace {
  readonly #file: string
  /** There is nothing to watch where no file has the name, as with `:memory:`. */
  #database: string | undefined
  /** While connections are open, only an intruder removes the log. */
  #log: string | undefined
  #connections = 0

  constructor(file: string) {
    // A host may change its working directory later.
    this.#file = resolve(file)
  }

  /**
   * Before a connection is opened. Throws when SQLite would replace the file that was opened first by an empty file, open another file in
   * its place, or begin a second log beside a log that is still written.
   */
  opening(): void {
    if (this.#connections > 0) this.assertSame()
    else this.#assertDatabase()
  }

  opened(): void {
    this.#connections += 1
    this.#database ??= identityOf(this.#file)
  }

  closed(): void {
    this.#connections -= 1
    // The last connection moves the content of the log into the database, and removes the log.
    if (this.#connections === 0) this.#log = undefined
  }

  /** Throws while the name belongs to another file or to none: writes would be lost. */
  assertSame(): void {
    this.#assertDatabase()
    const log = identityOf(`${this.#file}-wal`)
    this.#log ??= log
    if (log !== this.#log) throw isGone(`${this.#file}-wal`)
  }

  #assertDatabase(): void {
    if (this.#database !== undefined && identityOf(this.#file) !== this.#database) throw isGone(this.#file)
  }
}

/** The error of a database file that was there before. */
function isGone(file: string): Error {
  const message = `${file} was deleted, moved or replaced since it was opened`
  return Object.assign(new Error(message), { errcode: SQLITE_IOERR })
}

/** Identifies a file under any name; undefined for a missing file. */
function identityOf(file: string): string | undefined {
  const found: BigIntStats | undefined = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}.${found.ino}`
}
