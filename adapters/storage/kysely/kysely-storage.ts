import type { Transaction } from 'kysely'
import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import {
  Gate,
  type JoinableStorage,
  type JointController,
  type JoinWrite,
  Lifetime,
  RECORD_KINDS,
  type RecordKind,
  StorageUnavailable,
  type WriteTransaction,
} from '../../../src/storage.ts'
import { RecordCache } from './cache/record-cache.ts'
import { type DatabaseOptions, describeDatabase } from './driver/language.ts'
import {
  BUSY_TIMEOUT_MS,
  type Connection,
  type ConnectionOptions,
  openConnections,
} from './driver/pooled-connections.ts'
import { applyMigration, pendingMigration } from './schema/apply-migration.ts'
import { SchemaMismatch } from './schema/compare-schemas.ts'
import { recordTables } from './schema/record-table.ts'
import { type JointConnection, withTransaction } from './transactions/joint-transaction.ts'
import { Reads, storedTables } from './transactions/read-transaction.ts'
import { WriteQueue } from './transactions/write-queue.ts'

/** The database of a storage, and how it is used. */
export interface KyselyStorageOptions extends DatabaseOptions, ConnectionOptions {
  /** The records to be kept. Default: everything that a controller keeps. */
  readonly kinds?: readonly RecordKind[]
  /**
   * How many records of up to 1,024 characters are kept in memory, of longer ones fewer; 0 for none. They are exact at every read,
   * whichever process made a change, because a read first looks for changes; only changes by hand in the tables, past the change feed, may
   * go unnoticed. Default: 20,000.
   */
  readonly cachedRecords?: number
  /** Whether missing tables and columns are created at the start; otherwise they are refused. Default: true. */
  readonly migrate?: boolean
}

/** A write of a controller and its host, in one commit. `DB` are the tables of the host, as Kysely describes them. */
export interface JointWork<DB> {
  /** A transaction of Kysely for statements of the host. It ends with the work. */
  readonly transaction: Transaction<DB>
  /** The same for statements that do not go through Kysely. */
  readonly connection: JointConnection
  /** The controller over the storage, in this transaction. */
  readonly controller: JointController
}

/** The bounds of a joint write. */
export interface JointOptions {
  /** Milliseconds after which the work is rolled back, for other writers wait meanwhile. Default: 5,000. */
  readonly timeoutMs?: number
}

/** A storage in a SQL database, which its host shares with tables of its own. */
export interface KyselyStorage<DB = unknown> extends JoinableStorage {
  /**
   * Runs statements of the host and calls of the controller as one commit: both are made, or neither. The calls are judged and audited as
   * always; followers, events and enforcement come after the commit, before this resolves. Everything is rolled back when the work throws,
   * when a change of the controller is refused (also where the host catches the error), at a deadlock, and after `timeoutMs`. Other calls of
   * the controller that write are refused inside of the work.
   *
   * @throws {ControllerError} as the refused change does.
   * @throws {StorageUnavailable} `busy` at a deadlock, a lock that is not free in time, or after `timeoutMs`.
   *
   * @example
   * const storage = await sqliteStorage<{ tenants: { name: string } }>('network.sqlite')
   * await storage.together(async ({ transaction, controller }) => {
   *   await transaction.insertInto('tenants').values({ name: 'acme' }).execute()
   *   await controller.engine.identities.create(SYSTEM_CALL, { name: 'acme-admin', type: 'User', isAdmin: false })
   * })
   */
  together<T>(work: (joint: JointWork<DB>) => Promise<T>, options?: JointOptions): Promise<T>
}

const JOINT_OPTIONS: OptionRules<JointOptions> = {
  timeoutMs: { shape: 'number', problem: (ms: number) => (ms >= 1 && ms <= 60_000 ? undefined : 'takes 1 to 60000') },
}
const JOINT_MS = 5000

const DIALECT_HINT = "a Kysely dialect, or a function that makes one: () => sqliteDialect('portcullis.sqlite')"

/** Rules of the options that all storages in a database have. */
export const SHARED_OPTIONS: OptionRules<Omit<KyselyStorageOptions, 'dialect' | 'language'>> = {
  kinds: 'array',
  cachedRecords: 'number',
  migrate: 'boolean',
  readConnections: 'number',
  busyTimeoutMs: 'number',
  tablePrefix: 'string',
  schema: 'string',
}

/** Rules of the options by which a database is reached through Kysely. */
export const DIALECT_OPTIONS: OptionRules<Pick<KyselyStorageOptions, 'dialect' | 'language'>> = {
  dialect: { shape: 'unknown', isNeeded: true, hint: DIALECT_HINT, problem: dialectProblem },
  language: { oneOf: ['sqlite', 'postgres'] },
}

