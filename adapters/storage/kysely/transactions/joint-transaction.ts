import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely, type Transaction } from 'kysely'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { Lifetime, StorageUnavailable } from '../../../../src/storage.ts'
import type { Connection } from '../driver/connections.ts'
import type { Database } from '../driver/language.ts'
import { TRANSACTION_OVER } from './read-transaction.ts'

/** Statements by which a transaction would end under the storage. */
const ENDING = /^\s*(?:begin|commit|end|abort|rollback(?!\s+(?:transaction\s+|work\s+)?to\b)|start\s+transaction)\b/i

/**
 * Runs work of a host in a transaction that the storage has begun and ends, as a transaction of Kysely. The transaction is of no use
 * afterwards. Rejects with the first failed statement where the database takes no further one, also when the host caught the error, and
 * with {@link StorageUnavailable} `busy` after `timeoutMs`.
 */
export async function withTransaction<DB, T>(
  {
    dialect,
    database,
    timeoutMs,
  }: { readonly dialect: Dialect; readonly database: Database; readonly timeoutMs: number },
  connection: Connection,
  work: (transaction: Transaction<DB>) => Promise<T>,
): Promise<T> {
  const lifetime = new Lifetime(TRANSACTION_OVER)
  let failed: { readonly error: unknown } | undefined
  const joined: DatabaseConnection = {
    async executeQuery(query) {
      lifetime.assertOpen()
      if (ENDING.test(query.sql))
        throw new Error('the storage begins and ends this transaction: return, or throw to roll back')
      try {
        return await connection.execute(query)
      } catch (error) {
        failed ??= { error }
        throw error
      }
    },
    streamQuery() {
      throw new Error('a joint write answers no streams: read pages')
    },
  }
  const kysely = new Kysely<DB>({
    dialect: {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => new JoinedDriver(joined),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
  })
  const limit = database.language.boundStatements?.(timeoutMs)
  if (limit !== undefined) await connection.rows(database.compile(limit))
  let cancel = () => {}
  const late = new Promise<never>((_resolve, reject) => {
    const give = () => reject(new StorageUnavailable('busy', `the joint write took longer than ${timeoutMs} ms`))
    cancel = runtime.timer(timeoutMs, give, true)
  })
  try {
    const answer = await Promise.race([kysely.transaction().execute(work), late])
    if (failed !== undefined) await stillTaken(connection, failed.error)
    return answer
  } finally {
    cancel()
    lifetime.end()
  }
}

/** PostgreSQL takes no further statement in a transaction with a failed one. */
async function stillTaken(connection: Connection, failure: unknown): Promise<void> {
  await connection.rows(CompiledQuery.raw('select 1')).catch(() => {
    throw failure
  })
}

/** The driver of one connection, whose transaction others begin and end. */
class JoinedDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(): Promise<void> {}

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
