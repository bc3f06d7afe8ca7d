import type { CompiledQuery } from 'kysely'
import type { Connection } from '../connections/connection.ts'
import { type StoredRecord, UniqueViolation } from '../core.ts'
import type { FieldColumn, RecordTable } from '../schema/record-table.ts'
import type { Draft } from '../transactions/draft.ts'
import type { Lifetime } from '../transactions/lifetime.ts'
import type { Shared } from '../transactions/shared.ts'
import { type EncodedRecord, encodeRecord } from './record-row.ts'
import { timesGiven } from './record-statements.ts'
import { searchRows } from './search-rows.ts'

/** The records of one kind, as one write may change them. */
export interface RecordWriter {
  readonly shared: Shared
  readonly connection: Connection
  readonly draft: Draft
  readonly lifetime: Lifetime
  readonly table: RecordTable
}

/** Adds a record. Throws a {@link UniqueViolation} when its id or a unique value is taken. */
export async function insertRecord(writer: RecordWriter, record: StoredRecord): Promise<void> {
  const { shared, draft, table } = writer
  writer.lifetime.assertOpen()
  const { insert, searched } = shared.statementsOf(table)
  const encoded = encodeRecord(shared.database.language, table, record)
  // The members are read before anything is awaited, for the record is the caller's.
  const members = searched.map(({ field }) => searchRows(field, encoded.id, Reflect.get(record, field.field)))
  if ((await run(writer, insert(encoded.values))) === 0) {
    throw await violationOf(writer, encoded, 'insert')
  }
  for (const [index, { insert: insertRows }] of searched.entries()) {
    for (const query of insertRows(members[index] ?? [])) await run(writer, query)
  }
  draft.note(table.kind, encoded.id, 'insert')
}

/** Replaces a record; false when there is none. Throws a {@link UniqueViolation} when a unique value is taken. */
export async function updateRecord(writer: RecordWriter, record: StoredRecord): Promise<boolean> {
  const { shared, draft, table } = writer
  writer.lifetime.assertOpen()
  const { before, update, searched, unique } = shared.statementsOf(table)
  const encoded = encodeRecord(shared.database.language, table, record)
  const members = searched.map(({ field }) => searchRows(field, encoded.id, Reflect.get(record, field.field)))
  const [known] = await rows(writer, before([encoded.id]))
  if (known === undefined) return false
  const uniqueValues = unique.flatMap((field) => given(writer, field, encoded))
  const isFree = unique.length === 0 ? [] : [encoded.id, ...uniqueValues]
  if ((await run(writer, update([...encoded.values, encoded.id, ...isFree]))) === 0) {
    throw await violationOf(writer, encoded, 'update')
  }
  for (const [index, { field, clear, insert: insertRows }] of searched.entries()) {
    if (known[field.column] === encoded.byField.get(field)) continue
    await run(writer, clear([encoded.id]))
    for (const query of insertRows(members[index] ?? [])) await run(writer, query)
  }
  draft.note(table.kind, encoded.id, 'update')
  return true
}

/** Removes a record; false when there is none. */
export async function deleteRecord(writer: RecordWriter, id: string): Promise<boolean> {
  const { shared, draft, table } = writer
  writer.lifetime.assertOpen()
  const statements = shared.statementsOf(table)
  if ((await run(writer, statements.delete([id]))) === 0) return false
  for (const { clear } of statements.searched) await run(writer, clear([id]))
  draft.note(table.kind, id, 'delete')
  return true
}

/** Finds out which value is taken, by the same rule as the unique indexes. */
async function violationOf(
  writer: RecordWriter,
  encoded: EncodedRecord,
  operation: 'insert' | 'update',
): Promise<UniqueViolation> {
  const { shared, table } = writer
  const { get, unique, holders } = shared.statementsOf(table)
  const kind = table.kind.name
  if (operation === 'insert' && (await rows(writer, get([encoded.id]))).length > 0) {
    return new UniqueViolation(kind, 'id', encoded.id)
  }
  for (const field of unique) {
    const value = encoded.byField.get(field)
    const holder = holders.get(field.field)
    if (value === null || holder === undefined) continue
    const found = await rows(writer, holder([...given(writer, field, encoded), encoded.id]))
    if (found.length > 0) return new UniqueViolation(kind, field.field, String(value))
  }
  throw new Error(`${kind} ${encoded.id} was not stored, and no value of it is taken`)
}

function given({ shared }: RecordWriter, field: FieldColumn, { byField }: EncodedRecord): unknown[] {
  return Array.from({ length: timesGiven(shared.database, field) }, () => byField.get(field))
}

function run(writer: RecordWriter, query: CompiledQuery): Promise<number> {
  return watched(writer, () => writer.connection.run(query))
}

function rows(writer: RecordWriter, query: CompiledQuery) {
  return watched(writer, () => writer.connection.rows(query))
}

/** Keeps the first error: a change that failed between two statements must not be committed by a caller who goes on. */
async function watched<T>({ draft, lifetime }: RecordWriter, work: () => Promise<T>): Promise<T> {
  lifetime.assertOpen()
  try {
    return await work()
  } catch (error) {
    draft.failure ??= error
    throw error
  }
}
