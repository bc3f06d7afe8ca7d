import { type DatabaseConnection, type Dialect, type Driver, Kysely, type Transaction } from 'kysely'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { StorageUnavailable } from '../../../../src/storage.ts'
import {
  type DriverStatements,
  driverStatements,
  type JointAnswer,
  type JointStatement,
} from '../driver/driver-statements.ts'
import type { Database } from '../driver/language.ts'
import type { Connection } from '../driver/pooled-connections.ts'
import { HostStatements } from './host-statements.ts'

/**
 * The connection of a joint write, for statements that do not go through Kysely. Of a client of `pg` it has `query` with promises, which
 * libraries over `pg` take. Each call runs one statement. After the work it refuses every statement.
 */
export interface JointConnection {
  /**
   * Runs a statement in the transaction. Rejects with the error of the database, for statements that begin or end a transaction, and for a
   * roll-back to a savepoint after which the controller was called.
   *
   * @example
   * const storage = await sqliteStorage('network.sqlite')
   * await storage.together(async ({ connection, controller }) => {
   *   await connection.query('insert into tenants (name, seats) values (?, ?)', ['acme', 5])
   *   await controller.invite('acme-laptop')
   * })
   */
  query<R = Record<string, unknown>>(
    statement: string | JointStatement,
    values?: readonly unknown[],
  ): Promise<JointAnswer<R>>
}

/** How work of a host runs in a transaction. */
interface TransactionOptions {
  readonly dialect: Dialect
  readonly database: Database
  readonly timeoutMs: number
  /** The last work before the end, after the last statement of the host. */
  settle(): Promise<void>
}

/**
 * Runs work of a host in a transaction that the storage has begun and ends: as a transaction of Kysely, and by the connection itself. Both
 * are of no use afterwards. Rejects with the first failed statement where the database takes no further one, also when the host caught the
 * error, and with {@link StorageUnavailable} `busy` after `timeoutMs`.
 */
export async function withTransaction<DB, T>(
  { dialect, database, timeoutMs, settle }: TransactionOptions,
  connection: Connection,
  work: (transaction: Transaction<DB>, connection: JointConnection) => Promise<T>,
): Promise<T> {
  const statements = new HostStatements(connection)
  const driver = await connection.use((raw) => driverStatements(dialect, raw))
  const kysely = new Kysely<DB>({
    dialect: {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => new JoinedDriver(joinedToKysely(statements, driver)),
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
  const whole = async () => {
    const answer = await kysely
      .transaction()
      .execute((transaction) => work(transaction, jointConnection(statements, driver)))
    await statements.end()
    await settle()
    return answer
  }
  try {
    return await Promise.race([whole(), late])
  } catch (error) {
    throw statements.failed(error)
  } finally {
    cancel()
  }
}

function joinedToKysely(statements: HostStatements, driver: DriverStatements): DatabaseConnection {
  return {
    executeQuery: (query) => statements.run(query.sql, () => driver.execute(query)),
    streamQuery() {
      throw new Error('a joint write answers no streams: read pages')
    },
  }
}

function jointConnection(statements: HostStatements, driver: DriverStatements): JointConnection {
  return {
    async query(given, values, ...others: readonly unknown[]) {
      const statement = typeof given === 'string' ? { text: given } : given
      if (typeof statement?.text !== 'string' || 'submit' in statement) {
        throw new TypeError('query takes the text of a statement, or an object with its text: no cursor and no stream')
      }
      if ([values, ...others].some((argument) => typeof argument === 'function')) {
        throw new TypeError('query takes no callback: it answers a promise')
      }
      const whole = values === undefined ? statement : { ...statement, values }
      return statements.run(whole.text, () => driver.query(whole))
    },
  }
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
