import type { Storage } from 'portcullis'
import { type ReadTransaction, StorageUnavailable, type WriteTransaction } from 'portcullis/storage'

/** Where the next failure happens: at the `call`-th storage call from now, before or after what it does. */
export interface Fault {
  call: number
  readonly when: 'before' | 'after'
}

/** A storage that fails when it is told to. */
export interface FaultyStorage extends Storage {
  /** The failure to come; undefined when it has happened, or when none was asked for. */
  fault: Fault | undefined
  /** How many calls there were. */
  readonly calls: number
}

/**
 * Wraps a storage so that any one call of it can fail as if its database were away: beginning or ending a read or a write,
 * and each question or change within. A write that fails after its end has taken effect, as when a connection is lost during
 * the commit.
 */
export function faultyStorage(storage: Storage): FaultyStorage {
  let calls = 0
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1
    const { fault } = faulty
    const isHit = fault !== undefined && --fault.call === 0
    if (!isHit) return work()
    faulty.fault = undefined
    if (fault.when === 'after') await work()
    throw new StorageUnavailable('unreachable', `the call failed ${fault.when} its effect`)
  }
  const reading = (tx: ReadTransaction): ReadTransaction => ({
    revision: tx.revision,
    line: tx.line,
    changesSince: (revision, line) => call(() => tx.changesSince(revision, line)),
    collection(kind) {
      const inner = tx.collection(kind)
      return {
        get: (id) => call(() => inner.get(id)),
        find: (query) => call(() => inner.find(query)),
        findIds: (query) => call(() => inner.findIds(query)),
        async *scan(fields) {
          await call(async () => undefined)
          yield* inner.scan(fields)
        },
      }
    },
  })
  const writing = (tx: WriteTransaction): WriteTransaction => ({
    ...reading(tx),
    collection(kind) {
      const inner = tx.collection(kind)
      return {
        ...reading(tx).collection(kind),
        insert: (record) => call(() => inner.insert(record)),
        update: (record) => call(() => inner.update(record)),
        delete: (id) => call(() => inner.delete(id)),
      }
    },
  })
  const faulty: FaultyStorage = {
    fault: undefined,
    get calls() {
      return calls
    },
    read: (work) => call(() => storage.read((tx) => work(reading(tx)))),
    write: (work) => call(() => storage.write((tx) => work(writing(tx)))),
    close: () => storage.close(),
  }
  return faulty
}
