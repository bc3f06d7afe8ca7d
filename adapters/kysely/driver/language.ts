import { type RawBuilder, sql } from 'kysely'

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
export const SQLITE: SqlLanguage = {
  name: 'sqlite',
  beginRead: 'begin',
  beginWrite: 'begin immediate',
  columnType: (type) => SQLITE_TYPES[type],
  indexTableOptions: 'without rowid',
  ordersByUniqueText: true,
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

export const POSTGRES: SqlLanguage = {
  name: 'postgres',
  beginRead: 'begin isolation level repeatable read read only',
  beginWrite: 'begin isolation level read committed',
  lockWriters: (scope) => sql`select pg_advisory_xact_lock(hashtext('portcullis'), hashtext(${scope}))`,
  columnType: (type) => POSTGRES_TYPES[type],
  ordersByUniqueText: false,
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
