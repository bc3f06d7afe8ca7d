import type { Storage } from '../../../../src/index.ts'
import type { Setting } from '../command-line/usage.ts'
import { type OpenStorage, openStorage, type TableOptions } from './open-storage.ts'

/** A storage that is opened with the first read or write. */
export interface StorageOnDemand {
  readonly storage: Storage
  /** The storage for the ready line; an empty text before it is open. */
  name(): string
}

/**
 * The storage of a setting, opened with the first read or write: opening creates an absent database or table, so other problems of a start
 * must come first. Reads and writes reject with `UsageError` where it cannot be opened. A storage in memory leaves nothing behind, and is
 * opened at once.
 */
export async function storageOnDemand(setting: Setting, tables: TableOptions = {}): Promise<StorageOnDemand> {
  const isSqlite = setting.value.startsWith('sqlite:')
  if (setting.value === 'memory' || setting.value === 'sqlite::memory:') {
    const { storage, name } = await openStorage(setting, tables)
    return { storage, name: () => name }
  }
  let opening: Promise<OpenStorage> | undefined
  let name = ''
  const opened = async () => {
    opening ??= openStorage(setting, tables)
    const found = await opening
    name = found.name
    return found.storage
  }
  const storage: Storage = {
    read: async (work, options) => (await opened()).read(work, options),
    write: async (work) => (await opened()).write(work),
    close: async () => {
      const found = await opening?.catch(() => undefined)
      await found?.storage.close()
    },
    ...(isSqlite && { snapshot: async () => (await opened()).snapshot?.() }),
  }
  return { storage, name: () => name }
}
