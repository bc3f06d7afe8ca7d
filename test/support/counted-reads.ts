import type { ReadTransaction, Storage } from 'portcullis/storage'

/** A storage that tells which kinds each of its snapshots was asked for, in the order in which they began. */
export interface CountedReads extends Storage {
  /** The snapshots of reads since the last look, each by the kinds of records that were read in it. */
  taken(): readonly (readonly string[])[]
}

/** Wraps a storage. */
export function countedReads(storage: Storage): CountedReads {
  let snapshots: string[][] = []
  return {
    ...storage,
    read(work, options) {
      const kinds: string[] = []
      snapshots.push(kinds)
      const counting = (tx: ReadTransaction): ReadTransaction => ({
        revision: tx.revision,
        line: tx.line,
        changesSince: (revision, line) => tx.changesSince(revision, line),
        collection(kind) {
          kinds.push(kind.name)
          return tx.collection(kind)
        },
      })
      return storage.read((tx) => work(counting(tx)), options)
    },
    taken() {
      const taken = snapshots
      snapshots = []
      return taken.map((kinds) => [...new Set(kinds)])
    },
  }
}
