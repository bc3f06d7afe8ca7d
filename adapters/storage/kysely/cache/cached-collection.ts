import { isStorable } from '../../../../src/base/text.ts'
import type { FindQuery, Page } from '../../../../src/index.ts'
import { compareBy, DamagedRecord, type ReadCollection, type StoredRecord } from '../../../../src/storage.ts'
import type { Row, RowSource } from '../driver/pooled-connections.ts'
import type { ChangeFeed, StoredState } from '../records/change-feed.ts'
import type { RecordStatements } from '../records/record-statements.ts'
import { decodeRecord, pageOf, type RecordOrDamage, readable } from '../records/write-record.ts'
import type { RecordTable } from '../schema/record-table.ts'
import { namedRecords } from './cached-table.ts'
import type { RecordCache } from './record-cache.ts'

/** A question that names more of the cache's records than this would take the place of everything else. */
const LARGEST_SHARE = 1 / 4

/** Greatest number of records, and of values, for which the cache keeps the ids by value. */
const MOST_HOLDERS = 500

/** The reads that answer whole records. */
export type RecordReads = Omit<ReadCollection<StoredRecord>, 'findIds' | 'scan'>

/** The source of the records of one kind that the cache lacks. */
export interface RecordSource {
  readonly connection: RowSource
  readonly table: RecordTable
  readonly statements: RecordStatements
  /** Answers every question whose records have no names; `recordOf` makes the record of a row. */
  find(query: FindQuery, recordOf: (row: Row) => RecordOrDamage): Promise<Page<StoredRecord>>
}

/** Answers queries by id or by a unique text from the cache, and asks the source for missing records. */
export function cachedCollection(
  { cache, isLevel }: CachedReads,
  { connection, table, statements, find }: RecordSource,
): RecordReads {
  const { name: kind } = table.kind

  function keep(id: string, row: Row): RecordOrDamage {
    const record = decodeRecord(table, row)
    if (!(record instanceof DamagedRecord) && isLevel(kind, id)) cache.keep(table, id, record, charactersOf(row))
    return record
  }

  function keepAbsence(id: string): void {
    if (isLevel(kind, id)) cache.keep(table, id, undefined, 0)
  }

  async function get(id: string): Promise<StoredRecord | undefined> {
    const known = isLevel(kind, id) ? cache.find(table, id) : undefined
    if (known !== undefined) return known.record
    if (!isStorable(id)) return undefined
    const [row] = await connection.rows(statements.get([id]))
    if (row !== undefined) return readable(keep(id, row))
    keepAbsence(id)
    return undefined
  }

  async function getUnique(field: string, value: string): Promise<RecordOrDamage | undefined> {
    const known = isLevel(kind) ? cache.findUnique(table, field, value) : undefined
    if (known !== undefined) return known.record
    if (isLevel(kind) && cache.findList(table, field, value)?.length === 0) return undefined
    if (!isStorable(value)) return undefined
    const [row] = await connection.rows(statements.getUnique(field, value))
    if (row !== undefined) return keep(String(row.id), row)
    if (isLevel(kind)) cache.keepList(table, field, value, [])
    return undefined
  }

  /** The records that hold any of the values in a field. Their ids are kept for each value, where they are few. */
  async function findHolders(
    field: string,
    values: ReadonlySet<string>,
    query: FindQuery,
  ): Promise<Page<StoredRecord>> {
    const known = knownHolders(field, values)
    if (known !== undefined) return pageFrom(await getAll(known), query)
    const rows = new Map<string, string[]>([...values].map((value) => [value, []]))
    let count = 0
    const page = await find(query, (row) => {
      count += 1
      if (count > MOST_HOLDERS) return decodeRecord(table, row)
      const record = held(row)
      if (!(record instanceof DamagedRecord)) rows.get(String(Reflect.get(record, field)))?.push(record.id)
      return record
    })
    const isWhole = page.items.length === page.totalCount && page.damaged === undefined && count <= MOST_HOLDERS
    if (isWhole && isLevel(kind)) for (const [value, ids] of rows) cache.keepList(table, field, value, ids)
    return page
  }

  function knownHolders(field: string, values: ReadonlySet<string>): ReadonlySet<string> | undefined {
    if (!isLevel(kind)) return undefined
    const holders = new Set<string>()
    for (const value of values) {
      const ids = cache.findList(table, field, value)
      if (ids === undefined) return undefined
      for (const id of ids) holders.add(id)
    }
    return holders
  }

  async function getAll(ids: ReadonlySet<string>): Promise<RecordOrDamage[]> {
    const found: RecordOrDamage[] = []
    const missing = new Set<string>()
    for (const id of ids) {
      const known = isLevel(kind, id) ? cache.find(table, id) : undefined
      if (known?.record !== undefined) found.push(known.record)
      else if (known === undefined && isStorable(id)) missing.add(id)
    }
    if (missing.size === 0) return found
    for (const row of await connection.rows(statements.getAll([...missing]))) {
      const id = String(row.id)
      found.push(keep(id, row))
      missing.delete(id)
    }
    for (const id of missing) keepAbsence(id)
    return found
  }

  /** The record of a fetched row. A record that is held already is kept, so that values derived from it stay good. */
  function held(row: Row): RecordOrDamage {
    const id = String(row.id)
    const known = isLevel(kind, id) ? cache.find(table, id) : undefined
    return known?.record ?? keep(id, row)
  }

  return {
    get,
    async find(query = {}) {
      const named = namedRecords(table, query)
      if (named?.by === 'unique') {
        const record = await getUnique(named.field, named.value)
        return pageFrom(record === undefined ? [] : [record], query)
      }
      const most = cache.capacity * LARGEST_SHARE
      if (named?.by === 'indexed' && named.values.size <= Math.min(most, MOST_HOLDERS)) {
        return findHolders(named.field, named.values, query)
      }
      if (named?.by === 'id' && named.ids.size <= most) return pageFrom(await getAll(named.ids), query)
      const isPage = query.limit !== undefined && query.limit <= most
      return find(query, isPage ? held : (row) => decodeRecord(table, row))
    },
  }
}

