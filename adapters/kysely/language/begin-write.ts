import { StorageUnavailable } from '../../../src/index.ts'
import type { Connection } from '../driver/connection.ts'
import type { Database } from './database.ts'

const LONGEST_PAUSE_MS = 20

/**
 * Begins a transaction that writes, alone among all processes. Waits for others without holding up the event loop. Error:
 * {@link StorageUnavailable} `busy` after `timeoutMs`.
 */
export async function beginWrite(database: Database, connection: Connection, timeoutMs: number): Promise<void> {
  const { language } = database
  const since = performance.now()
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      await connection.command(language.beginWrite)
      break
    } catch (error) {
      const isBusy = error instanceof StorageUnavailable && error.reason === 'busy'
      if (!isBusy || performance.now() - since >= timeoutMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  const lock = language.lockWriters?.(`${database.schema ?? ''}.${database.prefix}`)
  if (lock !== undefined) await connection.rows(database.compile(lock))
}
