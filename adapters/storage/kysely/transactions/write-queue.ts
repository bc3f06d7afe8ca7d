import { AsyncLocalStorage } from 'node:async_hooks'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { type Change, type Lifetime, StorageUnavailable, type WriteTransaction } from '../../../../src/storage.ts'
import { type CachedReads, levelReads, Uncommitted } from '../cache/cached-collection.ts'
import type { RecordCache } from '../cache/record-cache.ts'
import { beginWrite } from '../driver/language.ts'
import type { Connection, ConnectionSource } from '../driver/pooled-connections.ts'
import { newLine, type StoredChanges, type StoredState } from '../records/change-feed.ts'
import type { StoredTables } from './read-transaction.ts'
import { DeferredRows, Draft, writeTransaction } from './write-transaction.ts'

interface QueuedWrite {
  work(tx: WriteTransaction, connection: Connection): Promise<unknown>
  /** It shares its transaction with no other write. */
  readonly isAlone: boolean
  resolve(result: unknown): void
  reject(reason: unknown): void
}

/** The outcome of one write of a group; its caller gets it after the commit. */
type Outcome =
  | { readonly isDone: true; readonly result: unknown }
  | { readonly isDone: false; readonly reason: unknown }

/** The changes of a group, which the commit makes true. */
interface Collected {
  readonly outcomes: readonly Outcome[]
  /** Where the database stood as it began, and where it stands by the changes. */
  readonly before: StoredState
  readonly after: StoredState
  readonly changes: StoredChanges
}

/** The savepoint of a write. */
export const SAVEPOINT = 'one_write'

/** Writes that one commit serves at most. */
const GROUP_SIZE = 256
/** Ms within which the writes of one commit begin; a later write waits for the next commit. */
const GROUP_MS = 20

/**
 * Runs writes one after the other, in the order in which they come, and lets waiting writes share one transaction. Each write has a
 * savepoint of its own, so that a failed write leaves the others alone. Every caller gets the outcome after the commit that decides it. A
 * gate would admit the writes one by one, each with a commit of its own.
 */
export class WriteQueue {
  readonly #stored: StoredTables
  readonly #writers: ConnectionSource
  readonly #busyTimeoutMs: number
  readonly #cache: RecordCache | undefined
  readonly #waiting: QueuedWrite[] = []
  readonly #current = new AsyncLocalStorage<Lifetime>()
  #running: Promise<void> | undefined

  constructor(stored: StoredTables, writers: ConnectionSource, busyTimeoutMs: number, cache?: RecordCache) {
    this.#stored = stored
    this.#writers = writers
    this.#busyTimeoutMs = busyTimeoutMs
    this.#cache = cache
  }

  /** Waits for the turn of a write and runs it. `work` gets the connection too, for statements of its own; it is alone then. */
  async add<T>(work: (tx: WriteTransaction, connection: Connection) => Promise<T>, isAlone = false): Promise<T> {
    if (this.#current.getStore()?.isOpen) throw new Error('a write cannot begin inside another write: use its handle')
    return new Promise<T>((resolve, reject) => {
      // The answer of `work` resolves its own promise.
      this.#waiting.push({ work, isAlone, resolve: (result) => resolve(result as T), reject })
      this.#running ??= this.#run()
    })
  }

  /** Waits for the writes that were accepted. */
  async drain(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Writes of the same turn of the event loop join the first group.
    await new Promise<void>((resolve) => runtime.later(resolve))
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
      // Without a connection no write has begun: the waiting writes get an error now, instead of waiting for a better time.
      if (group.length === 0) group.push(...this.#waiting.splice(0))
      for (const { reject } of group) reject(error)
    }
  }

  async #transact(connection: Connection, group: QueuedWrite[]): Promise<readonly Outcome[]> {
    await beginWrite(this.#stored.database, connection, this.#busyTimeoutMs)
    try {
      const { outcomes, before, changes, after } = await this.#collect(connection, group)
      await connection.command('commit')
      // This process need not ask for records that it has written.
      if (after !== before && this.#cache?.isAt(before)) this.#cache.moveTo(after, changes)
      return outcomes
    } catch (error) {
      await connection.command('rollback').catch(() => {
        connection.isBroken = true
      })
      throw error
    }
  }

  async #collect(connection: Connection, group: QueuedWrite[]): Promise<Collected> {
    const { feed } = this.#stored
    const cache = this.#cache
    const known = cache?.place.revision ?? 0
    const before = await feed.read(connection)
    const uncommitted = new Uncommitted()
    // No other process commits meanwhile: the cache stays true, except for the changes of this group.
    const cached = cache && (await levelReads(cache, feed, connection, before, known, uncommitted))
    const deferred = new DeferredRows(connection, this.#stored.runJointly)
    const outcomes: Outcome[] = []
    const changes: Change[] = []
    const lines = new Map<number, string>()
    const since = runtime.monotonic()
    let state = before
    do {
      const next = this.#waiting.shift()
      if (next === undefined) break
      group.push(next)
      const draft = new Draft(connection, state, uncommitted, deferred)
      const line = newLine()
      const outcome = await this.#runOne(connection, draft, next, line, cached)
      outcomes.push(outcome)
      if (!outcome.isDone || draft.changes.length === 0) continue
      for (const change of draft.changes) changes.push(change)
      state = { ...state, revision: state.revision + 1, line }
      lines.set(state.revision, line)
    } while (this.#mayGrow(group) && runtime.monotonic() - since < GROUP_MS)
    const last = state === before ? [] : feed.advance(before, state)
    await this.#stored.runJointly(connection, [...deferred.take(), ...last])
    return { outcomes, before, after: state, changes: { changes, lines } }
  }

  #mayGrow(group: readonly QueuedWrite[]): boolean {
    const isShared = group.at(-1)?.isAlone === false && this.#waiting[0]?.isAlone === false
    return isShared && group.length < GROUP_SIZE
  }

  /** Runs one write in a savepoint, on a line of its own. Throws only when the connection is broken. */
  async #runOne(
    connection: Connection,
    draft: Draft,
    { work }: QueuedWrite,
    line: string,
    cached: CachedReads | undefined,
  ): Promise<Outcome> {
    await connection.command(`savepoint ${SAVEPOINT}`)
    try {
      const tx = writeTransaction(this.#stored, draft, cached)
      const result = await this.#current.run(draft.lifetime, work, tx, connection)
      if (draft.failure !== undefined) throw draft.failure
      draft.lifetime.end()
      await connection.command(`release savepoint ${SAVEPOINT}`)
      const { insert, rowOf } = this.#stored.feed
      for (const [position, change] of draft.changes.entries()) draft.defer(insert, rowOf(change, position, line))
      draft.deferred.keep()
      return { isDone: true, result }
    } catch (reason) {
      draft.lifetime.end()
      // The database may have rolled back the whole transaction by itself.
      const failure = [reason, draft.failure].find((error) => error instanceof StorageUnavailable)
      if (failure !== undefined) throw failure
      await connection.command(`rollback to savepoint ${SAVEPOINT}`)
      draft.deferred.undo()
      await connection.command(`release savepoint ${SAVEPOINT}`)
      return { isDone: false, reason }
    }
  }
}
