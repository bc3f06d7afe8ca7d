import type { Storage } from 'portcullis'
import { RECORD_KINDS } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import type { Mount } from '../../contract/http/mount.ts'
import { mountOf } from '../../support/mount.ts'
import { withSharedPki } from '../../support/shared-pki.ts'

/** Storages for one controller after the other. */
export interface EmptiedStorages {
  /** Mounts a controller in process on a storage that is empty. */
  readonly mount: Mount
  close(): Promise<void>
}

/**
 * Mounts controllers on storages that `open` makes. Connecting and making the tables takes longer than any of the tests, so a
 * storage that nobody uses any more is emptied and used again.
 */
export function emptiedStorages(open: () => Promise<Storage>): EmptiedStorages {
  const all: Storage[] = []
  const free: Storage[] = []

  async function openAnother(): Promise<Storage> {
    const storage = await open()
    all.push(storage)
    return storage
  }

  async function next(): Promise<Storage> {
    const storage = free.pop() ?? (await openAnother())
    return {
      ...storage,
      async close() {
        await empty(storage)
        free.push(storage)
      },
    }
  }

  return {
    mount: mountOn(next),
    close: async () => {
      for (const storage of all) await storage.close()
    },
  }
}

/** Mounts controllers in process on storages that `open` makes, empty for each. */
export function mountOn(open: () => Promise<Storage>): Mount {
  return async (options) => {
    const storage = await open()
    const revision = await storage.read(async (tx) => tx.revision)
    // One that was used before gives the ids that a new one does.
    return mountOf(await createTestController({ storage, seed: 1 - revision, ...(await withSharedPki(options)) }))
  }
}

function empty(storage: Storage): Promise<void> {
  return storage.write(async (tx) => {
    for (const kind of RECORD_KINDS) {
      const { items } = await tx.collection(kind).find()
      for (const { id } of items) await tx.collection(kind).delete(id)
    }
  })
}
