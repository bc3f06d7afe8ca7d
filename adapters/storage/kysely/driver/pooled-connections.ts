import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
} from 'kysely'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { Gate, Lifetime, type Patience, StorageUnavailable } from '../../../../src/storage.ts'
import { asUnavailable } from './unavailable.ts'

/** One row of an answer, by column. */
export type Row = Readonly<Record<string, unknown>>

/** The source that rows are read from. */
export interface RowSource {
  rows(query: CompiledQuery): Promise<readonly Row[]>
}

/** One connection while one transaction has it to itself. */
export class Connection implements RowSource {
  readonly #connection: DatabaseConnection
  /** Set by the first error that speaks of the state of the database; the connection is not used again then. */
  isBroken = false
  /** The statements up to now. */
  used = 0

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  async rows(query: CompiledQuery): Promise<readonly Row[]> {
    return (await this.execute<Row>(query)).rows
  }

  /** Runs any statement; answers as the driver does. */
  execute<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.use((connection) => connection.executeQuery<R>(query))
  }

  /** Runs a statement on the connection of the driver. */
  async use<T>(work: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    this.used += 1
    try {
      return await work(this.#connection)
    } catch (error) {
      throw this.#translated(error)
    }
  }

  /** Runs a statement; answers how many rows it inserted, changed or deleted. */
  async run(query: CompiledQuery): Promise<number> {
    return Number((await this.execute(query)).numAffectedRows ?? 0)
  }

  /** Runs a statement that has no parameters. */
  async command(text: string): Promise<void> {
    let query = COMMANDS.get(text)
    if (query === undefined) {
      query = CompiledQuery.raw(text)
      COMMANDS.set(text, query)
    }
    await this.run(query)
  }

  #translated(error: unknown): unknown {
    const unavailable = asUnavailable(error)
    if (unavailable !== undefined && unavailable.reason !== 'busy') this.isBroken = true
    return unavailable ?? error
  }
}

/** The few statements that begin, end and divide transactions. */
const COMMANDS = new Map<string, CompiledQuery>()

/** The number of connections, and the longest wait for a connection. */
export interface ConnectionOptions {
  /** Greatest number of reads at once, where each has a connection of its own. Default: 8. */
  readonly readConnections?: number
  /** Milliseconds to wait for a connection or for other writers, before a call fails as busy. Default: 5,000. */
  readonly busyTimeoutMs?: number
}

/** Connections for readers where the host names no number. */
export const READ_CONNECTIONS = 8
/** Ms that a call waits for a connection or for other writers, before it fails as busy. */
export const BUSY_TIMEOUT_MS = 5000

/** The connections of one storage. Readers never wait for writers, where the dialect allows it. */
export interface Connections {
  readonly readers: ConnectionSource
  readonly writers: ConnectionSource
  close(): Promise<void>
}

/** Where connections come from, each for one transaction at a time. */
export interface ConnectionSource {
  /** Runs `work` with a connection of its own. */
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A dialect that is not made by a function is shared: readers and writers take turns. */
export function openConnections(
  dialect: Dialect | (() => Dialect),
  { readConnections = READ_CONNECTIONS, busyTimeoutMs = BUSY_TIMEOUT_MS }: ConnectionOptions,
): Connections {
  if (typeof dialect !== 'function') {
    const shared = sourceOf(dialect, 1, busyTimeoutMs)
    return { readers: shared, writers: shared, close: () => shared.close() }
  }
  const readers = sourceOf(dialect(), readConnections, busyTimeoutMs)
  const writers = sourceOf(dialect(), 1, busyTimeoutMs)
  const lifetime = new Lifetime('the connections are closed')
  return {
    readers,
    writers,
    close: () =>
      lifetime.close(
        () => readers.close(),
        () => writers.close(),
      ),
  }
}

function sourceOf(dialect: Dialect, most: number, timeoutMs: number): ConnectionSource {
  const adapter = dialect.createAdapter()
  // Kysely before 0.29 does not report it, and leaves a connection of SQLite to several at once.
  const hasMany = adapter.supportsMultipleConnections ?? !(adapter instanceof SqliteAdapter)
  return hasMany ? pooledConnections(dialect) : separateConnections(dialect, most, timeoutMs)
}

/** The connections of a dialect that has many: its own pool hands them out. */
function pooledConnections(dialect: Dialect): ConnectionSource {
  const driver = dialect.createDriver()
  let ready: Promise<void> | undefined
  return {
    async use(work) {
      ready ??= driver.init()
      const raw = await orUnavailable(ready.then(() => driver.acquireConnection()))
      const connection = new Connection(raw)
      try {
        return await work(connection)
      } finally {
        // A roll-back that fails is how a driver learns that a connection is lost.
        if (connection.isBroken) await driver.rollbackTransaction(raw).catch(() => undefined)
        await driver.releaseConnection(raw)
      }
    },
    async close() {
      if (ready !== undefined) await driver.destroy()
    },
  }
}

/** Up to `most` connections of a dialect whose drivers have one each. A broken connection is replaced. */
function separateConnections(dialect: Dialect, most: number, timeoutMs: number): ConnectionSource {
  const gate = new Gate(most)
  const idle: Driver[] = []
  const lifetime = new Lifetime('the connections are closed')
  return {
    use: (work) =>
      gate.run(async () => {
        const driver = idle.pop() ?? (await orUnavailable(open(dialect)))
        const connection = new Connection(await driver.acquireConnection())
        try {
          return await work(connection)
        } finally {
          if (connection.isBroken || !lifetime.isOpen) await driver.destroy().catch(() => undefined)
          else idle.push(driver)
        }
      }, patience(timeoutMs)),
    close: () => lifetime.close(...idle.splice(0).map((driver) => () => driver.destroy())),
  }
}

/** Gives up waiting for a connection after `timeoutMs`. */
function patience(timeoutMs: number): Patience {
  return (giveUp) => {
    const expired = () => giveUp(new StorageUnavailable('busy', `no connection was free within ${timeoutMs} ms`))
    return runtime.timer(timeoutMs, expired, true)
  }
}

async function open(dialect: Dialect): Promise<Driver> {
  const driver = dialect.createDriver()
  try {
    await driver.init()
  } catch (error) {
    await driver.destroy().catch(() => undefined)
    throw error
  }
  return driver
}

async function orUnavailable<T>(acquired: Promise<T>): Promise<T> {
  try {
    return await acquired
  } catch (error) {
    throw asUnavailable(error) ?? error
  }
}
