import { existsSync } from 'node:fs'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { SqliteDriverOptions } from './driver/sqlite-connection.ts'
import { SQLITE_FILE, SQLITE_OPTIONS, sqliteDialect } from './driver/sqlite-dialect.ts'
import { createPrivateFile, temporaryFile } from './driver/sqlite-file.ts'
import { type KyselyStorage, type KyselyStorageOptions, openKyselyStorage, SHARED_OPTIONS } from './kysely-storage.ts'
import { snapshotSqlite } from './sqlite-snapshot.ts'

/** How records are kept in a SQLite file. */
export type SqliteStorageOptions = Omit<KyselyStorageOptions, 'dialect' | 'language' | 'schema'> & SqliteDriverOptions

/**
 * A storage in a SQLite file, by the SQLite that is built into Node (22.13 and later): write-ahead log, and a write that is acknowledged
 * survives a loss of power. Several processes of one machine may open the same file. `:memory:` is a database that is gone when it is
 * closed; it lives in a temporary file, because SQLite gives a database in memory one connection only, and a read has to keep its snapshot
 * while a write goes on. A snapshot of a file is the file `FILE.snapshot-YYYYMMDDThhmmss.sssZ` beside it.
 *
 * @example
 * const controller = await createController({
 *   storage: await sqliteStorage('portcullis.sqlite'),
 *   address: 'localhost:1280',
 * })
 */
export async function sqliteStorage<DB = unknown>(
  file: string,
  options: SqliteStorageOptions = {},
): Promise<KyselyStorage<DB>> {
  checkArgument('sqliteStorage', 'file', file, SQLITE_FILE)
  checkOptions('sqliteStorage', options, OPTIONS)
  if (file !== ':memory:') {
    // If that fails, SQLite's own error is clearer. Its further files take the mode of this file.
    if (!existsSync(file)) await createPrivateFile(file).catch(() => undefined)
    // One dialect for all connections: it knows that the file was there.
    const dialect = sqliteDialect(file, driverOptions(options))
    const storage = await openKyselyStorage<DB>({ ...options, dialect: () => dialect })
    const snapshot = async () => {
      const copy = `${file}.snapshot-${instantInName()}`
      await snapshotSqlite(file, copy)
      return copy
    }
    return { ...storage, snapshot }
  }
  const temporary = temporaryFile()
  // A database that is gone at the end need not outlive a loss of power.
  const dialect = sqliteDialect(temporary.file, { ...driverOptions(options), synchronous: 'normal' })
  try {
    const storage = await openKyselyStorage<DB>({ ...options, dialect: () => dialect })
    return { ...storage, isVolatile: true, close: () => storage.close().finally(temporary.remove) }
  } catch (error) {
    temporary.remove()
    throw error
  }
}

const { schema: _ofPostgres, ...SHARED } = SHARED_OPTIONS
const OPTIONS: OptionRules<SqliteStorageOptions> = { ...SHARED, ...SQLITE_OPTIONS }

function driverOptions({ synchronous, cacheMiB }: SqliteDriverOptions): SqliteDriverOptions {
  return { ...(synchronous !== undefined && { synchronous }), ...(cacheMiB !== undefined && { cacheMiB }) }
}

function instantInName(): string {
  return new Date(runtime.now()).toISOString().replaceAll(/[-:]/g, '')
}
