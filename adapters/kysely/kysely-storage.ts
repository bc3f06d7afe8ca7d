import { BUSY_TIMEOUT_MS, openConnections } from './connections/open-connections.ts'
import type { Storage } from './core.ts'
import { RECORD_KINDS } from './core.ts'
import { describeDatabase } from './database.ts'
import type { KyselyStorageOptions } from './options.ts'
import { applyMigration, pendingMigration } from './schema/migrate.ts'
import { SchemaMismatch } from './schema/schema-mismatch.ts'
import { Lifetime } from './transactions/lifetime.ts'
import { readTransaction } from './transactions/read-transaction.ts'
import { sharedBy } from './transactions/shared.ts'
import { WriteQueue } from './transactions/write-queue.ts'

/**
 * A storage in the tables of a SQL database, which any number of processes may share: everything comes from the database,
 * nothing is kept outside of it. Missing tables and columns are created first. Errors: {@link SchemaMismatch} for a database
 * of a newer version, `StorageUnavailable` when the database cannot be used at present.
 */
export async function kyselyStorage(options: KyselyStorageOptions): Promise<Storage> {
  const { busyTimeoutMs = BUSY_TIMEOUT_MS, kinds = RECORD_KINDS } = options
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
  const reading = new Set<Promise<unknown>>()
  let isClosed = false
  const assertUsable = () => {
    if (isClosed) throw new Error('the storage is closed')
  }
  return {
    async read(work) {
      assertUsable()
      const result = readers.use(async (connection) => {
        const lifetime = new Lifetime()
        await connection.command(database.language.beginRead)
        try {
          const state = await shared.state.read(connection)
          return await work(readTransaction(shared, connection, state, lifetime))
        } finally {
          lifetime.end()
          await connection.command('commit').catch(() => {
            connection.isBroken = true
          })
        }
      })
      reading.add(result)
      try {
        return await result
      } finally {
        reading.delete(result)
      }
    },
    async write(work) {
      assertUsable()
      return queue.add(work)
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
