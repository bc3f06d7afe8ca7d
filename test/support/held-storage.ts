import type { Storage } from 'portcullis'
import type { ReadTransaction } from 'portcullis/storage'

/** A storage, some calls of which hang. */
export interface HeldStorage extends Storage {
  /** Whether a call hangs: the beginning of a write, by `write`, or a question in a read, by `find` and the kind of records. */
  holds: (call: string) => boolean
  /** The calls that hang, in their order: each goes on when it is called. */
  readonly held: (() => void)[]
}

/** Wraps a storage so that calls of it can hang for a while, or for ever. */
export function heldStorage(storage: Storage): HeldStorage {
  const through = async (call: string) => {
    if (held.holds(call)) await new Promise<void>((resolve) => void held.held.push(resolve))
  }
  const reading = (tx: ReadTransaction): ReadTransaction => ({
    revision: tx.revision,
    line: tx.line,
    changesSince: (revision, line) => tx.changesSince(revision, line),
    collection: (kind) => {
      const inner = tx.collection(kind)
      return {
        get: (id) => inner.get(id),
        findIds: (query) => inner.findIds(query),
        scan: (fields) => inner.scan(fields),
        find: async (query) => {
          await through(`find ${kind.name}`)
          return inner.find(query)
        },
      }
    },
  })
  const held: HeldStorage = {
    holds: () => false,
    held: [],
    read: (work, options) => storage.read((tx) => work(reading(tx)), options),
    write: async (work) => {
      await through('write')
      return storage.write(work)
    },
    close: () => storage.close(),
  }
  return held
}
