import { CompiledQuery, type DatabaseConnection } from 'kysely'
import { Lifetime, StorageUnavailable } from '../../../../src/storage.ts'
import type { Connection } from '../driver/pooled-connections.ts'
import { TRANSACTION_OVER } from './read-transaction.ts'
import { SAVEPOINT } from './write-queue.ts'

/** White space, comments and semicolons before a statement. PostgreSQL nests comments and SQLite does not: nested comments stay. */
const BEFORE = /^(?:[\s;]|--[^\n\r]*|\/\*(?:(?!\/\*|\*\/)[\s\S])*\*\/)*/
/** The first words of statements that may end a transaction, or divide it. */
const BOUNDARY = /^(?:\/\*|(?:begin|commit|end|abort|start|prepare|rollback|savepoint|release)\b)/i
const OF_SAVEPOINT =
  /^(savepoint|release(?:\s+savepoint)?|rollback(?:\s+(?:transaction|work))?\s+to(?:\s+savepoint)?)\s+("?)(\w+)\2[\s;]*$/i

/** SQLSTATE of a statement in a transaction that an earlier failed statement has spoiled. */
const ABORTED = '25P02'

/**
 * The statements of a host in a transaction that the storage has begun and ends. A statement by which the transaction would end, or lose
 * a part of what the controller has written, is refused before it is sent.
 */
export class HostStatements {
  readonly #connection: Connection
  readonly #lifetime = new Lifetime(TRANSACTION_OVER)
  readonly #underWay = new Set<Promise<unknown>>()
  /** The savepoints of the host, each with the number of statements of the controller before it. */
  readonly #savepoints = new Map<string, number>()
  #own = 0
  #failed: { readonly error: unknown } | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Runs the statement that has this text. */
  async run<T>(text: string, work: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    this.#lifetime.assertOpen()
    this.#judge(text.replace(BEFORE, ''))
    const answer = this.#send(work).catch((error: unknown) => {
      this.#failed ??= { error }
      throw error
    })
    this.#underWay.add(answer)
    try {
      return await answer
    } finally {
      this.#underWay.delete(answer)
    }
  }

  /** Takes no further statement, and waits for those under way. Rejects with the first that failed where the database takes no other. */
  async end(): Promise<void> {
    if (!this.#lifetime.end()) throw new Error(TRANSACTION_OVER)
    await Promise.allSettled(this.#underWay)
    if (this.#failed === undefined) return
    const { error } = this.#failed
    await this.#send((connection) => connection.executeQuery(CompiledQuery.raw('select 1'))).catch(() => {
      throw error
    })
  }

  /** Takes no further statement; answers the failure of a statement that led to `error`, or `error`. */
  failed(error: unknown): unknown {
    this.#lifetime.end()
    if (this.#failed === undefined) return error
    const isConsequence = error instanceof Error && Reflect.get(error, 'code') === ABORTED
    return isConsequence || this.#failed.error instanceof StorageUnavailable ? this.#failed.error : error
  }

  #send<T>(work: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    this.#own += 1
    return this.#connection.use(work)
  }

  #judge(statement: string): void {
    if (!BOUNDARY.test(statement)) return
    const [, verb = '', , name = ''] = OF_SAVEPOINT.exec(statement) ?? []
    const savepoint = name.toLowerCase()
    if (savepoint === '' || savepoint === SAVEPOINT) {
      throw new Error('the storage begins and ends this transaction: return, or throw to roll back')
    }
    const now = this.#connection.used - this.#own
    if (/^savepoint/i.test(verb)) {
      this.#savepoints.set(savepoint, now)
      return
    }
    const then = this.#savepoints.get(savepoint)
    if (then === undefined) throw new Error(`the work has no savepoint '${savepoint}'`)
    if (/^release/i.test(verb)) this.#savepoints.delete(savepoint)
    else if (then !== now)
      throw new Error(`the controller was called after the savepoint '${savepoint}': throw to roll back`)
  }
}
