import type { CompiledQuery } from 'kysely'
import { StorageUnavailable } from '../../../src/storage.ts'
import type { Connection, Row, RowSource } from '../driver/connection.ts'
import type { ConnectionSource } from '../driver/connections.ts'
import type { Database } from '../language/database.ts'
import type { ChangeFeed, StoredState } from '../records/change-feed.ts'
import { TRANSACTION_OVER } from './read-transaction.ts'

/** A snapshot that the database is asked for with the first statement, for a read that may need none. */
export class DeferredSnapshot implements RowSource {
  readonly #database: Database
  readonly #readers: ConnectionSource
  readonly #feed: ChangeFeed
  readonly #state: StoredState
  #connection: Promise<Connection> | undefined
  #using: Promise<void> | undefined
  #hasMoved = false
  #isOver = false
  #letGo: () => void = () => undefined

  /** A snapshot of `state`, as long as nobody writes before the first statement. */
  constructor(database: Database, readers: ConnectionSource, feed: ChangeFeed, state: StoredState) {
    this.#database = database
    this.#readers = readers
    this.#feed = feed
    this.#state = state
  }

  /** Whether somebody wrote before the first statement, which was refused then with all that followed. */
  get hasMoved(): boolean {
    return this.#hasMoved
  }

  async rows(query: CompiledQuery): Promise<readonly Row[]> {
    if (this.#isOver) throw new Error(TRANSACTION_OVER)
    this.#connection ??= this.#begin()
    return (await this.#connection).rows(query)
  }

  /** Lets go of the connection, where there is one. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#letGo()
    await this.#using
  }

  #begin(): Promise<Connection> {
    const ended = new Promise<void>((resolve) => {
      this.#letGo = resolve
    })
    return new Promise((resolve, reject) => {
      const hold = async (connection: Connection) => {
        await connection.command(this.#database.language.beginRead)
        try {
          const { revision } = await this.#feed.read(connection)
          this.#hasMoved = revision !== this.#state.revision
          if (this.#hasMoved) throw new StorageUnavailable('busy', 'another write came between a look and its snapshot')
          resolve(connection)
          await ended
        } finally {
          await connection.command('commit').catch(() => {
            connection.isBroken = true
          })
        }
      }
      this.#using = this.#readers.use(hold).catch(reject)
    })
  }
}
