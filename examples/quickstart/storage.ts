import type { Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'

/** What the quickstart keeps its records in, and what that means for the next run. */
export async function openStorage(): Promise<{ readonly storage: Storage; readonly note: string }> {
  return {
    storage: memoryStorage(),
    note: 'records are kept in memory: they end with this run, the certificates stay',
  }
}
