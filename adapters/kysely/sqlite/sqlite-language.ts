import { sql } from 'kysely'
import type { SqlLanguage } from '../language.ts'

const TYPES = { text: 'text', integer: 'integer', real: 'real', boolean: 'integer', json: 'text' } as const

/** SQLite compares text by its UTF-8 bytes, which is by code point, and puts nulls first by itself. */
export const sqliteLanguage: SqlLanguage = {
  name: 'sqlite',
  beginRead: 'begin',
  beginWrite: 'begin immediate',
  columnType: (type) => TYPES[type],
  tableOptions: ({ isIndexOnly }) => (isIndexOnly ? ' without rowid' : ''),
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
