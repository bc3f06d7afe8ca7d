import { constants, existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { builtInSqlite } from './driver/sqlite-connection.ts'
import { copyDatabase, type OnCopyProgress } from './driver/sqlite-file.ts'
import { asUnavailable } from './driver/unavailable.ts'
import { MIGRATION_TABLE } from './schema/bookkeeping.ts'
import { SchemaMismatch } from './schema/compare-schemas.ts'

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
 * Puts the database of a snapshot in place of a SQLite storage that no process has open. Nothing is written beside the snapshot,
 * whose folder may be read-only. Errors: those of {@link snapshotSqlite}, and `Error` for a storage that is in use.
 *
 * @example
 * await restoreSqlite('/backup/portcullis.sqlite', 'portcullis.sqlite', { overwrite: true })
 */
export async function restoreSqlite(from: string, file: string, options: SnapshotOptions = {}): Promise<void> {
  checkCopy('restoreSqlite', { from, file }, options)
  if (options.overwrite === true && existsSync(file)) await assertUnused(file)
  const { read, remove } = await setAside(from, file)
  try {
    await checkedCopy(read, file, options, from)
  } finally {
    await remove()
  }
  // They belong to the replaced database.
  for (const rest of ['-wal', '-shm']) await rm(file + rest, { force: true })
}

/** The file that a copy is read from, which may itself be a copy. */
interface ReadCopy {
  readonly read: string
  remove(): Promise<void>
}

/**
 * Copies a snapshot into a folder beside its destination: SQLite makes files beside each database that it reads, and leaves them where it
 * may not write. A snapshot that a process has open has these files already, and is read in place.
 */
async function setAside(from: string, to: string): Promise<ReadCopy> {
  if (!existsSync(from) || existsSync(`${from}-shm`)) return { read: from, remove: async () => undefined }
  // For its owner alone, as databases hold one-time tokens.
  const folder = await mkdtemp(`${to}.reading-`)
  const remove = () => rm(folder, { recursive: true, force: true })
  const read = join(folder, basename(from))
  try {
    for (const rest of ['', '-wal']) {
      if (existsSync(from + rest)) await copyFile(from + rest, read + rest, constants.COPYFILE_FICLONE)
    }
    return { read, remove }
  } catch (error) {
    await remove()
    throw asUnavailable(error) ?? error
  }
}

/** `name` is the file's name in messages. */
async function checkedCopy(
  from: string,
  to: string,
  { onProgress, overwrite = false }: SnapshotOptions,
  name: string = from,
): Promise<void> {
  if (!existsSync(from)) throw new Error(`there is no file ${name}`)
  if (!overwrite && existsSync(to)) throw new Error(`${to} is there already`)
  try {
    await assertControllersRecords(from, name)
    await copyDatabase(from, to, onProgress)
  } catch (error) {
    throw asUnavailable(error) ?? error
  }
}

async function assertControllersRecords(file: string, name: string): Promise<void> {
  const { DatabaseSync } = await builtInSqlite()
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const found = database
      .prepare("select 1 from sqlite_master where type = 'table' and name like '%' || ?")
      .get(MIGRATION_TABLE)
    if (found === undefined) throw new SchemaMismatch(`${name} holds no records of a controller`)
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
    // A restore has to replace a damaged file too.
    if (reason !== 'corrupt') throw error
  } finally {
    database.close()
  }
}
