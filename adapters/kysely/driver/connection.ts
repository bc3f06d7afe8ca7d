import { CompiledQuery, type DatabaseConnection } from 'kysely'
import { asUnavailable } from './unavailable.ts'

/** One row of an answer, by column. */
export type Row = Readonly<Record<string, unknown>>

/** What rows are read from. */
export interface RowSource {
  rows(query: CompiledQuery): Promise<readonly Row[]>
}

/** One connection while one transaction has it to itself. */
export class Connection implements RowSource {
  readonly #connection: DatabaseConnection
  /** Set by the first error that speaks of the state of the database; the connection is not used again then. */
  isBroken = false

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  async rows(query: CompiledQuery): Promise<readonly Row[]> {
    try {
      return (await this.#connection.executeQuery<Row>(query)).rows
    } catch (error) {
      throw this.#translated(error)
    }
  }

  /** Runs a statement; answers how many rows it inserted, changed or deleted. */
  async run(query: CompiledQuery): Promise<number> {
    try {
      return Number((await this.#connection.executeQuery(query)).numAffectedRows ?? 0)
    } catch (error) {
      throw this.#translated(error)
    }
  }

  /** Runs a statement that has no parameters. */
  async command(text: string): Promise<void> {
    let query = COMMANDS.get(text)
    if (query === undefined) {
      query = CompiledQuery.raw(text)
      COMMANDS.set(text, query)
    }
    await this.run(query)
  }

  #translated(error: unknown): unknown {
    const unavailable = asUnavailable(error)
    if (unavailable !== undefined && unavailable.reason !== 'busy') this.isBroken = true
    return unavailable ?? error
  }
}

/** There are few of them: what begins, ends and divides transactions. */
const COMMANDS = new Map<string, CompiledQuery>()
