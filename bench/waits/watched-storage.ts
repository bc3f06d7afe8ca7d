import type { Storage } from 'portcullis'
import { counting } from '../../test/support/counted-writes.ts'

/** One write: for how long (ms) it kept others out, the processor time (ms) of this thread in it, and what it changed. */
export interface SeenWrite {
  readonly heldMs: number
  readonly processorMs: number
  readonly changes: number
}

/** A storage of which every write is watched. */
export interface WatchedStorage extends Storage {
  /** The writes since the last look. */
  take(): readonly SeenWrite[]
}

/** Wraps a storage. */
export function watchedStorage(storage: Storage): WatchedStorage {
  let seen: SeenWrite[] = []
  return {
    ...storage,
    write: (work) =>
      storage.write(async (tx) => {
        let changes = 0
        const begun = performance.now()
        const before = process.threadCpuUsage()
        try {
          return await work(counting(tx, () => (changes += 1)))
        } finally {
          const { user, system } = process.threadCpuUsage(before)
          seen.push({ heldMs: performance.now() - begun, processorMs: (user + system) / 1000, changes })
        }
      }),
    take() {
      const taken = seen
      seen = []
      return taken
    },
  }
}
