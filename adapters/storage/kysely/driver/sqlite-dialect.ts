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
import { checkArgument, checkOptions, type OptionRule, type OptionRules } from '../../../../src/base/arguments.ts'
import {
  closeSqlite,
  openSqlite,
  SqliteConnection,
  type SqliteDriverOptions,
  SqlitePlace,
} from './sqlite-connection.ts'

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

/** SQLite has one message for each of these mistakes and for a file that is away for a while: it is unable to open the database. */
function fileProblem(file: string): string | undefined {
  if (file === ':memory:') return undefined
  if (file === '') return 'takes the name of a file, not an empty text'
  if (/^sqlite:/.test(file)) return `takes the name of a file, without sqlite: '${file.slice('sqlite:'.length)}'`
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return `takes the name of a file: ${file} is a folder`
  const folder = dirname(file)
  return existsSync(folder) ? undefined : `names a file in a folder that is not there: ${folder}`
}

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
    this.#database = await openSqlite(this.#file, this.#options, this.#place)
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
    const database = this.#database
    this.#database = undefined
    if (database !== undefined) closeSqlite(database, this.#place)
  }
}
