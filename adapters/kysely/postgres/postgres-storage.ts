import type { Dialect } from 'kysely'
import { PostgresDialect } from 'kysely'
import type { PoolConfig } from 'pg'
import { BUSY_TIMEOUT_MS } from '../connections/open-connections.ts'
import type { Storage } from '../core.ts'
import { kyselyStorage } from '../kysely-storage.ts'
import type { KyselyStorageOptions } from '../options.ts'
import { preparingClient } from './preparing-client.ts'

/** How a PostgreSQL database is reached. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, or what `pg` takes as the configuration of a pool. */
  readonly connection: string | PoolConfig
  /** Whether statements that are run again and again are prepared; not for poolers that cannot. Default: true. */
  readonly prepareStatements?: boolean
}

/** How records are kept in a PostgreSQL database. */
export type PostgresStorageOptions = Omit<KyselyStorageOptions, 'dialect' | 'language'> & PostgresOptions

/** A session that lost its process in the middle of a write is ended by the server after so many ms. */
const IDLE_WRITE_MS = 30_000

/**
 * A storage in PostgreSQL (12 and later), by the package `pg`. Any number of processes on any number of machines may share it;
 * writers take turns by an advisory lock that ends with their transaction.
 */
export async function postgresStorage(options: PostgresStorageOptions): Promise<Storage> {
  const { connection, prepareStatements, ...rest } = options
  return kyselyStorage({ ...rest, dialect: await postgresDialect(options) })
}

/** Makes dialects over pools of their own: the first for writes, with one connection, the next for reads. */
export async function postgresDialect(options: PostgresStorageOptions): Promise<() => Dialect> {
  const { Pool, Client } = (await import('pg')).default
  const { connection, readConnections = 8, busyTimeoutMs = BUSY_TIMEOUT_MS, prepareStatements = true } = options
  const given = typeof connection === 'string' ? { connectionString: connection } : connection
  const config: PoolConfig = {
    connectionTimeoutMillis: busyTimeoutMs,
    lock_timeout: busyTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_WRITE_MS,
    keepAlive: true,
    max: readConnections,
    ...(prepareStatements && { Client: preparingClient(Client) }),
    ...given,
  }
  return () =>
    new PostgresDialect({
      pool: async () => {
        const pool = new Pool(config)
        // A connection that is lost is replaced; whoever needs one learns by its next statement whether that works.
        pool.on('error', () => undefined)
        pool.on('connect', (client) => client.on('error', () => undefined))
        return pool
      },
    })
}
