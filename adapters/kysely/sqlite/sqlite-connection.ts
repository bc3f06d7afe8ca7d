import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

/** So many statements are kept prepared; those that were not used for longest go first. */
const PREPARED = 300

interface Prepared {
  readonly statement: StatementSync
  readonly answersRows: boolean
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
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      const statement = this.#database.prepare(sql)
      prepared = { statement, answersRows: statement.columns().length > 0 }
    } else this.#prepared.delete(sql)
    this.#prepared.set(sql, prepared)
    if (this.#prepared.size > PREPARED) {
      const [oldest] = this.#prepared.keys()
      if (oldest !== undefined) this.#prepared.delete(oldest)
    }
    return prepared
  }
}
