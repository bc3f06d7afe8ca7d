import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { type Operator, type OperatorOptions, openOperator, type Storage } from '../../../../src/index.ts'
import { memoryStorage } from '../../../../src/memory.ts'
import type { CommandCall } from '../command-line/command.ts'
import type { GivenOptions } from '../command-line/options.ts'
import { type Setting, UsageError } from '../command-line/usage.ts'
import { missingPart } from './address.ts'

/** The options of commands that work on a storage which others may be serving. */
export const STORAGE_OPTIONS = {
  storage: {
    value: 'STORAGE',
    variable: true,
    summary: 'sqlite:FILE or postgres://…; default sqlite:.portcullis/portcullis.sqlite',
  },
  'table-prefix': { value: 'TEXT', variable: true, summary: 'stands before the names of the tables' },
  schema: { value: 'NAME', variable: true, summary: 'PostgreSQL schema of the tables' },
} as const

/** The names of the tables of a database, and where they are. */
export interface TableOptions {
  readonly tablePrefix?: string
  /** PostgreSQL alone has them. */
  readonly schema?: string
}

/** The names of tables in settings, for a storage such as `sqlite:FILE`. Throws {@link UsageError}. */
export function readTables(
  storage: string,
  { prefix, schema }: { readonly prefix: Setting | undefined; readonly schema: Setting | undefined },
): TableOptions {
  if (schema !== undefined && !/^postgres(ql)?:/.test(storage)) {
    throw new UsageError(`${schema.name} is for a storage postgres://…`)
  }
  return {
    ...(prefix !== undefined && { tablePrefix: identifier(prefix) }),
    ...(schema !== undefined && { schema: identifier(schema) }),
  }
}

function identifier({ name, value }: Setting): string {
  if (/^[a-z_][a-z0-9_]{0,23}$/.test(value)) return value
  throw new UsageError(`${name} takes lower-case letters, digits and underscores, at most 24, not '${value}'`)
}

/** A storage, and its name in the ready line: without file names, addresses and passwords. */
export interface OpenStorage {
  readonly storage: Storage
  readonly name: string
}

/** The file of the default storage. */
export const DEFAULT_STORAGE_FILE = '.portcullis/portcullis.sqlite'

/** The account that the audit trail records as the actor on a storage. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    // An account of a container need not have a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** The default storage: a file in a folder that is made when it is missing. */
export const DEFAULT_STORAGE = `sqlite:${DEFAULT_STORAGE_FILE}`

/**
 * Opens the storage of a setting: `memory`, `sqlite:FILE` or `postgres://…`; a missing file and missing tables are made.
 * Throws {@link UsageError}. SQL is loaded only when it is asked for: its packages are optional.
 */
export async function openStorage({ name, value }: Setting, tables: TableOptions = {}): Promise<OpenStorage> {
  if (value === 'memory') return { storage: memoryStorage(), name: 'memory' }
  // Only the scheme may be shown: the rest can hold a password.
  const [, scheme, file = ''] = /^(sqlite|postgres|postgresql):(.*)$/s.exec(value) ?? []
  if (scheme === undefined || (scheme === 'sqlite' && file === '')) {
    throw new UsageError(`${name} takes memory, sqlite:FILE or postgres://…`)
  }
  try {
    const { postgresStorage, sqliteStorage } = await import('../../../storage/kysely/index.ts')
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
  { pki }: Pick<OperatorOptions, 'pki'> = {},
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
  const operator = await openOperator({ storage, name: userName(), ...(pki && { pki }) })
  try {
    return await work(operator)
  } finally {
    await operator.close()
  }
}

/** Reports whether a question is for a storage itself, and not for a running controller. Throws {@link UsageError}. */
export function readsStorage({ options }: Pick<CommandCall<'url' | 'profile' | 'storage'>, 'options'>): boolean {
  // A controller that is named on the command line counts more than a variable, and a variable more than a folder.
  const remote = options.typed('url') ?? options.typed('profile')
  if (remote !== undefined && options.typed('storage') !== undefined) {
    throw new UsageError('--storage excludes --url and --profile')
  }
  if (remote !== undefined) return false
  if (options.typed('storage') !== undefined) return true
  if (options.value('url') !== undefined || options.value('profile') !== undefined) return false
  return options.value('storage') !== undefined || existsSync(DEFAULT_STORAGE_FILE)
}
