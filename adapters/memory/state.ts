import type { Change, RecordKind } from './core.ts'
import { Table } from './table.ts'

/** Everything that is committed, as of one revision. It never changes: a commit makes a new one. */
export class State {
  readonly revision: number
  readonly #tables: ReadonlyMap<string, Table>

  constructor(revision = 0, tables: ReadonlyMap<string, Table> = new Map()) {
    this.revision = revision
    this.#tables = tables
  }

  /** The records of `kind`; none when nothing was ever written. */
  table(kind: RecordKind): Table {
    return this.#tables.get(kind.name) ?? Table.empty(kind)
  }

  /** The state that follows this one when `tables` replace those of the same name. */
  next(tables: ReadonlyMap<string, Table>): State {
    return new State(this.revision + 1, new Map([...this.#tables, ...tables]))
  }
}

/** What one write has changed so far, on copies of the tables of the state that it began from. */
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
