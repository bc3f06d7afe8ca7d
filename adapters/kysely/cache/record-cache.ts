import type { Change, StoredRecord } from '../../../src/index.ts'
import type { RecordTable } from '../schema/record-table.ts'
import { CachedTable, type Entry } from './cached-table.ts'

/** A record of so many characters, or a part of it, counts as one. */
const CHARACTERS_OF_ONE = 1024

/**
 * Records as they are at one revision of the database, the latest that a read has seen. It moves on by the change feed, which
 * names every record that is not the same any more; a read of any other revision finds nothing here.
 */
export class RecordCache {
  readonly capacity: number
  readonly #tables = new Map<string, CachedTable>()
  /** In the order in which they came, or were last spared. */
  readonly #entries = new Set<Entry>()
  #size = 0
  #revision = -1
  #moves = 0

  /** Holds `capacity` records of up to 1,024 characters; longer ones count as several. */
  constructor(capacity: number) {
    this.capacity = capacity
  }

  get revision(): number {
    return this.#revision
  }

  /** Different after every move to another revision, even one that the cache has been at before. */
  get moves(): number {
    return this.#moves
  }

  /** Moves to a revision; without the changes up to there nothing that is held can be trusted any more. */
  moveTo(revision: number, changes: readonly Change[] | undefined): void {
    if (changes === undefined) this.clear()
    else for (const { kind, id } of changes) this.#drop(this.#tables.get(kind)?.get(id))
    this.#revision = revision
    this.#moves += 1
  }

  clear(): void {
    this.#tables.clear()
    this.#entries.clear()
    this.#size = 0
    this.#revision = -1
    this.#moves += 1
  }

  /** What is known of an id: an entry without a record when there is none. */
  find({ kind }: RecordTable, id: string): Entry | undefined {
    return used(this.#tables.get(kind.name)?.get(id))
  }

  findUnique({ kind }: RecordTable, field: string, value: unknown): Entry | undefined {
    return used(this.#tables.get(kind.name)?.getUnique(field, value))
  }

  /** Keeps what was read of an id: a record of so many characters, or that there is none. */
  keep({ kind }: RecordTable, id: string, record: StoredRecord | undefined, characters: number): void {
    const size = 1 + Math.floor(characters / CHARACTERS_OF_ONE)
    if (size > this.capacity) return
    let table = this.#tables.get(kind.name)
    if (table === undefined) {
      table = new CachedTable(kind.unique)
      this.#tables.set(kind.name, table)
    }
    this.#drop(table.get(id))
    const entry: Entry = { table, id, record, size, isUsed: false }
    table.add(entry)
    this.#entries.add(entry)
    this.#size += size
    this.#makeRoom()
  }

  /** Drops the oldest, but spares those once that were used since they came or were last spared. */
  #makeRoom(): void {
    while (this.#size > this.capacity) {
      const [oldest] = this.#entries
      if (oldest === undefined) return
      if (!oldest.isUsed) this.#drop(oldest)
      else {
        oldest.isUsed = false
        this.#entries.delete(oldest)
        this.#entries.add(oldest)
      }
    }
  }

  #drop(entry: Entry | undefined): void {
    if (entry === undefined || !this.#entries.delete(entry)) return
    entry.table.remove(entry)
    this.#size -= entry.size
  }
}

function used(entry: Entry | undefined): Entry | undefined {
  if (entry !== undefined) entry.isUsed = true
  return entry
}
