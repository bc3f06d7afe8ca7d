import { sql } from 'kysely'
import type { SqlLanguage } from '../language.ts'

/** An entry of a btree index holds 2,704 bytes at most; a character takes up to four. */
const INDEXED_CHARACTERS = 300
const UNHASHED_BYTES = 2000

const TYPES = {
  // By code point, whatever the collation of the database.
  text: 'text collate "C"',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  json: 'text',
} as const

export const postgresLanguage: SqlLanguage = {
  name: 'postgres',
  beginRead: 'begin isolation level repeatable read read only',
  beginWrite: 'begin isolation level read committed',
  lockWriters: (scope) => sql`select pg_advisory_xact_lock(hashtext('portcullis'), hashtext(${scope}))`,
  columnType: (type) => TYPES[type],
  tableOptions: () => '',
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
