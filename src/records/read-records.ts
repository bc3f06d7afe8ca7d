import { type Call, isAdminCall } from '../context/call.ts'
import { whatIsLeft } from '../context/recorded-changes.ts'
import type { BaseRecord, RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { compareBy, equals, matches } from '../kernel/filter/index.ts'
import {
  type Collection,
  DamagedRecord,
  type FindQuery,
  type Page,
  type ReadCollection,
  type ReadTransaction,
  type RecordKind,
  type Slice,
  type StoredRecord,
  type WriteTransaction,
} from '../ports/record-storage.ts'
import type { Turns } from '../ports/runtime.ts'

export function collectionOf<R extends Resource>(tx: WriteTransaction, resource: R): Collection<RecordOf<R>>
export function collectionOf<R extends Resource>(tx: ReadTransaction, resource: R): ReadCollection<RecordOf<R>>
/** The collection of a resource that is only known by a type parameter, which inference loses. */
export function collectionOf(tx: ReadTransaction, resource: Resource): unknown {
  return tx.collection(resource)
}

/** The record with `value` in an indexed or unique field. Throws a `DamagedRecord` for an unreadable record. */
export async function findOne<T extends StoredRecord>(
  tx: ReadTransaction,
  kind: RecordKind<T>,
  field: keyof T & string,
  value: string,
): Promise<T | undefined> {
  const { items, damaged = [] } = await tx.collection(kind).find({ where: equals(field, value), limit: 1 })
  if (damaged[0] !== undefined) throw damaged[0]
  return items[0]
}

/**
 * Every record of a resource, in the order of ids, in slices; other work has its turn in between. Damaged records are reported separately.
 */
export async function* everyRecord<R extends Resource>(
  tx: ReadTransaction,
  resource: R,
  turns: Turns,
): AsyncGenerator<Slice<RecordOf<R>>, void> {
  const turn = turns.begin()
  const kind: Resource = resource
  for await (const slice of tx.collection(kind).scan(Object.keys(kind.fields))) {
    // The scan asked for every field.
    yield slice as Slice<RecordOf<R>>
    await turn()
  }
}

/** A page of a list outside of any storage, by the rules of a storage. */
export function pageOf<T extends object>(items: readonly (T & { readonly id: string })[], query: FindQuery): Page<T> {
  const { where, orderBy = [], offset = 0, limit = items.length } = query
  const found = items.filter((item) => where === undefined || matches(where, { ...item })).sort(compareBy(orderBy))
  return { items: found.slice(offset, offset + limit), totalCount: found.length }
}

/** A new record at `now` (epoch ms): the members of every record, and `fields`, which may bring tags. */
export function newRecord<const Fields extends object>(id: string, now: number, fields: Fields): BaseRecord & Fields {
  return { id, createdAt: now, updatedAt: now, tags: {}, ...fields }
}

/**
 * The record to delete, or the remains of a damaged record. Only an administrator may delete damaged records, because the unreadable field
 * may protect the record. Error: {@link DamagedRecord} for other callers.
 */
export async function readToDelete<T extends StoredRecord>(
  call: Call,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return isAdminCall(call) ? whatIsLeft(read) : read()
}

/** Reads a record; undefined for a damaged record: for records that are made again when they are missing. */
export async function ifReadable<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DamagedRecord) return undefined
    throw error
  }
}

/** Reports whether a record exists, readable or damaged: for records that are only made when they are missing. */
export async function isStored(read: () => Promise<StoredRecord | undefined>): Promise<boolean> {
  try {
    return (await read()) !== undefined
  } catch (error) {
    if (error instanceof DamagedRecord) return true
    throw error
  }
}
