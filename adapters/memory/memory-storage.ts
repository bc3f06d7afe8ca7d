import { AsyncLocalStorage } from 'node:async_hooks'
import { ChangeFeed } from './change-feed.ts'
import type { Storage, WriteTransaction } from './core.ts'
import { Lifetime } from './lifetime.ts'
import { readTransaction } from './read-transaction.ts'
import { Draft, State } from './state.ts'
import { Turns } from './turns.ts'
import { writeTransaction } from './write-transaction.ts'

/** How many changes the feed remembers. */
const FEED_CAPACITY = 100_000

/** A storage in memory, which can be copied at no cost. */
export interface MemoryStorage extends Storage {
  /**
   * Another storage that begins with what is committed in this one; a change of either does not show in the other. A test
   * suite builds its world once and gives each test a fork.
   */
  fork(): MemoryStorage
  /** Keeps a fork as {@link lastSnapshot}. */
  snapshot(): Promise<void>
  /** What the last snapshot kept, to begin a controller with; it is gone with the process, as everything here is. */
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
  let lastWrite: Promise<void> = Promise.resolve()
  let isClosed = false

  const assertUsable = () => {
    if (isClosed) throw new Error('the storage is closed')
  }

  async function runWrite<T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
    const draft = new Draft(state)
    const lifetime = new Lifetime()
    try {
      const result = await currentWrite.run(lifetime, work, writeTransaction(shared, draft, lifetime))
      state = draft.commit()
      shared.feed.append(draft.changes)
      return result
    } finally {
      lifetime.end()
    }
  }

  return {
    async read(work) {
      assertUsable()
      const lifetime = new Lifetime()
      try {
        return await work(readTransaction(shared, state, lifetime))
      } finally {
        lifetime.end()
      }
    },
    async write(work) {
      assertUsable()
      if (currentWrite.getStore()?.isOpen) throw new Error('a write cannot begin inside another write: use its handle')
      const result = lastWrite.then(() => runWrite(work))
      // One that fails must not fail those behind it.
      const settled = () => undefined
      lastWrite = result.then(settled, settled)
      return result
    },
    fork: () => startingWith(state),
    async snapshot() {
      assertUsable()
      lastSnapshot = startingWith(state)
    },
    get lastSnapshot() {
      return lastSnapshot
    },
    async close() {
      isClosed = true
      await lastWrite
    },
  }
}
