import type { Change, HistoryPoint, RecordKind } from '../../ports/record-storage.ts'
import { Table } from './table.ts'

/** Everything that is committed, as of one revision. It never changes: a commit makes a new one. */
export class State implements HistoryPoint {
  /** The number of states so far. No two states of this process have the same line, not even in a storage and its fork. */
  static #made = 0

  readonly revision: number
  readonly line: string
  readonly #tables: ReadonlyMap<string, Table>

  constructor(revision = 0, tables: ReadonlyMap<string, Table> = new Map()) {
    State.#made += 1
    this.revision = revision
    this.line = String(State.#made)
    this.#tables = tables
  }

  /** The records of `kind`; empty before the first write. */
  table(kind: RecordKind): Table {
    return this.#tables.get(kind.name) ?? Table.empty(kind)
  }

  /** The state that follows this one when `tables` replace those of the same name. */
  next(tables: ReadonlyMap<string, Table>): State {
    return new State(this.revision + 1, new Map([...this.#tables, ...tables]))
  }
}

/** The changes of one write so far, on copies of the tables of the state that it began from. */
export class Draft {
  readonly base: State
  readonly changes: Change[] = []
  readonly #tables = new Map<string, Table>()

  constructor(base: State) {
    this.base = base
  }

  /** The records of `kind` as the write sees them. */
  table(kind: RecordKind): Table {
    return this.#tables.get(kind.name) ?? this.base.table(kind)
  }

  /** The write's own copy of the records of `kind`, to be changed in place. */
  editableTable(kind: RecordKind): Table {
    const editable = this.#tables.get(kind.name) ?? this.base.table(kind).clone()
    this.#tables.set(kind.name, editable)
    return editable
  }

  note(kind: RecordKind, id: string, operation: Change['operation']): void {
    this.changes.push({ revision: this.base.revision + 1, kind: kind.name, id, operation })
  }

  /** The state after the write; the same as before when the write changed nothing. */
  commit(): State {
    return this.changes.length === 0 ? this.base : this.base.next(this.#tables)
  }
}

/** The most recent changes after `start` in the order of their commits; changes beyond `capacity` are forgotten. */
export class ChangeFeed {
  readonly #capacity: number
  readonly #changes: Change[] = []
  /** The lines of the revisions whose changes are remembered, and of the one before. */
  readonly #lines = new Map<number, string | undefined>()
  #first = 0
  /** The latest revision with a forgotten change: the feed is whole only after it. */
  #forgotten: number

  constructor(capacity: number, start: HistoryPoint) {
    this.#capacity = capacity
    this.#forgotten = start.revision
    this.#lines.set(start.revision, start.line)
  }

  /** Takes in the changes that led to a place. */
  append(changes: readonly Change[], { revision, line }: HistoryPoint): void {
    for (const change of changes) this.#changes.push(change)
    this.#lines.set(revision, line)
    this.#forget(this.#changes.length - this.#first - this.#capacity)
  }

  /**
   * The changes after `revision` up to and including `upTo`; undefined when some of them are forgotten or yet to come, or when
   * `line` is given and is not that of the revision.
   */
  between(revision: number, upTo: number, line?: string): readonly Change[] | undefined {
    if (revision < this.#forgotten || revision > upTo) return undefined
    if (line !== undefined && line !== this.#lines.get(revision)) return undefined
    return this.#changes.slice(this.#positionAfter(revision), this.#positionAfter(upTo))
  }

  #forget(excess: number): void {
    if (excess <= 0) return
    this.#first += excess
    this.#forgotten = this.#changes[this.#first - 1]?.revision ?? this.#forgotten
    // In the order in which they came.
    for (const revision of this.#lines.keys()) {
      if (revision >= this.#forgotten) break
      this.#lines.delete(revision)
    }
    // Moving the array once per `capacity` changes keeps appending cheap.
    if (this.#first >= this.#capacity) this.#first -= this.#changes.splice(0, this.#first).length
  }

  #positionAfter(revision: number): number {
    let low = this.#first
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#changes[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
