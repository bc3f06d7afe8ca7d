import { jsonBytes, utf8Bytes } from '../base/bytes.ts'
import type { ControllerError } from '../base/errors.ts'
import { type Limits, tooLarge, tooManyTags } from '../base/limits.ts'
import { needsBefore, RESOURCES } from '../facts/resources/index.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import {
  type Collection,
  DamagedRecord,
  type RecordKind,
  type StoredRecord,
  type WriteTransaction,
} from '../ports/record-storage.ts'
import { placeOf } from './store-level.ts'

/** A change of one record by a write. `before` is kept for the kinds whose traits ask for it. */
export interface RecordedChange<T extends StoredRecord = StoredRecord> {
  readonly operation: 'insert' | 'update' | 'delete'
  readonly kind: string
  readonly id: string
  readonly before?: T | undefined
  readonly after?: T | undefined
}

/** The changes to records of one resource, in the order in which they were made. */
export function changesTo<R extends Resource>(
  changes: readonly RecordedChange[],
  resource: R,
): readonly RecordedChange<RecordOf<R>>[] {
  // The collection of a resource holds its records, which no type of `kind` can say.
  return changes.filter(({ kind }) => kind === resource.name) as readonly unknown[] as readonly RecordedChange<
    RecordOf<R>
  >[]
}

/** Wraps a write so that `changes` lists the changes made through it. Before each change it shares the thread by `turn`. */
export function recording(
  tx: WriteTransaction,
  changes: RecordedChange[],
  turn: () => Promise<void> | undefined,
): WriteTransaction {
  return {
    ...placeOf(tx),
    changesSince: (revision, line) => tx.changesSince(revision, line),
    collection: (kind) => recordingCollection(kind.name, tx.collection(kind), changes, turn),
  }
}

function recordingCollection<T extends StoredRecord>(
  kind: string,
  collection: Collection<T>,
  changes: RecordedChange[],
  turn: () => Promise<void> | undefined,
): Collection<T> {
  const beforeOf = async (id: string) => (needsBefore(kind) ? whatIsLeft(() => collection.get(id)) : undefined)
  return {
    get: (id) => collection.get(id),
    find: (query) => collection.find(query),
    findIds: (query) => collection.findIds(query),
    scan: (fields) => collection.scan(fields),
    insert: async (record) => {
      await turn()
      await collection.insert(record)
      changes.push({ operation: 'insert', kind, id: record.id, after: record })
    },
    update: async (record) => {
      await turn()
      const before = await beforeOf(record.id)
      const updated = await collection.update(record)
      if (updated) changes.push({ operation: 'update', kind, id: record.id, before, after: record })
      return updated
    },
    delete: async (id) => {
      await turn()
      const before = await beforeOf(id)
      const deleted = await collection.delete(id)
      if (deleted) changes.push({ operation: 'delete', kind, id, before })
      return deleted
    },
  }
}

/** Reads a record, or the remains of a damaged record: for callers that only need to know that it existed, and its owner. */
export async function whatIsLeft<T extends StoredRecord>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    // A storage fills every unreadable field with the default of its kind.
    if (error instanceof DamagedRecord) return error.remains as T
    throw error
  }
}

/** A field of a record that exceeds its limit. */
interface Excess {
  readonly field: string
  readonly size: number
  readonly most: number
  readonly limit: keyof Limits
}

/** Wraps a write so that it refuses records with a field above its limit. Error: `COULD_NOT_VALIDATE` naming field and limit. */
export function limiting(tx: WriteTransaction, limits: Limits): WriteTransaction {
  return {
    ...placeOf(tx),
    changesSince: (revision, line) => tx.changesSince(revision, line),
    collection: (kind) => limitingCollection(kind, tx.collection(kind), limits),
  }
}

function limitingCollection<T extends StoredRecord>(
  kind: RecordKind<T>,
  collection: Collection<T>,
  limits: Limits,
): Collection<T> {
  return {
    get: (id) => collection.get(id),
    find: (query) => collection.find(query),
    findIds: (query) => collection.findIds(query),
    scan: (fields) => collection.scan(fields),
    insert: async (record) => {
      for (const excess of excessesOf(kind, record, limits)) throw refusalOf(excess)
      await collection.insert(record)
    },
    update: async (record) => {
      const excesses = [...excessesOf(kind, record, limits)]
      if (excesses.length > 0) refuseGrowth(kind, excesses, await whatIsLeft(() => collection.get(record.id)), limits)
      return collection.update(record)
    },
    delete: (id) => collection.delete(id),
  }
}

/** A value that exceeded its limit before may stay as large. */
function refuseGrowth(kind: RecordKind, now: readonly Excess[], known: StoredRecord | undefined, limits: Limits): void {
  const before = known === undefined ? [] : [...excessesOf(kind, known, limits)]
  for (const excess of now) {
    const same = before.find(({ field, limit }) => field === excess.field && limit === excess.limit)
    if (same === undefined || excess.size > same.size) throw refusalOf(excess)
  }
}

function refusalOf({ field, size, most, limit }: Excess): ControllerError {
  return limit === 'tags' ? tooManyTags(size, most) : tooLarge(field, `${size} bytes`, most, limit)
}

function* excessesOf(kind: RecordKind, record: StoredRecord, limits: Limits): Generator<Excess> {
  if (kind.isJournal) return
  for (const [field, fieldKind] of [['id', 'string'] as const, ...Object.entries(kind.fields)]) {
    const value: unknown = Reflect.get(record, field)
    if (value === null || value === undefined) continue
    if (field === 'tags') yield* excessesOfTags(kind, value, limits)
    else if (fieldKind === 'string' && typeof value === 'string') {
      const size = shortest(value, limits.textBytes)
      if (size > limits.textBytes) yield { field, size, most: limits.textBytes, limit: 'textBytes' }
    } else if (fieldKind === 'set' || fieldKind === 'json') {
      const limit = fieldKind === 'set' ? 'listBytes' : 'objectBytes'
      const size = jsonBytes(value)
      if (size > limits[limit]) yield { field, size, most: limits[limit], limit }
    }
  }
}

function* excessesOfTags({ name }: RecordKind, tags: unknown, limits: Limits): Generator<Excess> {
  if (typeof tags !== 'object' || tags === null) return
  const count = Object.keys(tags).length
  if (count > limits.tags) yield { field: 'tags', size: count, most: limits.tags, limit: 'tags' }
  if (count === 0) return
  const limit = WRITTEN_BY_ENDPOINTS.has(name) ? 'endpointTagBytes' : 'tagBytes'
  const size = jsonBytes(tags)
  if (size > limits[limit]) yield { field: 'tags', size, most: limits[limit], limit }
}

/** The kinds whose records endpoints can create freely. */
const WRITTEN_BY_ENDPOINTS: ReadonlySet<string> = new Set(
  RESOURCES.flatMap(({ name, definition }) => (definition.isWrittenByEndpoints ? [name] : [])),
)

/** The bytes of a text, or its length where the length alone shows that the bytes are within the limit. */
function shortest(text: string, limit: number): number {
  return text.length * 3 <= limit ? text.length : utf8Bytes(text)
}
