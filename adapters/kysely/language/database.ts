import {
  type CompiledQuery,
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  type SchemaModule,
  SqliteAdapter,
  sql,
} from 'kysely'
import { POSTGRES, SQLITE, type Sql, type SqlLanguage } from './language.ts'

/** Which tables of a database belong to a storage, and the SQL that they are written and asked in. */
export interface DatabaseOptions {
  /**
   * A Kysely dialect for SQLite or PostgreSQL, or a function that makes one. A function is called once for writes and again
   * for reads: give one where a dialect has a single connection, as those for SQLite do, or else reads and writes take turns.
   */
  readonly dialect: Dialect | (() => Dialect)
  /** Which SQL a dialect follows whose adapter is not Kysely's own. */
  readonly language?: 'sqlite' | 'postgres'
  /** Stands before the name of every table and index. Default: nothing. */
  readonly tablePrefix?: string
  /** The PostgreSQL schema of the tables, created when missing. Default: the first of the connection's search path. */
  readonly schema?: string
}

/** Where the tables of one storage are, and how statements on them are written; knows no connection. */
export interface Database {
  readonly language: SqlLanguage
  readonly schema: string | undefined
  readonly prefix: string
  /** The table of a name without the prefix. */
  table(name: string): Sql
  compile(statement: Sql): CompiledQuery
  /** Makes the statements that create and change tables; their names are taken with the prefix. */
  readonly tables: SchemaModule
}

/** Throws a TypeError for a dialect that is neither SQLite's nor PostgreSQL's. */
export function describeDatabase(options: DatabaseOptions): Database {
  const dialect = typeof options.dialect === 'function' ? options.dialect() : options.dialect
  const language = languageOf(dialect, options.language)
  const { schema, tablePrefix: prefix = '' } = options
  const writer = new Kysely<unknown>({
    dialect: {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
  })
  return {
    language,
    schema,
    prefix,
    table: (name) => (schema === undefined ? sql.id(prefix + name) : sql.id(schema, prefix + name)),
    compile: (statement) => statement.compile(writer),
    tables: schema === undefined ? writer.schema : writer.schema.withSchema(schema),
  }
}

function languageOf(dialect: Dialect, name: DatabaseOptions['language']): SqlLanguage {
  const adapter = dialect.createAdapter()
  if (name === 'sqlite' || (name === undefined && adapter instanceof SqliteAdapter)) return SQLITE
  if (name === 'postgres' || (name === undefined && adapter instanceof PostgresAdapter)) return POSTGRES
  throw new TypeError("the dialect is neither SQLite's nor PostgreSQL's: say which one it follows with `language`")
}
