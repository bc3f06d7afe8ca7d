import type { Connection } from '../driver/connections.ts'
import type { RowInserter } from '../language/statement.ts'

interface DeferredRow {
  readonly inserter: RowInserter
  readonly values: readonly unknown[]
}

/**
 * Rows that writes only add and seldom read: those of all writes of a group go to the database in few statements, before the
 * commit that makes them true. A write that fails takes its own with it.
 */
export class DeferredRows {
  readonly #connection: Connection
  /** Of the writes of the group that succeeded. */
  #kept: DeferredRow[] = []
  /** Of the write under way. */
  #own: DeferredRow[] = []
  /** Of writes that succeeded, added within the savepoint of the write under way, which takes them along when it fails. */
  #inSavepoint: DeferredRow[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  add(inserter: RowInserter, values: readonly unknown[]): void {
    this.#own.push({ inserter, values })
  }

  /** Adds the rows to the database: they are about to be read, or the group ends. */
  async flush(): Promise<void> {
    const rows = [...this.#kept, ...this.#own]
    if (rows.length === 0) return
    this.#inSavepoint.push(...this.#kept)
    this.#kept = []
    this.#own = []
    for (const [inserter, ofTable] of grouped(rows)) {
      for (const query of inserter(ofTable)) await this.#connection.run(query)
    }
  }

  /** The write under way succeeded. */
  keep(): void {
    this.#kept.push(...this.#own)
    this.#own = []
    this.#inSavepoint = []
  }

  /** The write under way failed, and its savepoint is rolled back. */
  undo(): void {
    this.#kept = [...this.#inSavepoint, ...this.#kept]
    this.#own = []
    this.#inSavepoint = []
  }
}

function grouped(rows: readonly DeferredRow[]): ReadonlyMap<RowInserter, (readonly unknown[])[]> {
  const groups = new Map<RowInserter, (readonly unknown[])[]>()
  for (const { inserter, values } of rows) {
    const known = groups.get(inserter)
    if (known === undefined) groups.set(inserter, [values])
    else known.push(values)
  }
  return groups
}
