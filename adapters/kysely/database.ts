import { type CompiledQuery, type Dialect, DummyDriver, Kysely, PostgresAdapter, SqliteAdapter, sql } from 'kysely'
import type { RecordKind } from './core.ts'
import type { SqlLanguage } from './language.ts'
import type { KyselyStorageOptions } from './options.ts'
import { postgresLanguage } from './postgres/postgres-language.ts'
import { type RecordTable, recordTable } from './schema/record-table.ts'
import type { Sql } from './sql.ts'
import { sqliteLanguage } from './sqlite/sqlite-language.ts'

/** Where the tables of one storage are, and how statements on them are written; knows no connection. */
export interface Database {
  readonly language: SqlLanguage
  readonly kinds: ReadonlyMap<string, RecordTable>
  readonly schema: string | undefined
  readonly prefix: string
  /** The table of a name without the prefix. */
  table(name: string): Sql
  compile(statement: Sql): CompiledQuery
}

/** What the tables of a storage are called and hold. Throws a TypeError for a dialect that is neither SQLite's nor PostgreSQL's. */
export function describeDatabase(options: KyselyStorageOptions, kinds: readonly RecordKind[]): Database {
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
    kinds: new Map(kinds.map((kind) => [kind.name, recordTable(kind)])),
    schema,
    prefix,
    table: (name) => (schema === undefined ? sql.id(prefix + name) : sql.id(schema, prefix + name)),
    compile: (statement) => statement.compile(writer),
  }
}

function languageOf(dialect: Dialect, name: KyselyStorageOptions['language']): SqlLanguage {
  const adapter = dialect.createAdapter()
  if (name === 'sqlite' || (name === undefined && adapter instanceof SqliteAdapter)) return sqliteLanguage
  if (name === 'postgres' || (name === undefined && adapter instanceof PostgresAdapter)) return postgresLanguage
  throw new TypeError("the dialect is neither SQLite's nor PostgreSQL's: say which one it follows with `language`")
}
