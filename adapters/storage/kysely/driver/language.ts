import {
  type CompiledQuery,
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  type RawBuilder,
  type SchemaModule,
  SqliteAdapter,
  sql,
} from 'kysely'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { StorageUnavailable } from '../../../../src/storage.ts'
import type { Connection } from './pooled-connections.ts'

/** A piece of SQL: its values are bound, its identifiers quoted. */
export type Sql = RawBuilder<unknown>

/** How a column stores its values; json is the text of a JSON value. */
export type ColumnType = 'text' | 'integer' | 'real' | 'boolean' | 'json'

/** The phrases in which the SQL of SQLite and that of PostgreSQL differ. */
export interface SqlLanguage {
  readonly name: 'sqlite' | 'postgres'
  /** Begins a snapshot, and a write that is alone from then on. */
  readonly beginRead: string
  readonly beginWrite: string
  /** Waits until no other process writes to the tables named `scope`; until the transaction ends. Absent where `beginWrite` does. */
  lockWriters?(scope: string): Sql
  /** Ends each statement of the transaction that runs for longer, in ms. Absent where statements never wait. */
  boundStatements?(ms: number): Sql
  columnType(type: ColumnType): string
  /** The text after the columns of a table that is nothing but an index of another, if any. */
  readonly indexTableOptions?: string
  /** Makes the indexed form of a text, so that entries stay small. Ordered as the text is; undefined: the text. */
  indexedText(column: Sql): Sql | undefined
  /** The same of a text at hand. */
  indexedPart(text: string): string
  /** Makes the form of a text for a unique index: different for different texts. */
  uniqueText(column: Sql): Sql
  /** Whether a unique index of texts also serves to put them in order. */
  readonly ordersByUniqueText: boolean
  /** Whether one statement may hold others that change tables. */
  readonly joinsStatements: boolean
  boolean(value: boolean): unknown
  /** A number to compare with a column of any numeric type. */
  number(value: number): Sql
  /** The position of `part` in `whole`, from 1; 0 when it is nowhere. */
  position(whole: Sql, part: string): Sql
  /** The condition that `column` is one of a list of texts of any length. */
  isOneOf(column: Sql, values: readonly string[]): Sql
  /** Nulls come first ascending, last descending. */
  direction(direction: 'asc' | 'desc'): Sql
  slice(limit: number | undefined, offset: number): Sql
  /** The values in a slice, in their order. */
  sliceValues(limit: number | undefined, offset: number): readonly number[]
  /** Asks for one row when a table of that name exists. */
  findTable(table: string, schema: string | undefined): Sql
}

const SQLITE_TYPES = { text: 'text', integer: 'integer', real: 'real', boolean: 'integer', json: 'text' } as const

/** SQLite compares text by its UTF-8 bytes, which is by code point, and puts nulls first by itself. */
const SQLITE: SqlLanguage = {
  name: 'sqlite',
  beginRead: 'begin',
  beginWrite: 'begin immediate',
  columnType: (type) => SQLITE_TYPES[type],
  indexTableOptions: 'without rowid',
  ordersByUniqueText: true,
  joinsStatements: false,
  indexedText: () => undefined,
  indexedPart: (text) => text,
  uniqueText: (column) => column,
  boolean: (value) => (value ? 1 : 0),
  number: (value) => sql`${value}`,
  position: (whole, part) => sql`instr(${whole}, ${part})`,
  isOneOf: (column, values) => sql`${column} in (select value from json_each(${JSON.stringify(values)}))`,
  direction: (direction) => sql.raw(direction),
  slice(limit, offset) {
    if (offset > 0) return sql`limit ${limit ?? -1} offset ${offset}`
    return limit === undefined ? sql`` : sql`limit ${limit}`
  },
  sliceValues(limit, offset) {
    if (offset > 0) return [limit ?? -1, offset]
    return limit === undefined ? [] : [limit]
  },
  findTable: (table) => sql`select 1 as found from sqlite_master where type = 'table' and name = ${table}`,
}

/** An entry of a btree index holds 2,704 bytes at most; a character takes up to four. */
const INDEXED_CHARACTERS = 300
const UNHASHED_BYTES = 2000

const POSTGRES_TYPES = {
  // By code point, whatever the collation of the database.
  text: 'text collate "C"',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  json: 'text',
} as const

