import { AsyncLocalStorage } from 'node:async_hooks'
import { Gate, Lifetime, type Storage, type WriteTransaction } from './core.ts'
import { ChangeFeed, Draft, State } from './state.ts'
import { readTransaction, writeTransaction } from './transactions.ts'

import { Turns } from './turns.ts'

/** How many changes the feed remembers. */
const FEED_CAPACITY = 100_000
const TRANSACTION_OVER = 'the transaction has ended: what it gave out cannot be used any more'

/** A storage in memory, which can be copied at no cost. */
export interface MemoryStorage extends Storage {
  /**
   * Another storage that begins with what is committed in this one; a change of either does not show in the other. A test
   * suite builds its world once and gives each test a fork.
   */
  fork(): MemoryStorage
  /** Keeps a fork as {@link lastSnapshot}. */
  snapshot(): Promise<void>
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
  const shared = { feed: new ChangeFeed(FEED_CAPACITY, initial.revision), turns: new Turns() }
  const currentWrite = new AsyncLocalStorage<Lifetime>()
  let state = initial
  let lastSnapshot: MemoryStorage | undefined
  const writes = new Gate(1)
  const lifetime = new Lifetime('the storage is closed')

  async function runWrite<T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
    const draft = new Draft(state)
    const handle = new Lifetime(TRANSACTION_OVER)
    try {
      const result = await currentWrite.run(handle, work, writeTransaction(shared, draft, handle))
      state = draft.commit()
      shared.feed.append(draft.changes)
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
    },
    get lastSnapshot() {
      return lastSnapshot
    },
    close: () => lifetime.close(() => writes.idle()),
  }
}
