import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { checkArgument, checkOptions, type OptionRule, type OptionRules } from '../../../src/base/arguments.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { SqlitePlace } from './sqlite-place.ts'

/** How a SQLite file is used. */
export interface SqliteDriverOptions {
  /** `full`: a commit survives a loss of power. `normal`: it survives the end of the process. Default: `full`. */
  readonly synchronous?: 'full' | 'normal'
  /** MiB of the file that a connection keeps in memory. Default: 32. */
  readonly cacheMiB?: number
}

/** Rules of the options, one for each. */
export const SQLITE_OPTIONS: OptionRules<SqliteDriverOptions> = {
  synchronous: { oneOf: ['full', 'normal'] },
  cacheMiB: 'number',
}

/** The rule for the name of a database. */
export const SQLITE_FILE: OptionRule = {
  shape: 'string',
  isNeeded: true,
  hint: "the name of a file, or ':memory:'",
  problem: fileProblem,
}

/** SQLite says of each of them that it is unable to open the database, as of one that is away for a while. */
function fileProblem(file: string): string | undefined {
  if (file === ':memory:') return undefined
  if (file === '') return 'takes the name of a file, not an empty text'
  if (/^sqlite:/.test(file)) return `takes the name of a file, without sqlite: '${file.slice('sqlite:'.length)}'`
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return `takes the name of a file: ${file} is a folder`
  const folder = dirname(file)
  return existsSync(folder) ? undefined : `names a file in a folder that is not there: ${folder}`
}

/** Ms that SQLite waits by itself, which holds up the event loop; longer waits happen outside of it. */
const BUSY_TIMEOUT_MS = 5

/** Bytes of the file that are mapped into memory: 1 GiB. */
const MAPPED_BYTES = 1_073_741_824

/**
 * A Kysely dialect over the SQLite that is built into Node (22.13 and later); each driver is one connection to `file`.
 *
 * @example
 * await migrate({ dialect: () => sqliteDialect('portcullis.sqlite'), dryRun: true })
 */
export function sqliteDialect(file: string, options: SqliteDriverOptions = {}): Dialect {
  checkArgument('sqliteDialect', 'file', file, SQLITE_FILE)
  checkOptions('sqliteDialect', options, SQLITE_OPTIONS)
  const place = new SqlitePlace(file)
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteFileDriver(file, options, place),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** The SQLite that is built into Node. Rejects with a message that names the version where there is none. */
export function builtInSqlite(): Promise<typeof import('node:sqlite')> {
  return import('node:sqlite').catch((cause: unknown) => {
    throw new Error(`SQLite needs Node 22.13 or later, this is ${process.version}`, { cause })
  })
}

/** One connection to a SQLite file. */
class SqliteFileDriver implements Driver {
  readonly #file: string
  readonly #options: SqliteDriverOptions
  readonly #place: SqlitePlace
  #database: DatabaseSync | undefined
  #connection: SqliteConnection | undefined

  constructor(file: string, options: SqliteDriverOptions, place: SqlitePlace) {
    this.#file = file
    this.#options = options
    this.#place = place
  }

  async init(): Promise<void> {
    const { DatabaseSync } = await builtInSqlite()
    this.#place.opening()
    try {
      await this.#open(DatabaseSync)
    } catch (error) {
      if (error instanceof Error) error.message += `: ${this.#file}`
      throw error
    }
  }

  async #open(DatabaseSync: typeof import('node:sqlite').DatabaseSync): Promise<void> {
    const { synchronous = 'full', cacheMiB = 32 } = this.#options
    // References are kept by the engine, in every storage alike: the tables declare no foreign keys to check again.
    this.#database = new DatabaseSync(this.#file, { enableForeignKeyConstraints: false, timeout: BUSY_TIMEOUT_MS })
    this.#place.opened()
    await enterWalMode(this.#database)
    // The first GiB of the file is read from the memory of the operating system where it is, without a copy. What lies beyond is
    // read as usual; more would take address space that a container may not have.
    this.#database.exec(`pragma synchronous = ${synchronous}; pragma cache_size = ${-1024 * cacheMiB};
      pragma mmap_size = ${MAPPED_BYTES}; pragma temp_store = memory`)
    this.#connection = new SqliteConnection(this.#database, this.#place)
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#connection === undefined) throw new Error('the driver is not initialised')
    return this.#connection
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'))
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#connection = undefined
    if (this.#database === undefined) return
    try {
      this.#database.close()
    } finally {
      this.#database = undefined
      this.#place.closed()
    }
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
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
