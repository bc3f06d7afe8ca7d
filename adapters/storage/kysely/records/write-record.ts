import type { CompiledQuery } from 'kysely'
import type { Page } from '../../../../src/index.ts'
import { type Change, DamagedRecord, type StoredRecord, UniqueViolation } from '../../../../src/storage.ts'
import type { Database, RowInserter, SqlLanguage } from '../driver/language.ts'
import type { Row } from '../driver/pooled-connections.ts'
import { decode, encode, foldedText, searchRows, UNREADABLE } from '../schema/field-value.ts'
import type { FieldColumn, RecordTable } from '../schema/record-table.ts'
import { type RecordStatements, timesGiven } from './record-statements.ts'

/** The write under way: runs its statements and notes what they changed. */
export interface WriteUnderWay {
  /** Answers how many rows were changed. */
  run(query: CompiledQuery): Promise<number>
  rows(query: CompiledQuery): Promise<readonly Row[]>
  note(kind: string, id: string, operation: Change['operation']): void
  /** Adds a row by the end of the write, without a change event. */
  defer(inserter: RowInserter, values: readonly unknown[]): void
}

/** The records of one kind, as one write may change them. */
export interface RecordWriter {
  readonly database: Database
  readonly table: RecordTable
  readonly statements: RecordStatements
  readonly write: WriteUnderWay
}

/** Adds a record. Throws a {@link UniqueViolation} when its id or a unique value is taken. */
export async function insertRecord(writer: RecordWriter, record: StoredRecord): Promise<void> {
  const { database, table, write } = writer
  const { insert, searched } = writer.statements
  const encoded = encodeRecord(database.language, table, record)
  if (table.kind.isJournal) {
    write.defer(writer.statements.insertRows, encoded.values)
    return
  }
  // The members are read before anything is awaited, because the caller may change the record.
  const members = searched.map(({ field }) => searchRows(field, encoded.id, Reflect.get(record, field.field)))
  if ((await write.run(insert(encoded.values))) === 0) {
    throw await violationOf(writer, encoded, 'insert')
  }
  for (const [index, { insert: insertRows }] of searched.entries()) {
    for (const query of insertRows(members[index] ?? [])) await write.run(query)
  }
  write.note(table.kind.name, encoded.id, 'insert')
}

/** Replaces a record; false when there is none. Throws a {@link UniqueViolation} when a unique value is taken. */
export async function updateRecord(writer: RecordWriter, record: StoredRecord): Promise<boolean> {
  const { database, table, write } = writer
  const { before, searched } = writer.statements
  const encoded = encodeRecord(database.language, table, record)
  const members = searched.map(({ field }) => searchRows(field, encoded.id, Reflect.get(record, field.field)))
  const [known] = await write.rows(before([encoded.id]))
  if (known === undefined) return false
  if ((await write.run(updateOf(writer, known, record, encoded))) === 0) {
    throw await violationOf(writer, encoded, 'update')
  }
  for (const [index, { field, clear, insert: insertRows }] of searched.entries()) {
    if (known[field.column] === encoded.byField.get(field)) continue
    await write.run(clear([encoded.id]))
    for (const query of insertRows(members[index] ?? [])) await write.run(query)
  }
  write.note(table.kind.name, encoded.id, 'update')
  return true
}

/** The statement that replaces a record: without the indexed fields where they stay as they are. */
function updateOf(writer: RecordWriter, known: Row, record: StoredRecord, encoded: EncodedRecord): CompiledQuery {
  const { update, updateUnindexed, unindexed, indexed, unique } = writer.statements
  const isSame = ({ field, column, kind }: FieldColumn) =>
    decode(kind, known[column]) === (Reflect.get(record, field) ?? null)
  if (unindexed.length > 0 && indexed.every(isSame)) {
    return updateUnindexed([...unindexed.map((at) => encoded.values[at]), encoded.id])
  }
  const uniqueValues = unique.flatMap((field) => given(writer, field, encoded))
  const isFree = unique.length === 0 ? [] : [encoded.id, ...uniqueValues]
  return update([...encoded.values, encoded.id, ...isFree])
}

/** Removes a record; false when there is none. */
export async function deleteRecord({ table, statements, write }: RecordWriter, id: string): Promise<boolean> {
  if ((await write.run(statements.delete([id]))) === 0) return false
  for (const { clear } of statements.searched) await write.run(clear([id]))
  write.note(table.kind.name, id, 'delete')
  return true
}

