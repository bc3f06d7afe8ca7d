import { createHash } from 'node:crypto'
import type { FieldKind, RecordKind } from '../../../../src/storage.ts'
import type { ColumnType, SqlLanguage } from '../driver/language.ts'

/** A field and the column that holds it. */
export interface FieldColumn {
  readonly field: string
  readonly kind: FieldKind
  readonly column: string
  /** The column that `contains` searches, where that is not the column itself: a folded text, or a number as text. */
  readonly searchColumn?: string
  /** The type that a JSON field always holds. */
  readonly jsonType?: 'list' | 'object'
  /** Whether it always has a value. */
  readonly isRequired: boolean
  readonly isUnique: boolean
  readonly isIndexed: boolean
  /** The table that a set or a JSON value is looked up in. */
  readonly searchTable?: string
}

/** Where the records of a kind are: one row each, and one table for each field that has members to look up. */
export interface RecordTable {
  readonly kind: RecordKind
  readonly table: string
  readonly fields: readonly FieldColumn[]
  readonly byField: ReadonlyMap<string, FieldColumn>
  /** A record without values; see {@link emptyRecord}. */
  readonly empty: EmptyRecord
  /** Columns that the table has besides, of fields that records have no more. */
  readonly retired: readonly FieldColumn[]
  /** Tables in which JSON values were looked up once. */
  readonly dropped: readonly string[]
}

type EmptyRecord = Readonly<Record<string, unknown>>

/**
 * A record that has all fields and no values. Records begin as a copy of it. An object that is filled field by field becomes a hash table
 * in V8 from some 16 fields on, which takes ten times as long to copy.
 */
export function emptyRecord(fields: readonly Pick<FieldColumn, 'field'>[]): EmptyRecord {
  return { id: '', ...Object.fromEntries(fields.map(({ field }) => [field, null])) }
}

/** The tables of all kinds that a storage is opened for, by the name of the kind. */
export type RecordTables = ReadonlyMap<string, RecordTable>

export function recordTables(kinds: readonly RecordKind[]): RecordTables {
  return new Map(kinds.map((kind) => [kind.name, recordTable(kind)]))
}

const COLUMN_TYPES: Readonly<Record<FieldKind, ColumnType>> = {
  string: 'text',
  integer: 'integer',
  number: 'real',
  boolean: 'boolean',
  instant: 'integer',
  set: 'json',
  json: 'json',
}

/** The table of a kind of record. Throws a TypeError when a unique field holds no single value. */
function recordTable(kind: RecordKind): RecordTable {
  const table = identifier(kind.name)
  const all = Object.entries(kind.fields).map(([field, fieldKind]) => fieldColumn(kind, table, field, fieldKind))
  // Long values last: a row is read from its beginning.
  const fields = [...all.filter(({ kind: k }) => !isComposite(k)), ...all.filter(({ kind: k }) => isComposite(k))]
  const retired = Object.entries(kind.retired ?? {}).map(([field, fieldKind]) =>
    fieldColumn({ ...kind, unique: [], indexed: [] }, table, field, fieldKind),
  )
  const unsound = fields.find(({ isUnique, kind: k }) => isUnique && isComposite(k))
  if (unsound !== undefined)
    throw new TypeError(`${kind.name}.${unsound.field} cannot be unique: it holds no single value`)
  const dropped = (kind.unsearchedJson ?? []).map((field) => identifier(table, field))
  const byField = new Map(fields.map((field) => [field.field, field]))
  return { kind, table, fields, byField, empty: emptyRecord(fields), retired, dropped }
}

function fieldColumn(kind: RecordKind, table: string, field: string, fieldKind: FieldKind): FieldColumn {
  const column = identifier(field)
  const jsonType = kind.jsonTypes?.[field]
  const isSearched =
    fieldKind === 'set' ||
    (fieldKind === 'json' && (kind.searchedJson === undefined || kind.searchedJson.includes(field)))
  return {
    field,
    kind: fieldKind,
    column,
    ...(jsonType !== undefined && { jsonType }),
    isRequired: kind.required?.includes(field) === true,
    isUnique: kind.unique.includes(field),
    isIndexed: kind.indexed.includes(field) && !isComposite(fieldKind),
    ...(fieldKind === 'string' && { searchColumn: `${column}_folded` }),
    ...(fieldKind === 'number' && { searchColumn: `${column}_text` }),
    ...(isSearched && { searchTable: identifier(table, field) }),
  }
}