const STORAGE_OPTIONS: OptionRules<KyselyStorageOptions> = { ...SHARED_OPTIONS, ...DIALECT_OPTIONS }

function dialectProblem(dialect: unknown): string | undefined {
  const isMade = typeof dialect === 'object' && dialect !== null && 'createDriver' in dialect
  return isMade || typeof dialect === 'function' ? undefined : `takes ${DIALECT_HINT}`
}

const CACHED_RECORDS = 20_000

/**
 * A storage in the tables of a SQL database, which any number of processes may share: every read sees all commits from before its
 * beginning, of every process. Missing tables and columns are created first. Errors: {@link SchemaMismatch} for a database of a newer
 * version, `StorageUnavailable` when the database cannot be used at present.
 *
 * @example
 * const storage = await kyselyStorage({ dialect: () => sqliteDialect('portcullis.sqlite') })
 */
export async function kyselyStorage<DB = unknown>(options: KyselyStorageOptions): Promise<KyselyStorage<DB>> {
  checkOptions('kyselyStorage', options, STORAGE_OPTIONS, 'an object with a dialect')
  return openKyselyStorage<DB>(options)
}

/** The same as {@link kyselyStorage} for options that were checked. */
export async function openKyselyStorage<DB>(options: KyselyStorageOptions): Promise<KyselyStorage<DB>> {
  const { busyTimeoutMs = BUSY_TIMEOUT_MS, cachedRecords = CACHED_RECORDS, kinds = RECORD_KINDS } = options
  const database = describeDatabase(options)
  const declared = recordTables(kinds)
  const connections = openConnections(options.dialect, options)
  const { readers, writers } = connections
  try {
    await migrate(options, database, declared, writers)
  } catch (error) {
    await connections.close()
    throw error
  }

  const stored = storedTables(database, declared)
  const cache = cachedRecords > 0 ? new RecordCache(cachedRecords) : undefined
  const queue = new WriteQueue(stored, writers, busyTimeoutMs, cache)
  const reads = new Reads(stored, readers, cache)
  /** The connections limit their number. They are counted here so that `close` can wait for them. */
  const underWay = new Gate(Number.POSITIVE_INFINITY)
  const lifetime = new Lifetime(StorageUnavailable.closed)
  /** After an outage a different database may answer. */
  const distrustAfter = (error: unknown) => {
    if (error instanceof StorageUnavailable && error.reason !== 'busy') cache?.clear()
  }
  const dialect = typeof options.dialect === 'function' ? options.dialect() : options.dialect
  let join: JoinWrite | undefined
  return {
    joinedBy(controller) {
      join = controller
    },
    async together(work, given = {}) {
      lifetime.assertOpen()
      checkOptions('together', given, JOINT_OPTIONS)
      if (join === undefined) throw new Error('no controller is over this storage: createController comes first')
      const begin = join
      const { timeoutMs = JOINT_MS } = given
      const joined = async (tx: WriteTransaction, connection: Connection) => {
        const part = begin(tx)
        const { controller, settle } = part
        const run = (transaction: Transaction<DB>, own: JointConnection) =>
          work({ transaction, connection: own, controller })
        const answer = await withTransaction({ dialect, database, timeoutMs, settle }, connection, run)
        return { answer, part }
      }
      const { answer, part } = await queue.add(joined, true).catch((error: unknown) => {
        distrustAfter(error)
        throw error
      })
      await part.committed()
      return answer
    },
    async read(work, options) {
      lifetime.assertOpen()
      try {
        return await underWay.run(() => reads.run(work, options))
      } catch (error) {
        distrustAfter(error)
        throw error
      }
    },
    async write(work) {
      lifetime.assertOpen()
      return queue.add(work).catch((error: unknown) => {
        distrustAfter(error)
        throw error
      })
    },
    close: () =>
      lifetime.close(
        () => queue.drain(),
        () => underWay.idle(),
        () => connections.close(),
      ),
  }
}

/** Creates missing tables and columns, or refuses the database where the options say so. */
async function migrate(
  options: KyselyStorageOptions,
  ...[database, declared, writers]: Parameters<typeof pendingMigration>
): Promise<void> {
  const pending = await pendingMigration(database, declared, writers)
  if (pending === undefined) return
  const lacking = `the database lacks the migration '${pending.name}': run \`portcullis migrate\` first`
  if (options.migrate === false) throw new SchemaMismatch(lacking)
  await applyMigration(database, declared, writers, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS)
}
