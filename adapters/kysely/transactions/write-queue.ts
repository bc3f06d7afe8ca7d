import { AsyncLocalStorage } from 'node:async_hooks'
import { type Lifetime, StorageUnavailable, type WriteTransaction } from '../../../src/storage.ts'
import type { Connection } from '../driver/connection.ts'
import type { ConnectionSource } from '../driver/connections.ts'
import { beginWrite } from '../language/begin-write.ts'
import type { StoredState } from '../records/change-feed.ts'
import { Draft } from './draft.ts'
import type { StoredTables } from './stored-tables.ts'
import { writeTransaction } from './write-transaction.ts'

interface QueuedWrite {
  work(tx: WriteTransaction): Promise<unknown>
  resolve(result: unknown): void
  reject(reason: unknown): void
}

/** How one write of a group ended; told to its caller after the commit. */
type Outcome =
  | { readonly isDone: true; readonly result: unknown }
  | { readonly isDone: false; readonly reason: unknown }

/** One commit serves at most so many writes, begun within so many ms. */
const GROUP_SIZE = 256
const GROUP_MS = 20

/**
 * Runs writes one after the other, in the order in which they come, and lets those that wait at the same time share one
 * transaction: each has a savepoint of its own, so that one that fails leaves the others alone, and every caller hears of
 * the outcome after the commit that decides it. A gate would let them in one by one, each with a commit of its own.
 */
export class WriteQueue {
  readonly #stored: StoredTables
  readonly #writers: ConnectionSource
  readonly #busyTimeoutMs: number
  readonly #waiting: QueuedWrite[] = []
  readonly #current = new AsyncLocalStorage<Lifetime>()
  #running: Promise<void> | undefined

  constructor(stored: StoredTables, writers: ConnectionSource, busyTimeoutMs: number) {
    this.#stored = stored
    this.#writers = writers
    this.#busyTimeoutMs = busyTimeoutMs
  }

  async add<T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
    if (this.#current.getStore()?.isOpen) throw new Error('a write cannot begin inside another write: use its handle')
    return new Promise<T>((resolve, reject) => {
      // What `work` answers is what its own promise is resolved with.
      this.#waiting.push({ work, resolve: (result) => resolve(result as T), reject })
      this.#running ??= this.#run()
    })
  }

  /** Waits for the writes that were accepted. */
  async drain(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Those that come in the same turn of the event loop join the first group.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) await this.#runGroup()
    this.#running = undefined
  }

  async #runGroup(): Promise<void> {
    const group: QueuedWrite[] = []
    try {
      const outcomes = await this.#writers.use((connection) => this.#transact(connection, group))
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index]
        if (outcome?.isDone) resolve(outcome.result)
        else reject(outcome?.reason)
      }
    } catch (error) {
      // Without a connection nobody was taken in yet: those who wait are told, instead of waiting for a better time.
      if (group.length === 0) group.push(...this.#waiting.splice(0))
      for (const { reject } of group) reject(error)
    }
  }

  async #transact(connection: Connection, group: QueuedWrite[]): Promise<readonly Outcome[]> {
    await beginWrite(this.#stored.database, connection, this.#busyTimeoutMs)
    try {
      const outcomes = await this.#collect(connection, group)
      await connection.command('commit')
      return outcomes
    } catch (error) {
      await connection.command('rollback').catch(() => {
        connection.isBroken = true
      })
      throw error
    }
  }

  async #collect(connection: Connection, group: QueuedWrite[]): Promise<Outcome[]> {
    const before = await this.#stored.feed.read(connection)
    const outcomes: Outcome[] = []
    const since = performance.now()
    let state = before
    do {
      const next = this.#waiting.shift()
      if (next === undefined) break
      group.push(next)
      const { outcome, revision } = await this.#runOne(connection, state, next)
      outcomes.push(outcome)
      state = { ...state, revision }
    } while (group.length < GROUP_SIZE && performance.now() - since < GROUP_MS)
    if (state.revision > before.revision) await this.#stored.feed.advance(connection, before, state.revision)
    return outcomes
  }

  /** Runs one write in a savepoint. Throws only when the connection is of no more use. */
  async #runOne(
    connection: Connection,
    state: StoredState,
    { work }: QueuedWrite,
  ): Promise<{ outcome: Outcome; revision: number }> {
    const draft = new Draft(connection, state)
    await connection.command('savepoint one_write')
    try {
      const tx = writeTransaction(this.#stored, draft)
      const result = await this.#current.run(draft.lifetime, work, tx)
      if (draft.failure !== undefined) throw draft.failure
      draft.lifetime.end()
      await this.#stored.feed.append(connection, draft.changes)
      await connection.command('release savepoint one_write')
      return { outcome: { isDone: true, result }, revision: state.revision + Number(draft.changes.length > 0) }
    } catch (reason) {
      draft.lifetime.end()
      // The database may have rolled back the whole transaction by itself.
      const failure = [reason, draft.failure].find((error) => error instanceof StorageUnavailable)
      if (failure !== undefined) throw failure
      await connection.command('rollback to savepoint one_write')
      await connection.command('release savepoint one_write')
      return { outcome: { isDone: false, reason }, revision: state.revision }
    }
  }
}