/** Finds out which value is taken, by the same rule as the unique indexes. */
async function violationOf(
  writer: RecordWriter,
  encoded: EncodedRecord,
  operation: 'insert' | 'update',
): Promise<UniqueViolation> {
  const { table, write } = writer
  const { get, unique, holders } = writer.statements
  const kind = table.kind.name
  if (operation === 'insert' && (await write.rows(get([encoded.id]))).length > 0) {
    return new UniqueViolation(kind, 'id', encoded.id)
  }
  for (const field of unique) {
    const value = encoded.byField.get(field)
    const holder = holders.get(field.field)
    if (value === null || holder === undefined) continue
    const found = await write.rows(holder([...given(writer, field, encoded), encoded.id]))
    if (found.length > 0) return new UniqueViolation(kind, field.field, String(value))
  }
  throw new Error(`${kind} ${encoded.id} was not stored, and no value of it is taken`)
}

function given({ database }: RecordWriter, field: FieldColumn, { byField }: EncodedRecord): unknown[] {
  return Array.from({ length: timesGiven(database, field) }, () => byField.get(field))
}

/** A record as a row: each column of each field. */
export interface EncodedRecord {
  readonly id: string
  /** In the order in which the statements name the columns. */
  readonly values: readonly unknown[]
  /** The values of the fields' own columns. */
  readonly byField: ReadonlyMap<FieldColumn, unknown>
}

/** Throws a TypeError for a value that is not of its field's kind, and for a field that is not declared. */
function encodeRecord(
  language: SqlLanguage,
  { kind, fields, byField }: RecordTable,
  record: StoredRecord,
): EncodedRecord {
  const id = String(encode(language, `${kind.name}.id`, 'string', record.id))
  const values: unknown[] = kind.isJournal ? [id] : [id, foldedText(id)]
  const encoded = new Map<FieldColumn, unknown>()
  for (const field of fields) {
    const given: unknown = Reflect.get(record, field.field)
    const value = encode(language, `${kind.name}.${field.field}`, field.kind, given)
    encoded.set(field, value)
    values.push(value)
    // The texts of a journal are never searched: their search columns are left out.
    if (field.searchColumn === undefined || kind.isJournal) continue
    if (typeof value === 'string') values.push(foldedText(value))
    else values.push(value === null ? null : String(value))
  }
  const unknown = Object.keys(record).find((name) => name !== 'id' && !byField.has(name))
  if (unknown !== undefined) throw new TypeError(`${kind.name} has no field ${unknown}`)
  return { id, values, byField: encoded }
}

/** A record, or its damage. */
export type RecordOrDamage = StoredRecord | DamagedRecord

/** The record of a row, which any number of readers may share; or its damage. */
export function decodeRecord(
  { kind: recordKind, fields, empty }: Pick<RecordTable, 'kind' | 'fields' | 'empty'>,
  row: Row,
): RecordOrDamage {
  const record: Record<string, unknown> & StoredRecord = { ...empty, id: String(row.id) }
  let damaged: string[] | undefined
  for (const { field, column, kind, jsonType, isRequired } of fields) {
    const decoded = decode(kind, row[column])
    const value = jsonType === undefined ? decoded : ofJsonType(jsonType, decoded)
    if (value !== UNREADABLE && (value !== null || !isRequired)) record[field] = value
    else {
      record[field] = recordKind.defaults?.[field] ?? null
      damaged = [...(damaged ?? []), field]
    }
  }
  Object.freeze(record)
  return damaged === undefined ? record : new DamagedRecord(recordKind.name, record, damaged)
}

/** A value of the type that a JSON field always holds. */
function ofJsonType(type: 'list' | 'object', value: unknown): unknown {
  if (value === null) return null
  if (typeof value !== 'object') return UNREADABLE
  if (Array.isArray(value) === (type === 'list')) return value
  // Up to version 0.1.0 a list without any write was filled in as an empty object.
  return type === 'list' && Object.keys(value).length === 0 ? NO_ELEMENTS : UNREADABLE
}

const NO_ELEMENTS = Object.freeze([])

/** The record itself. Throws a {@link DamagedRecord}. */
export function readable(record: RecordOrDamage): StoredRecord {
  if (record instanceof DamagedRecord) throw record
  return record
}

/** The page of the found records. Damaged records stand in a list of their own. */
export function pageOf(found: readonly RecordOrDamage[], totalCount: number): Page<StoredRecord> {
  const damaged = found.filter((record) => record instanceof DamagedRecord)
  if (damaged.length === 0) return { items: found, totalCount }
  return { items: found.filter((record) => !(record instanceof DamagedRecord)), totalCount, damaged }
}
