import { type Dialect, PostgresDialect } from 'kysely'
import type { Client, PoolConfig } from 'pg'
import { checkOptions, type OptionRules } from '../../../../src/base/arguments.ts'
import { BUSY_TIMEOUT_MS, type ConnectionOptions, READ_CONNECTIONS } from './pooled-connections.ts'

/**
 * The options of a pool of `pg` by which a server is found and logged in to. A value of `PoolConfig`, with all of its options, fits too.
 * The type is written out here, because hosts on SQLite have no types of `pg`.
 */
export interface PostgresConnection {
  readonly connectionString?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly database?: string | undefined
  readonly user?: string | undefined
  /** The password, or a function that is asked for it at each new connection: tokens of a cloud end. */
  readonly password?: string | (() => string | Promise<string>) | undefined
  /** Options of `tls.connect`; `true` verifies the server by the roots of Node. */
  readonly ssl?: boolean | object | undefined
  readonly application_name?: string | undefined
  /** Parameters of the session, as `-c search_path=tenant`. */
  readonly options?: string | undefined
  readonly keepAlive?: boolean | undefined
  /** How long opening a connection may take, ms. */
  readonly connectionTimeoutMillis?: number | undefined
  /** A connection that is idle for this long is closed, ms; with `null` or 0 it stays. */
  readonly idleTimeoutMillis?: number | null | undefined
  /** How long a statement waits for a lock, ms. */
  readonly lock_timeout?: number | undefined
  /** How long a statement may run in the server, ms. */
  readonly statement_timeout?: number | false | undefined
  /** How long the driver waits for the answer of a query, ms. */
  readonly query_timeout?: number | undefined
  /** A session that holds a transaction without using it for this long is ended, ms. */
  readonly idle_in_transaction_session_timeout?: number | undefined
  readonly max?: number | undefined
  readonly min?: number | undefined
  readonly maxUses?: number | undefined
  readonly maxLifetimeSeconds?: number | undefined
  readonly allowExitOnIdle?: boolean | undefined
}

/** How a PostgreSQL database is reached. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, or options of a pool of `pg`. */
  readonly connection: string | PostgresConnection
  /**
   * Whether statements that are run again and again are prepared; not for poolers that cannot. Default: true, unless the URL says
   * `prepareStatements=false`.
   */
  readonly prepareStatements?: boolean
}

/** The first argument as messages call it. */
export const POSTGRES_HINT = "an object: { connection: 'postgres://user@host:5432/database' }"

/** Rules of the options; without a connection `pg` would take the database that the environment names. */
export const POSTGRES_OPTIONS: OptionRules<PostgresOptions> = {
  connection: {
    shape: 'unknown',
    isNeeded: true,
    hint: "'postgres://user@host:5432/database', or a configuration of pg",
    problem: connectionProblem,
  },
  prepareStatements: 'boolean',
}

const DIALECT_OPTIONS: OptionRules<PostgresOptions & ConnectionOptions> = {
  ...POSTGRES_OPTIONS,
  readConnections: 'number',
  busyTimeoutMs: 'number',
}

/** Finds the mistake in a connection. Its text is not shown: it may hold a password. */
function connectionProblem(connection: unknown): string | undefined {
  if (typeof connection === 'object' && connection !== null) return undefined
  const isUrl = typeof connection === 'string' && /^(postgres(ql)?:\/\/|socket:|\/)/.test(connection)
  return isUrl ? undefined : 'is no postgres:// URL'
}

/**
 * The text for which a connection of Kysely, which keeps its client of `pg` to itself, answers the client. It never reaches a server; a
 * client of another class sends it, as a comment.
 */
export const CLIENT_OF_CONNECTION = '-- the client of this connection'

/** The dialect whose connections answer their client. */
export class ClientDialect extends PostgresDialect {}

/** Ms after which the server ends a session whose process was lost in the middle of a write, and so frees its locks. */
const IDLE_WRITE_MS = 30_000

/**
 * Makes dialects over pools of their own: the first for writes, with one connection, the next for reads.
 *
 * @example
 * const dialect = await postgresDialect({ connection: 'postgres://portcullis@localhost/portcullis' })
 * await migrate({ dialect })
 */
export async function postgresDialect(options: PostgresOptions & ConnectionOptions): Promise<() => Dialect> {
  checkOptions('postgresDialect', options, DIALECT_OPTIONS, POSTGRES_HINT)
  return openPostgresDialect(options)
}

/** The same for options that were looked at. */
export async function openPostgresDialect(options: PostgresOptions & ConnectionOptions): Promise<() => Dialect> {
  const { Pool, Client } = (await import('pg')).default
  const {
    connection,
    readConnections = READ_CONNECTIONS,
    busyTimeoutMs = BUSY_TIMEOUT_MS,
    prepareStatements = !isUnprepared(connection),
  } = options
  const given = typeof connection === 'string' ? { connectionString: connection } : connection
  const config: PoolConfig = {
    connectionTimeoutMillis: busyTimeoutMs,
    lock_timeout: busyTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_WRITE_MS,
    keepAlive: true,
    max: readConnections,
    Client: preparingClient(Client, prepareStatements),
    ...given,
  }
  return () =>
    new ClientDialect({
      pool: async () => {
        const pool = new Pool(config)
        // A connection that is lost is replaced; the next statement shows whether that works.
        pool.on('error', () => undefined)
        pool.on('connect', (client) => client.on('error', () => undefined))
        return pool
      },
    })
}

/** Whether a URL says that its pooler cannot keep prepared statements. The driver ignores unknown parameters. */
function isUnprepared(connection: PostgresOptions['connection']): boolean {
  return typeof connection === 'string' && /[?&]prepareStatements=false(?:&|$)/.test(connection)
}

/** Statements that are prepared on a connection; further ones are parsed each time. */
const PREPARED = 400
/** Statements whose uses are counted: frequent statements are worth preparing. */
const COUNTED = 4000

/** A client that prepares a statement on the server when it is run for the third time, where it may. */
function preparingClient(Base: typeof Client, mayPrepare: boolean): typeof Client {
  const names = new Map<string, string>()
  const seen = new Map<string, number>()

  function nameOf(text: string): string | undefined {
    const name = names.get(text)
    if (name !== undefined || names.size >= PREPARED) return name
    const times = (seen.get(text) ?? 0) + 1
    if (times < 3) {
      if (seen.size >= COUNTED) seen.clear()
      seen.set(text, times)
      return undefined
    }
    seen.delete(text)
    const made = `portcullis_${names.size}`
    names.set(text, made)
    return made
  }

  return class extends Base {
    // The client has many forms of `query`; all but the one of text with values go on as they are.
    override query(...args: readonly unknown[]): never {
      const [text, values] = args
      if (text === CLIENT_OF_CONNECTION) return Promise.resolve({ rows: [this] }) as never
      const name =
        mayPrepare && typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined
      const forwarded = name === undefined ? args : [{ name, text, values }, ...args.slice(2)]
      return Reflect.apply(super.query, this, forwarded) as never
    }
  }
}
