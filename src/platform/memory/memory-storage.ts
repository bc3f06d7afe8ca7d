import { AsyncLocalStorage } from 'node:async_hooks'
import { Gate } from '../../concurrency/gate.ts'
import { Lifetime } from '../../concurrency/lifetime.ts'
import {
  type Collection,
  type ReadCollection,
  type ReadTransaction,
  type RecordKind,
  type Storage,
  StorageUnavailable,
  type StoredRecord,
  type WriteTransaction,
} from '../../ports/record-storage.ts'
import { freezeRecord } from './frozen-record.ts'
import { find, scan } from './lookup.ts'
import { ChangeFeed, Draft, State } from './state.ts'
import type { Table } from './table.ts'
import { Turns } from './turns.ts'

/** How many changes the feed remembers. */
const FEED_CAPACITY = 100_000
const TRANSACTION_OVER = 'the transaction has ended: what it gave out cannot be used any more'

/** A storage in memory, which can be copied at no cost. */
export interface MemoryStorage extends Storage {
  /**
   * Another storage that begins with the committed records of this one. A change of either does not show in the other. A test suite builds
   * its world once and gives each test a fork.
   */
  fork(): MemoryStorage
  /** Keeps a fork as {@link lastSnapshot}. */
  snapshot(): Promise<undefined>
  /** The copy that the last snapshot made, to begin a controller with; it is gone with the process, as everything here is. */
  readonly lastSnapshot: MemoryStorage | undefined
}

/**
 * A storage that lives in memory and is gone with the process. A read holds the state that was committed when it began
 * and runs beside a write; writes wait for one another. A `write` begun inside a write of the same storage throws, for it
 * would wait for itself; `close` lets the writes that were accepted finish.
 *
 * @example
 * const controller = await createController({ storage: memoryStorage(), address: 'localhost:1280' })
 */
export function memoryStorage(): MemoryStorage {
  return startingWith(new State())
}

function startingWith(initial: State): MemoryStorage {
  const shared = { feed: new ChangeFeed(FEED_CAPACITY, initial), turns: new Turns() }
  const currentWrite = new AsyncLocalStorage<Lifetime>()
  let state = initial
  let lastSnapshot: MemoryStorage | undefined
  const writes = new Gate(1)
  const lifetime = new Lifetime(StorageUnavailable.closed)

  async function runWrite<T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
    const draft = new Draft(state)
    const handle = new Lifetime(TRANSACTION_OVER)
    try {
      const result = await currentWrite.run(handle, work, writeTransaction(shared, draft, handle))
      state = draft.commit()
      if (draft.changes.length > 0) shared.feed.append(draft.changes, state)
      return result
    } finally {
      handle.end()
    }
  }

  return {
    isVolatile: true,
    async read(work) {
      lifetime.assertOpen()
      const handle = new Lifetime(TRANSACTION_OVER)
      try {
        return await work(readTransaction(shared, state, handle))
      } finally {
        handle.end()
      }
    },
    async write(work) {
      lifetime.assertOpen()
      if (currentWrite.getStore()?.isOpen) throw new Error('a write cannot begin inside another write: use its handle')
      return writes.run(() => runWrite(work))
    },
    fork: () => startingWith(state),
    async snapshot() {
      lifetime.assertOpen()
      lastSnapshot = startingWith(state)
      return undefined
    },
    get lastSnapshot() {
      return lastSnapshot
    },
    close: () => lifetime.close(() => writes.idle()),
  }
}

/** The state that all transactions of one storage share. */
export interface Shared {
  readonly feed: ChangeFeed
  readonly turns: Turns
}

/** Reads of one committed state. */
function readTransaction(shared: Shared, state: State, lifetime: Lifetime): ReadTransaction {
  return {
    revision: state.revision,
    line: state.line,
    collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T> {
      lifetime.assertOpen()
      const table = state.table(kind)
      return readCollection<T>(shared, lifetime, { current: () => table, still: () => table })
    },
    async changesSince(revision, line) {
      lifetime.assertOpen()
      return shared.feed.between(revision, state.revision, line)
    },
  }
}

/** The records of one kind that a transaction reads: as they are at present, and held still for a scan. */
interface ReadTable {
  current(): Table
  still(): Table
}

/** Reads of one kind of record. Each read sees the table as it is at the time. */
function readCollection<T extends StoredRecord>(
  { turns }: Shared,
  lifetime: Lifetime,
  table: ReadTable,
): ReadCollection<T> {
  return {
    async get(id) {
      lifetime.assertOpen()
      return ofKind<T | undefined>(table.current().records.get(id))
    },
    async find(query = {}) {
      lifetime.assertOpen()
      const { items, totalCount } = await find(table.still(), query, turns)
      return { items: ofKind<readonly T[]>(items), totalCount }
    },
    async findIds(query = {}) {
      lifetime.assertOpen()
      return (await find(table.still(), query, turns)).items.map(({ id }) => id)
    },
    async *scan() {
      lifetime.assertOpen()
      for await (const items of scan(table.still(), turns)) {
        yield { items: ofKind<readonly T[]>(items) }
        lifetime.assertOpen()
      }
    },
  }
}

function ofKind<R>(stored: unknown): R {
  // A table is reached through its kind alone, so its records came through the kind's own insert and update.
  return stored as R
}

/** Reads and changes of one draft. */
function writeTransaction(shared: Shared, draft: Draft, lifetime: Lifetime): WriteTransaction {
  return {
    ...readTransaction(shared, draft.base, lifetime),
    collection<T extends StoredRecord>(kind: RecordKind<T>): Collection<T> {
      lifetime.assertOpen()
      return writeCollection<T>(shared, draft, kind, lifetime)
    },
  }
}

function writeCollection<T extends StoredRecord>(
  shared: Shared,
  draft: Draft,
  kind: RecordKind,
  lifetime: Lifetime,
): Collection<T> {
  return {
    // A write may go on changing the table while a long scan is under way.
    ...readCollection<T>(shared, lifetime, {
      current: () => draft.table(kind),
      still: () => draft.table(kind).clone(),
    }),
    async insert(record) {
      lifetime.assertOpen()
      draft.editableTable(kind).insert(freezeRecord(record))
      draft.note(kind, record.id, 'insert')
    },
    async update(record) {
      lifetime.assertOpen()
      const isFound = draft.editableTable(kind).update(freezeRecord(record))
      if (isFound) draft.note(kind, record.id, 'update')
      return isFound
    },
    async delete(id) {
      lifetime.assertOpen()
      const isFound = draft.editableTable(kind).delete(id)
      if (isFound) draft.note(kind, id, 'delete')
      return isFound
    },
  }
}
