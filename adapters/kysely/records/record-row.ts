import type { StoredRecord } from '../../../src/index.ts'
import type { Row } from '../driver/connection.ts'
import type { SqlLanguage } from '../language/language.ts'
import { decode, encode, foldedText } from '../schema/field-value.ts'
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

/** The record of a row, which any number of readers may share. */
export function decodeRecord({ fields }: RecordTable, row: Row): StoredRecord {
  const record: Record<string, unknown> & StoredRecord = { id: String(row.id) }
  for (const { field, column, kind } of fields) record[field] = decode(kind, row[column])
  return Object.freeze(record)
}