function charactersOf(row: Row): number {
  let characters = 0
  for (const column in row) {
    const value = row[column]
    if (typeof value === 'string') characters += value.length
  }
  return characters
}

const BY_ID = compareBy<RecordOrDamage>([])

function pageFrom(records: RecordOrDamage[], { limit, offset = 0 }: FindQuery): Page<StoredRecord> {
  const found = records.sort(BY_ID).slice(offset, limit === undefined ? undefined : offset + limit)
  return pageOf(found, records.length)
}

/** The cache as one transaction may use it: while it holds the records of its own snapshot, and no longer. */
export interface CachedReads {
  readonly cache: RecordCache
  /**
   * Reports whether the cache agrees with the transaction about a record or, without an id, about the ids of a kind. It does
   * not once the cache has moved on, nor about records that the transaction has changed.
   */
  isLevel(kind: string, id?: string): boolean
}

/** Changes that are not committed yet, and that the cache lacks. */
export class Uncommitted {
  readonly #ids = new Map<string, Set<string>>()

  add(kind: string, id: string): void {
    const ids = this.#ids.get(kind)
    if (ids === undefined) this.#ids.set(kind, new Set([id]))
    else ids.add(id)
  }

  /** Whether the record was changed; without an id, whether some record of the kind was. */
  has(kind: string, id?: string): boolean {
    const ids = this.#ids.get(kind)
    return ids !== undefined && (id === undefined || ids.has(id))
  }
}

/** Across more revisions than that the cache starts afresh. */
const FURTHEST = 1000

/**
 * Brings the cache level with a snapshot that `connection` holds. Answers undefined when the cache is already ahead, for a read that began
 * earlier. `before` is the cache's revision at a moment before the snapshot was taken: a snapshot that does not reach it shows that the
 * database was put back to an older state, and so does one of the same revision on another line.
 */
export async function levelReads(
  cache: RecordCache,
  feed: ChangeFeed,
  connection: RowSource,
  state: StoredState,
  before: number,
  uncommitted?: Uncommitted,
): Promise<CachedReads | undefined> {
  const { revision } = state
  if (revision < before || (cache.place.revision === revision && !cache.isAt(state))) cache.clear()
  while (cache.place.revision < revision) {
    const { place: from, moves } = cache
    const isNear = from.revision >= 0 && revision - from.revision <= FURTHEST
    const changes = isNear ? await feed.changesSince(connection, state, from) : undefined
    // Others may have moved it meanwhile.
    if (cache.moves === moves) cache.moveTo(state, changes)
  }
  return cache.isAt(state) ? cachedNow(cache, uncommitted) : undefined
}

/** The cache for a transaction at the place where it is now. */
export function cachedNow(cache: RecordCache, uncommitted?: Uncommitted): CachedReads {
  const { moves } = cache
  const isThere = () => cache.moves === moves
  if (uncommitted === undefined) return { cache, isLevel: isThere }
  return { cache, isLevel: (kind, id) => isThere() && !uncommitted.has(kind, id) }
}
