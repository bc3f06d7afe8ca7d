import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { checkArgument, checkOptions, type OptionRules } from '../../src/base/arguments.ts'
import { builtInSqlite } from './driver/sqlite-connection.ts'
import { copyDatabase, type OnCopyProgress } from './driver/sqlite-file.ts'
import { asUnavailable } from './driver/unavailable.ts'
import { MIGRATION_TABLE } from './schema/bookkeeping.ts'

/** How a SQLite file is copied. */
export interface SnapshotOptions {
  /** Called about twice a second while a copy goes on. */
  readonly onProgress?: OnCopyProgress
  /** Whether a file that is there may be replaced. Default: false. */
  readonly overwrite?: boolean
}

const OPTIONS: OptionRules<SnapshotOptions> = { onProgress: 'function', overwrite: 'boolean' }

function checkCopy(owner: string, files: Readonly<Record<string, string>>, options: SnapshotOptions): void {
  for (const [name, file] of Object.entries(files)) {
    checkArgument(owner, name, file, { shape: 'string', isNeeded: true, hint: 'the name of a file' })
  }
  checkOptions(owner, options, OPTIONS)
}

/**
 * Copies the database of a SQLite storage to another file, while any number of processes go on with it. Errors:
 * `StorageUnavailable`; `Error` for a file that is there already, or that holds no controller's records.
 *
 * @example
 * await snapshotSqlite('portcullis.sqlite', '/backup/portcullis.sqlite')
 */
export async function snapshotSqlite(file: string, to: string, options: SnapshotOptions = {}): Promise<void> {
  checkCopy('snapshotSqlite', { file, to }, options)
  await checkedCopy(file, to, options)
}

/**
 * Puts the database of a snapshot in place of a SQLite storage that no process has open. Errors: those of
 * {@link snapshotSqlite}, and `Error` for a storage that is in use.
 *
 * @example
 * await restoreSqlite('/backup/portcullis.sqlite', 'portcullis.sqlite', { overwrite: true })
 */
export async function restoreSqlite(from: string, file: string, options: SnapshotOptions = {}): Promise<void> {
  checkCopy('restoreSqlite', { from, file }, options)
  if (options.overwrite === true && existsSync(file)) await assertUnused(file)
  await checkedCopy(from, file, options)
  // They belong to what was replaced.
  for (const rest of ['-wal', '-shm']) await rm(file + rest, { force: true })
}

async function checkedCopy(from: string, to: string, { onProgress, overwrite = false }: SnapshotOptions) {
  if (!existsSync(from)) throw new Error(`there is no file ${from}`)
  if (!overwrite && existsSync(to)) throw new Error(`${to} is there already`)
  try {
    await assertControllersRecords(from)
    await copyDatabase(from, to, onProgress)
  } catch (error) {
    throw asUnavailable(error) ?? error
  }
}

async function assertControllersRecords(file: string): Promise<void> {
  const { DatabaseSync } = await builtInSqlite()
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const found = database
      .prepare("select 1 from sqlite_master where type = 'table' and name like '%' || ?")
      .get(MIGRATION_TABLE)
    if (found === undefined) throw new Error(`${file} holds no records of a controller`)
  } finally {
    database.close()
  }
}

/** A file that another connection has open does not leave its write-ahead log. */
async function assertUnused(file: string): Promise<void> {
  const { DatabaseSync } = await builtInSqlite()
  const database = new DatabaseSync(file, { timeout: 200 })
  try {
    database.exec('pragma journal_mode = delete')
  } catch (error) {
    const reason = asUnavailable(error)?.reason
    if (reason === 'busy')
      throw new Error(`${file} is in use: stop every process that serves it first`, { cause: error })
    // A damaged file is what a restore is for.
    if (reason !== 'corrupt') throw error
  } finally {
    database.close()
  }
}
