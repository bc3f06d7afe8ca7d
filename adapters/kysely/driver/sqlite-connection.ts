import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

/** So many statements are kept prepared; the oldest go first, but those that were used meanwhile are spared once. */
const PREPARED = 300

interface Prepared {
  readonly statement: StatementSync
  readonly answersRows: boolean
  isUsed: boolean
}

/** A connection that prepares each statement once. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, answersRows } = this.#prepare(sql)
    // Kysely leaves the types of parameters and rows open; SQLite itself refuses what it cannot bind.
    const values = parameters as readonly SQLInputValue[]
    if (answersRows) return { rows: statement.all(...values) as R[] }
    const { changes } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const { statement } = this.#prepare(sql)
    const values = parameters as readonly SQLInputValue[]
    for (const row of statement.iterate(...values)) yield { rows: [row as R] }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known !== undefined) {
      known.isUsed = true
      return known
    }
    const statement = this.#database.prepare(sql)
    const prepared = { statement, answersRows: statement.columns().length > 0, isUsed: false }
    this.#makeRoom()
    this.#prepared.set(sql, prepared)
    return prepared
  }

  #makeRoom(): void {
    for (const [sql, prepared] of this.#prepared) {
      if (this.#prepared.size < PREPARED) return
      this.#prepared.delete(sql)
      if (!prepared.isUsed) continue
      prepared.isUsed = false
      this.#prepared.set(sql, prepared)
    }
  }
}
