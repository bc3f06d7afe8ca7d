import type { CompiledQuery } from 'kysely'
import {
  type Change,
  type Collection,
  Lifetime,
  type RecordKind,
  type StoredRecord,
  type WriteTransaction,
} from '../../../../src/storage.ts'
import type { CachedReads, Uncommitted } from '../cache/cached-collection.ts'
import type { RowInserter } from '../driver/language.ts'
import type { Connection, Row, RowSource } from '../driver/pooled-connections.ts'
import type { StoredState } from '../records/change-feed.ts'
import type { JointStatements } from '../records/joint-statements.ts'
import {
  deleteRecord,
  insertRecord,
  type RecordWriter,
  updateRecord,
  type WriteUnderWay,
} from '../records/write-record.ts'
import { readCollection, readTransaction, type StoredTables, TRANSACTION_OVER } from './read-transaction.ts'

/** Reads and changes of one write. Unchanged records are read from the cache, where a cache of the same revision is given. */
export function writeTransaction(stored: StoredTables, draft: Draft, cached?: CachedReads): WriteTransaction {
  const { connection, lifetime, state, deferred } = draft
  const reads = readTransaction(stored, connection, state, lifetime, cached)
  return {
    ...reads,
    async changesSince(revision, line) {
      // Rows of other writes of the same commit may still wait.
      await deferred.flush()
      return reads.changesSince(revision, line)
    },
    collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T> {
      lifetime.assertOpen()
      const table = stored.tableOf(kind)
      const { database } = stored
      const writer: RecordWriter = { database, table, statements: stored.statementsOf(table), write: draft }
      return {
        ...readCollection<T>(stored, kind.isJournal ? flushing(draft) : connection, kind, lifetime, cached),
        async insert(record) {
          lifetime.assertOpen()
          await insertRecord(writer, record)
        },
        async update(record) {
          lifetime.assertOpen()
          if (kind.isJournal) await deferred.flush()
          return updateRecord(writer, record)
        },
        async delete(id) {
          lifetime.assertOpen()
          if (kind.isJournal) await deferred.flush()
          return deleteRecord(writer, id)
        },
      }
    },
  }
}

/** The connection of a write, for readers of rows that may still wait. */
function flushing({ connection, deferred }: Draft): RowSource {
  return {
    async rows(query) {
      await deferred.flush()
      return connection.rows(query)
    },
  }
}

/** The changes of one write up to now. */
export class Draft implements WriteUnderWay {
  readonly connection: Connection
  readonly state: StoredState
  readonly lifetime = new Lifetime(TRANSACTION_OVER)
  readonly changes: Change[] = []
  readonly #uncommitted: Uncommitted
  readonly deferred: DeferredRows
  /** The first error by which a change may have been left half done; the write is then rolled back, caught or not. */
  failure: unknown

  /** Its changes are noted in `uncommitted` too; `deferred` is that of the group. */
  constructor(connection: Connection, state: StoredState, uncommitted: Uncommitted, deferred: DeferredRows) {
    this.deferred = deferred
    this.connection = connection
    this.#uncommitted = uncommitted
    this.state = state
  }

  run(query: CompiledQuery): Promise<number> {
    return this.#watched(() => this.connection.run(query))
  }

  rows(query: CompiledQuery): Promise<readonly Row[]> {
    return this.#watched(() => this.connection.rows(query))
  }

  note(kind: string, id: string, operation: Change['operation']): void {
    this.#uncommitted.add(kind, id)
    this.changes.push({ revision: this.state.revision + 1, kind, id, operation })
  }

  defer(inserter: RowInserter, values: readonly unknown[]): void {
    this.deferred.add(inserter, values)
  }

  async #watched<T>(work: () => Promise<T>): Promise<T> {
    this.lifetime.assertOpen()
    try {
      return await work()
    } catch (error) {
      this.failure ??= error
      throw error
    }
  }
}

interface DeferredRow {
  readonly inserter: RowInserter
  readonly values: readonly unknown[]
}

/**
 * Rows that writes only add and seldom read. The rows of all writes of a group go to the database in few statements, before their commit. A
 * write that fails takes its own with it.
 */
export class DeferredRows {
  readonly #connection: Connection
  readonly #runJointly: JointStatements
  /** Of the writes of the group that succeeded. */
  #kept: DeferredRow[] = []
  /** Of the write under way. */
  #own: DeferredRow[] = []
  /** Of writes that succeeded, added within the savepoint of the write under way, which takes them along when it fails. */
  #inSavepoint: DeferredRow[] = []

  constructor(connection: Connection, runJointly: JointStatements) {
    this.#connection = connection
    this.#runJointly = runJointly
  }

  add(inserter: RowInserter, values: readonly unknown[]): void {
    this.#own.push({ inserter, values })
  }

  /** Adds the rows to the database: they are about to be read. */
  async flush(): Promise<void> {
    await this.#runJointly(this.#connection, this.take())
  }

  /** The statements that add the rows, which are run next. */
  take(): readonly CompiledQuery[] {
    const rows = [...this.#kept, ...this.#own]
    this.#inSavepoint.push(...this.#kept)
    this.#kept = []
    this.#own = []
    return [...grouped(rows)].flatMap(([inserter, ofTable]) => [...inserter(ofTable)])
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
