import type { Dialect } from 'kysely'
import type { RecordKind } from './core.ts'

/** How records are kept in a database, which one and how it is used. */
export interface KyselyStorageOptions {
  /**
   * A Kysely dialect for SQLite or PostgreSQL, or a function that makes one. A function is called once for writes and again
   * for reads: give one where a dialect has a single connection, as those for SQLite do, or else reads and writes take turns.
   */
  readonly dialect: Dialect | (() => Dialect)
  /** Which SQL a dialect follows whose adapter is not Kysely's own. */
  readonly language?: 'sqlite' | 'postgres'
  /** Stands before the name of every table and index. Default: nothing. */
  readonly tablePrefix?: string
  /** The PostgreSQL schema of the tables, created when missing. Default: the first of the connection's search path. */
  readonly schema?: string
  /** The records to be kept. Default: everything that a controller keeps. */
  readonly kinds?: readonly RecordKind[]
  /** At most so many reads at once where each has a connection of its own. Default: 8. */
  readonly readConnections?: number
  /**
   * So many records of up to 1,024 characters are kept in memory, of longer ones fewer; 0 for none. They are exact at every
   * read, whichever process made a change, because a read first looks for changes; only what is changed in the tables by
   * hand, past the change feed, may go unnoticed. Default: 20,000.
   */
  readonly cachedRecords?: number
  /** Milliseconds to wait for a connection or for other writers, before a call fails as busy. Default: 5,000. */
  readonly busyTimeoutMs?: number
  /** Whether missing tables and columns are created at the start; otherwise they are refused. Default: true. */
  readonly migrate?: boolean
}