const POSTGRES: SqlLanguage = {
  name: 'postgres',
  beginRead: 'begin isolation level repeatable read read only',
  beginWrite: 'begin isolation level read committed',
  boundStatements: (ms) => sql`set local statement_timeout = ${sql.lit(Math.ceil(ms))}`,
  lockWriters: (scope) => sql`select pg_advisory_xact_lock(hashtext('portcullis'), hashtext(${scope}))`,
  columnType: (type) => POSTGRES_TYPES[type],
  ordersByUniqueText: false,
  joinsStatements: true,
  indexedText: (column) => sql`left(${column}, ${sql.lit(INDEXED_CHARACTERS)})`,
  indexedPart: (text) =>
    text.length <= INDEXED_CHARACTERS ? text : Array.from(text).slice(0, INDEXED_CHARACTERS).join(''),
  uniqueText: (column) => sql`(case when octet_length(${column}) <= ${sql.lit(UNHASHED_BYTES)} then ${column} \
else left(${column}, 400) || md5(${column}) || md5(reverse(${column})) end)`,
  boolean: (value) => value,
  number: (value) =>
    Number.isSafeInteger(value) ? sql`cast(${value} as bigint)` : sql`cast(${value} as double precision)`,
  position: (whole, part) => sql`strpos(${whole}, ${part})`,
  isOneOf: (column, values) => sql`${column} = any(cast(${values} as text[]))`,
  direction: (direction) => (direction === 'asc' ? sql`asc nulls first` : sql`desc nulls last`),
  slice: (limit, offset) =>
    sql`${limit === undefined ? sql`` : sql`limit ${limit}`} ${offset > 0 ? sql`offset ${offset}` : sql``}`,
  sliceValues: (limit, offset) => [...(limit === undefined ? [] : [limit]), ...(offset > 0 ? [offset] : [])],
  findTable: (table, schema) =>
    sql`select 1 as found from pg_tables where tablename = ${table} and schemaname = coalesce(${schema ?? null}, current_schema())`,
}

/*
 * Statements on records are written with Kysely's `sql` template instead of its query builder. Their tables and columns follow from
 * declarations when a storage is opened, so the builder's types would check nothing. A text is compiled once and then run with other values
 * (docs/decisions.md).
 */

/** A statement that is written once and run with other values each time, which drivers can prepare. */
export type Statement = (parameters: readonly unknown[]) => CompiledQuery

/** `text` holds some value wherever one is to be given, in the order in which they are given. */
export function statement(database: Database, text: Sql): Statement {
  const { sql, query, queryId } = database.compile(text)
  return (parameters) => ({ sql, query, queryId, parameters })
}

/** How many rows go into one statement, as many as possible; few sizes, so that few statements are prepared. */
const SIZES = [64, 8, 1] as const

/** Makes the statements that add any number of rows to one table. */
export type RowInserter = (rows: readonly (readonly unknown[])[]) => Generator<CompiledQuery>

/** The inserter of a table. */
export function rowInserter(database: Database, table: string, columns: readonly string[]): RowInserter {
  const statements = new Map<number, Statement>()
  const ofSize = (size: number) => {
    let made = statements.get(size)
    if (made === undefined) {
      const row = sql`(${sql.join(columns.map(() => sql`${0}`))})`
      const names = sql.join(columns.map((name) => sql.id(name)))
      const rows = sql.join(Array.from({ length: size }, () => row))
      made = statement(database, sql`insert into ${database.table(table)} (${names}) values ${rows}`)
      statements.set(size, made)
    }
    return made
  }
  return function* (rows) {
    let begin = 0
    for (const size of SIZES) {
      for (; rows.length - begin >= size; begin += size) yield ofSize(size)(rows.slice(begin, begin + size).flat())
    }
  }
}

const LONGEST_PAUSE_MS = 20

/**
 * Begins a transaction that writes, alone among all processes. Waits for others without holding up the event loop. Error:
 * {@link StorageUnavailable} `busy` after `timeoutMs`.
 */
export async function beginWrite(database: Database, connection: Connection, timeoutMs: number): Promise<void> {
  const { language } = database
  const since = runtime.monotonic()
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      await connection.command(language.beginWrite)
      break
    } catch (error) {
      const isBusy = error instanceof StorageUnavailable && error.reason === 'busy'
      if (!isBusy || runtime.monotonic() - since >= timeoutMs) throw error
    }
    await new Promise<void>((resolve) => runtime.timer(pauseMs, resolve, true))
  }
  const lock = language.lockWriters?.(`${database.schema ?? ''}.${database.prefix}`)
  if (lock !== undefined) await connection.rows(database.compile(lock))
}

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
