import { type Change, type HistoryPoint, isSamePoint, type StoredRecord } from '../../../../src/storage.ts'
import type { StoredChanges } from '../records/change-feed.ts'
import type { RecordTable } from '../schema/record-table.ts'
import { CachedTable, type Entry, type ListEntry } from './cached-table.ts'

/** Changes that are remembered at least; up to as many again. */
const REMEMBERED = 5000

/** The changes that led to the revision of the cache, as far as they are remembered. */
class RecentChanges {
  #changes: Change[] = []
  /** The lines of the revisions of the changes, and of the one before. */
  readonly #lines = new Map<number, string | undefined>()
  /** All changes after it are remembered. */
  #from = Number.POSITIVE_INFINITY

  /** Takes in the changes up to a place; undefined when it is not known how it was reached. */
  moveTo({ revision, line }: HistoryPoint, stored: StoredChanges | undefined): void {
    if (stored === undefined) this.clear()
    if (stored === undefined || this.#from === Number.POSITIVE_INFINITY) {
      this.#from = revision
      this.#lines.set(revision, line)
      return
    }
    for (const change of stored.changes) this.#changes.push(change)
    for (const [reached, its] of stored.lines) this.#lines.set(reached, its)
    if (this.#changes.length <= 2 * REMEMBERED) return
    // All changes of one revision are forgotten together.
    this.#from = this.#changes.at(-REMEMBERED)?.revision ?? revision
    this.#changes = this.#changes.slice(this.#firstAfter(this.#from))
    for (const known of this.#lines.keys()) if (known < this.#from) this.#lines.delete(known)
  }

  clear(): void {
    this.#changes = []
    this.#lines.clear()
    this.#from = Number.POSITIVE_INFINITY
  }

  /** The changes after a place; undefined where some may be forgotten, and where it may be on another line. */
  since({ revision, line }: HistoryPoint): readonly Change[] | undefined {
    if (revision < this.#from || (line !== undefined && line !== this.#lines.get(revision))) return undefined
    return this.#changes.slice(this.#firstAfter(revision))
  }

  #firstAfter(revision: number): number {
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#changes[middle]?.revision ?? revision) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Characters that count as one record: a record of 3,000 takes three places. */
const CHARACTERS_OF_ONE = 1024
const NOWHERE: HistoryPoint = { revision: -1 }

/**
 * Records as they are at one place in the history of the database, the latest that a read has seen. It moves on by the change feed, which
 * names every changed record. A read at another place finds nothing here.
 */
export class RecordCache {
  readonly capacity: number
  readonly #tables = new Map<string, CachedTable>()
  /** In the order in which they came, or were last spared. */
  readonly #entries = new Set<Entry | ListEntry>()
  readonly #recent = new RecentChanges()
  /** Goes on where it stopped: a set that is read from its beginning passes over everything that was dropped there before. */
  #oldest: SetIterator<Entry | ListEntry> = this.#entries.values()
  #size = 0
  #place = NOWHERE
  #moves = 0

  /** Holds `capacity` records of up to 1,024 characters; longer ones count as several. */
  constructor(capacity: number) {
    this.capacity = capacity
  }

  /** Where the cache is; of revision -1 before the first move. */
  get place(): HistoryPoint {
    return this.#place
  }

  isAt(place: HistoryPoint): boolean {
    return isSamePoint(this.#place, place)
  }

  /** Different after every move to another place, even to an earlier place of the cache. */
  get moves(): number {
    return this.#moves
  }

  /** Moves to a place; without the changes up to there nothing that is held can be trusted any more. */
  moveTo({ revision, line }: HistoryPoint, stored: StoredChanges | undefined): void {
    if (stored === undefined) this.clear()
    else for (const { kind, id } of stored.changes) this.#forget(kind, id)
    this.#place = { revision, line }
    this.#recent.moveTo(this.#place, stored)
    this.#moves += 1
  }

  clear(): void {
    this.#tables.clear()
    this.#entries.clear()
    this.#size = 0
    this.#recent.clear()
    this.#place = NOWHERE
    this.#moves += 1
  }

  /** Finds the entry of an id: one without a record when there is none. */
  find({ kind }: RecordTable, id: string): Entry | undefined {
    return used(this.#tables.get(kind.name)?.get(id))
  }

  /** The changes after a place up to that of the cache; undefined where they are not remembered. */
  changesSince(place: HistoryPoint): readonly Change[] | undefined {
    return this.#recent.since(place)
  }

  findUnique({ kind }: RecordTable, field: string, value: unknown): Entry | undefined {
    return used(this.#tables.get(kind.name)?.getUnique(field, value))
  }

  /** The ids of the records that hold `value` in an indexed or unique field. */
  findList({ kind }: RecordTable, field: string, value: string): readonly string[] | undefined {
    return used(this.#tables.get(kind.name)?.getList(field, value))?.ids
  }

  keepList(records: RecordTable, field: string, value: string, ids: readonly string[]): void {
    const table = this.#tableOf(records)
    this.#drop(table.getList(field, value))
    const characters = value.length + ids.reduce((sum, id) => sum + id.length, 0)
    const list: ListEntry = { table, field, value, ids, size: sizeOf(characters), isUsed: false }
    table.addList(list)
    this.#add(list)
  }

  /** Keeps the record of an id, with its size in characters, or its absence. */
  keep(records: RecordTable, id: string, record: StoredRecord | undefined, characters: number): void {
    const size = sizeOf(characters)
    if (size > this.capacity) return
    const table = this.#tableOf(records)
    this.#drop(table.get(id))
    const entry: Entry = { table, id, record, size, isUsed: false }
    table.add(entry)
    this.#add(entry)
  }

  #tableOf({ kind }: RecordTable): CachedTable {
    let table = this.#tables.get(kind.name)
    if (table === undefined) {
      table = new CachedTable(kind.unique)
      this.#tables.set(kind.name, table)
    }
    return table
  }

  #add(entry: Entry | ListEntry): void {
    this.#entries.add(entry)
    this.#size += entry.size
    this.#makeRoom()
  }

  /** Forgets the entries that a change of a record makes untrue. */
  #forget(kind: string, id: string): void {
    const table = this.#tables.get(kind)
    if (table === undefined) return
    this.#drop(table.get(id))
    for (const list of table.lists()) this.#drop(list)
  }

  /** Drops the oldest entries. An entry that was used since it came or was last spared is spared once. */
  #makeRoom(): void {
    while (this.#size > this.capacity) {
      const { value: oldest, done = false } = this.#oldest.next()
      if (done && this.#entries.size === 0) return
      if (done) this.#oldest = this.#entries.values()
      if (oldest === undefined) continue
      if (!oldest.isUsed) this.#drop(oldest)
      else {
        oldest.isUsed = false
        this.#entries.delete(oldest)
        this.#entries.add(oldest)
      }
    }
  }

  #drop(entry: Entry | ListEntry | undefined): void {
    if (entry === undefined || !this.#entries.delete(entry)) return
    entry.table.remove(entry)
    this.#size -= entry.size
  }
}

function sizeOf(characters: number): number {
  return 1 + Math.floor(characters / CHARACTERS_OF_ONE)
}

function used<E extends Entry | ListEntry>(entry: E | undefined): E | undefined {
  if (entry !== undefined) entry.isUsed = true
  return entry
}
