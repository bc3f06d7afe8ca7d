import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { type Operator, openOperator, type Storage } from '../../../src/index.ts'
import { memoryStorage } from '../../memory/index.ts'
import type { GivenOptions } from '../command-line/options.ts'
import { type Setting, UsageError } from '../command-line/usage.ts'
import { missingPart } from './address.ts'
import { readTables, type STORAGE_OPTIONS, type TableOptions } from './storage-options.ts'

/** A storage, and what it is called in the ready line: without file names, addresses and passwords. */
export interface OpenStorage {
  readonly storage: Storage
  readonly name: string
}

/** The file of who names no storage. */
export const DEFAULT_STORAGE_FILE = '.portcullis/portcullis.sqlite'

/** The account by which the audit trail names who works on a storage. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    // An account of a container need not have a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** The storage of who names none: a file in a folder that is made when it is missing. */
export const DEFAULT_STORAGE = `sqlite:${DEFAULT_STORAGE_FILE}`

/**
 * Opens the storage of a setting: `memory`, `sqlite:FILE` or `postgres://…`; a missing file and missing tables are made.
 * Throws {@link UsageError}. SQL is loaded only when it is asked for: its packages are optional.
 */
export async function openStorage({ name, value }: Setting, tables: TableOptions = {}): Promise<OpenStorage> {
  if (value === 'memory') return { storage: memoryStorage(), name: 'memory' }
  // Only the scheme may be shown: what follows it can hold a password.
  const [, scheme, file = ''] = /^(sqlite|postgres|postgresql):(.*)$/s.exec(value) ?? []
  if (scheme === undefined || (scheme === 'sqlite' && file === '')) {
    throw new UsageError(`${name} takes memory, sqlite:FILE or postgres://…`)
  }
  try {
    const { postgresStorage, sqliteStorage } = await import('../../kysely/index.ts')
    // Enrollment tokens stand in the file readable: the folder is for its owner alone.
    if (value === DEFAULT_STORAGE) await mkdir(dirname(DEFAULT_STORAGE_FILE), { recursive: true, mode: 0o700 })
    return scheme === 'sqlite'
      ? { storage: await sqliteStorage(file, tables), name: 'sqlite' }
      : { storage: await postgresStorage({ connection: value, ...tables }), name: 'postgres' }
  } catch (error) {
    const problem = missingPart(error) ?? withoutPasswords(error)
    throw new UsageError(`${name} ${scheme}: ${problem}`, { cause: error })
  }
}

/** The message of an error, without the credentials of an address in it. */
export function withoutPasswords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replaceAll(/\/\/[^@\s/]*@/g, '//')
}

/** Does `work` on the storage that the options name, which has to be there, and closes it. Throws {@link UsageError}. */
export async function withOperator<T>(
  options: GivenOptions<keyof typeof STORAGE_OPTIONS>,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const setting = options.setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  if (setting.value === 'memory') {
    throw new UsageError(
      `${setting.name} takes sqlite:FILE or postgres://…: memory is gone with the process that keeps it`,
    )
  }
  const file = /^sqlite:(.*)$/s.exec(setting.value)?.[1]
  // Opening would make it: a slip in the name would leave an empty database, and nothing would be done.
  if (file !== undefined && !existsSync(file)) throw new UsageError(`${setting.name}: there is no file ${file}`)
  const tables = readTables(setting.value, {
    prefix: options.setting('table-prefix'),
    schema: options.setting('schema'),
  })
  const { storage } = await openStorage(setting, tables)
  const operator = await openOperator({ storage, name: userName() })
  try {
    return await work(operator)
  } finally {
    await operator.close()
  }
}