function isComposite(kind: FieldKind): boolean {
  return kind === 'set' || kind === 'json'
}

/** The tables of a kind of record, as they are created. */
export function tableModels(
  { kind: { isJournal }, table, fields: current, retired }: RecordTable,
  language: SqlLanguage,
): TableModel[] {
  const fields = [...current, ...retired]
  const columns = fields.flatMap(({ column, kind, searchColumn }): ColumnModel[] => [
    { name: column, type: COLUMN_TYPES[kind] },
    ...(searchColumn === undefined ? [] : [{ name: searchColumn, type: 'text' } as const]),
  ])
  const indexes = fields.flatMap(({ column, isUnique, isIndexed, kind }) => [
    ...(isUnique ? [{ name: identifier(table, column, 'unique'), columns: [column], isUnique }] : []),
    ...(isIndexed || (isUnique && kind === 'string' && !language.ordersByUniqueText)
      ? [{ name: identifier(table, column, 'index'), columns: [column, 'id'] }]
      : []),
  ])
  const records: TableModel = {
    name: table,
    columns: [{ name: 'id', type: 'text', isRequired: true }, { name: 'id_folded', type: 'text' }, ...columns],
    primaryKey: ['id'],
    indexes,
    // Records of a journal come in the order of their ids: a key apart would be a page more in every commit.
    ...(isJournal && { isIndexOnly: true }),
  }
  const searchTables = fields.flatMap(({ kind, searchTable }) => {
    if (searchTable === undefined) return []
    return kind === 'set' ? [elementTable(searchTable)] : [memberTable(searchTable)]
  })
  return [records, ...searchTables]
}

/** The elements of a set. */
function elementTable(name: string): TableModel {
  return {
    name,
    columns: [
      { name: 'record_id', type: 'text', isRequired: true },
      { name: 'position', type: 'integer', isRequired: true },
      { name: 'value', type: 'text', isRequired: true },
      { name: 'value_folded', type: 'text' },
    ],
    primaryKey: ['record_id', 'position'],
    indexes: [{ name: identifier(name, 'value'), columns: ['value'] }],
    isIndexOnly: true,
  }
}

/** The members of a JSON value, at every depth. */
function memberTable(name: string): TableModel {
  return {
    name,
    columns: [
      { name: 'record_id', type: 'text', isRequired: true },
      { name: 'path', type: 'text', isRequired: true },
      { name: 'type', type: 'text', isRequired: true },
      { name: 'value', type: 'text' },
      { name: 'value_folded', type: 'text' },
      { name: 'number', type: 'real' },
    ],
    primaryKey: ['record_id', 'path'],
    indexes: [{ name: identifier(name, 'value'), columns: ['path', 'value'] }],
    isIndexOnly: true,
  }
}

/** PostgreSQL cuts longer names; some room is left for the prefix. */
const LONGEST = 48

/** The SQL name of a declared one: `serviceRoles` and `service-roles` become `service_roles`. */
function identifier(...parts: readonly string[]): string {
  const name = parts
    .map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_'))
    .join('_')
  if (!/^[a-z_][a-z0-9_]*$/.test(name))
    throw new TypeError(`'${parts.join('.')}' cannot be the name of a table or column`)
  if (name.length <= LONGEST) return name
  return `${name.slice(0, LONGEST - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}

export interface ColumnModel {
  readonly name: string
  readonly type: ColumnType
  readonly isRequired?: boolean
}

export interface IndexModel {
  readonly name: string
  readonly columns: readonly string[]
  readonly isUnique?: boolean
}

/** A table as plain data, as the database records it and the next start compares it. Names are without the prefix. */
export interface TableModel {
  readonly name: string
  readonly columns: readonly ColumnModel[]
  readonly primaryKey: readonly string[]
  readonly indexes: readonly IndexModel[]
  /** True for a table that is nothing but an index of another, and for a journal: where a database can, its rows are kept by their key. */
  readonly isIndexOnly?: boolean
}
