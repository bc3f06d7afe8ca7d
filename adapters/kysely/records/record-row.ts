import { DamagedRecord, type Page, type StoredRecord } from '../../../src/index.ts'
import type { Row } from '../driver/connection.ts'
import type { SqlLanguage } from '../language/language.ts'
import { decode, encode, foldedText } from '../schema/field-value.ts'
import { UNREADABLE } from '../schema/json-text.ts'
import type { FieldColumn, RecordTable } from '../schema/record-table.ts'

/** A record as a row: each column of each field. */
export interface EncodedRecord {
  readonly id: string
  /** In the order in which the statements name the columns. */
  readonly values: readonly unknown[]
  /** What the field's own column holds. */
  readonly byField: ReadonlyMap<FieldColumn, unknown>
}

/** Throws a TypeError for a value that is not of its field's kind, and for a field that is not declared. */
export function encodeRecord(
  language: SqlLanguage,
  { kind, fields, byField }: RecordTable,
  record: StoredRecord,
): EncodedRecord {
  const id = String(encode(language, `${kind.name}.id`, 'string', record.id))
  const values: unknown[] = [id, foldedText(id)]
  const encoded = new Map<FieldColumn, unknown>()
  for (const field of fields) {
    const given: unknown = Reflect.get(record, field.field)
    const value = encode(language, `${kind.name}.${field.field}`, field.kind, given)
    encoded.set(field, value)
    values.push(value)
    if (field.searchColumn === undefined) continue
    if (typeof value === 'string') values.push(foldedText(value))
    else values.push(value === null ? null : String(value))
  }
  const unknown = Object.keys(record).find((name) => name !== 'id' && !byField.has(name))
  if (unknown !== undefined) throw new TypeError(`${kind.name} has no field ${unknown}`)
  return { id, values, byField: encoded }
}

/** A record, or what is wrong with it. */
export type RecordOrDamage = StoredRecord | DamagedRecord

/** The record of a row, which any number of readers may share; or what is wrong with it. */
export function decodeRecord(
  { kind: recordKind, fields }: Pick<RecordTable, 'kind' | 'fields'>,
  row: Row,
): RecordOrDamage {
  const record: Record<string, unknown> & StoredRecord = { id: String(row.id) }
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
  // Up to version 0.1.0 a list that nobody had written to was filled in as an empty object.
  return type === 'list' && Object.keys(value).length === 0 ? NO_ELEMENTS : UNREADABLE
}

const NO_ELEMENTS = Object.freeze([])

/** The record itself. Throws a {@link DamagedRecord}. */
export function readable(record: RecordOrDamage): StoredRecord {
  if (record instanceof DamagedRecord) throw record
  return record
}

/** The page of what was found: those that cannot be read apart. */
export function pageOf(found: readonly RecordOrDamage[], totalCount: number): Page<StoredRecord> {
  const damaged = found.filter((record) => record instanceof DamagedRecord)
  if (damaged.length === 0) return { items: found, totalCount }
  return { items: found.filter((record) => !(record instanceof DamagedRecord)), totalCount, damaged }
}
