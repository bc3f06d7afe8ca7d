import { existsSync } from 'node:fs'
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
import { SqliteConnection } from './sqlite-connection.ts'
import { FilePlace, isGone } from './sqlite-place.ts'

/** How a SQLite file is used. */
export interface SqliteDriverOptions {
  /** `full`: a commit survives a loss of power. `normal`: it survives the end of the process. Default: `full`. */
  readonly synchronous?: 'full' | 'normal'
  /** MiB of the file that a connection keeps in memory. Default: 32. */
  readonly cacheMiB?: number
}

/** SQLite waits so many ms by itself, and holds up the event loop; whoever has to wait longer does so outside of it. */
const BUSY_TIMEOUT_MS = 5

/** A Kysely dialect over the SQLite that is built into Node (22.13 and later); each driver is one connection to `file`. */
export function sqliteDialect(file: string, options: SqliteDriverOptions = {}): Dialect {
  const opened = { before: false }
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteFileDriver(file, options, opened),
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
  /** Whether the file was there for a connection of the same dialect. */
  readonly #opened: { before: boolean }
  #database: DatabaseSync | undefined
  #connection: SqliteConnection | undefined

  constructor(file: string, options: SqliteDriverOptions, opened: { before: boolean }) {
    this.#file = file
    this.#options = options
    this.#opened = opened
  }

  async init(): Promise<void> {
    const { DatabaseSync } = await builtInSqlite()
    // SQLite would make an empty one in place of the file that is gone.
    if (this.#opened.before && !existsSync(this.#file)) throw isGone(this.#file)
    try {
      await this.#open(DatabaseSync)
    } catch (error) {
      if (error instanceof Error) error.message += `: ${this.#file}`
      throw error
    }
    this.#opened.before = existsSync(this.#file)
  }

  async #open(DatabaseSync: typeof import('node:sqlite').DatabaseSync): Promise<void> {
    const { synchronous = 'full', cacheMiB = 32 } = this.#options
    this.#database = new DatabaseSync(this.#file, { enableForeignKeyConstraints: false, timeout: BUSY_TIMEOUT_MS })
    await enterWalMode(this.#database)
    // Pages are read from the memory of the operating system where they are, without a copy.
    this.#database.exec(`pragma synchronous = ${synchronous}; pragma cache_size = ${-1024 * cacheMiB};
      pragma mmap_size = 1073741824; pragma temp_store = memory`)
    this.#connection = new SqliteConnection(this.#database, new FilePlace(this.#file))
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
    this.#database?.close()
    this.#database = undefined
  }
}

const ATTEMPTS = 100

/** A file keeps its mode, but of several processes that enter it at once some find the file busy. */
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
