import { levelReads } from './cache/cached-reads.ts'
import { RecordCache } from './cache/record-cache.ts'
import { BUSY_TIMEOUT_MS, openConnections } from './connections/open-connections.ts'
import { RECORD_KINDS, type Storage, StorageUnavailable } from './core.ts'
import { describeDatabase } from './database.ts'
import type { KyselyStorageOptions } from './options.ts'
import { applyMigration, pendingMigration } from './schema/migrate.ts'
import { SchemaMismatch } from './schema/schema-mismatch.ts'
import { Lifetime } from './transactions/lifetime.ts'
import { readTransaction } from './transactions/read-transaction.ts'
import { sharedBy } from './transactions/shared.ts'
import { WriteQueue } from './transactions/write-queue.ts'

const CACHED_RECORDS = 20_000

/**
 * A storage in the tables of a SQL database, which any number of processes may share: every read is of what is committed
 * when it begins, by whichever process. Missing tables and columns are created first. Errors: {@link SchemaMismatch} for a
 * database of a newer version, `StorageUnavailable` when the database cannot be used at present.
 */
export async function kyselyStorage(options: KyselyStorageOptions): Promise<Storage> {
  const { busyTimeoutMs = BUSY_TIMEOUT_MS, cachedRecords = CACHED_RECORDS, kinds = RECORD_KINDS } = options
  const database = describeDatabase(options, kinds)
  const connections = openConnections(options)
  const { readers, writers } = connections
  try {
    const pending = await pendingMigration(database, writers)
    if (pending !== undefined) {
      if (options.migrate === false) {
        throw new SchemaMismatch(`the database lacks the migration '${pending.name}': run \`portcullis migrate\` first`)
      }
      await applyMigration(database, writers, busyTimeoutMs)
    }
  } catch (error) {
    await connections.close()
    throw error
  }

  const shared = sharedBy(database)
  const queue = new WriteQueue(shared, writers, busyTimeoutMs)
  const cache = cachedRecords > 0 ? new RecordCache(cachedRecords) : undefined
  const reading = new Set<Promise<unknown>>()
  let isClosed = false
  const assertUsable = () => {
    if (isClosed) throw new Error('the storage is closed')
  }
  /** Another database may come back than the one that went away. */
  const distrustAfter = (error: unknown) => {
    if (error instanceof StorageUnavailable && error.reason !== 'busy') cache?.clear()
  }
  return {
    async read(work) {
      assertUsable()
      const result = readers.use(async (connection) => {
        const lifetime = new Lifetime()
        const before = cache?.revision ?? 0
        await connection.command(database.language.beginRead)
        try {
          const state = await shared.state.read(connection)
          const cached = cache && (await levelReads(cache, shared.state, connection, state, before))
          return await work(readTransaction(shared, connection, state, lifetime, cached))
        } finally {
          lifetime.end()
          await connection.command('commit').catch(() => {
            connection.isBroken = true
            cache?.clear()
          })
        }
      })
      reading.add(result)
      try {
        return await result
      } catch (error) {
        distrustAfter(error)
        throw error
      } finally {
        reading.delete(result)
      }
    },
    async write(work) {
      assertUsable()
      return queue.add(work).catch((error: unknown) => {
        distrustAfter(error)
        throw error
      })
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await queue.drain()
      await Promise.allSettled(reading)
      await connections.close()
    },
  }
}
