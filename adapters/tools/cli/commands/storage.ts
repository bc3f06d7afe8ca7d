import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { synced } from '../../../network/enrollment/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { readTables, withoutPasswords } from '../input/open-storage.ts'

const STORAGE = { value: 'STORAGE', variable: true, summary: 'sqlite:FILE; default: the variable' } as const
const FORCE = { summary: 'replace a file that is there' } as const

/** `portcullis snapshot`. */
export const SNAPSHOT = defineCommand({
  options: { storage: STORAGE, to: { value: 'FILE', summary: 'where the copy is put' }, force: FORCE },
  hasJson: true,
  details: 'A PostgreSQL database is copied with pg_dump.',
  examples: ['portcullis snapshot --storage sqlite:.portcullis/portcullis.sqlite --to monday.sqlite'],
  run: (call) => copyStorage('snapshot', call),
})

/** `portcullis restore`. */
export const RESTORE = defineCommand({
  options: { storage: STORAGE, from: { value: 'FILE', summary: 'the copy' }, force: FORCE },
  hasJson: true,
  details: 'A PostgreSQL database is put back with pg_restore.',
  examples: ['portcullis restore --from monday.sqlite --storage sqlite:.portcullis/portcullis.sqlite --force'],
  run: (call) => copyStorage('restore', call),
})

/** `portcullis migrate`. */
export const MIGRATE = defineCommand({
  options: {
    storage: { ...STORAGE, summary: 'sqlite:FILE or postgres://…; default: the variable' },
    'table-prefix': { value: 'TEXT', variable: true, summary: 'stands before the names of the tables' },
    schema: { value: 'NAME', variable: true, summary: 'PostgreSQL schema of the tables' },
    'dry-run': { summary: 'print the SQL instead' },
  },
  hasJson: true,
  examples: ['portcullis migrate --storage postgres://db/net --dry-run'],
  run: migrateStorage,
})

/** How to copy databases that have their own tools for it. */
const POSTGRES_TOOLS = { snapshot: 'copied with pg_dump', restore: 'put back with pg_restore' } as const
/** The option that names the copy. */
const COPY_OPTION = { snapshot: 'to', restore: 'from' } as const

/** Copies a SQLite storage, or puts a copy in its place. Throws {@link UsageError}. */
function copyStorage(
  command: 'snapshot' | 'restore',
  { options, terminal }: CommandCall<'storage' | 'force' | 'from' | 'to'>,
): Promise<Answer> {
  return withStorageErrors(command, async () => {
    const taken = 'sqlite:FILE'
    const { file } = storedIn(command, options.value('storage'), taken)
    if (file === undefined) {
      throw new UsageError(`${command} needs --storage ${taken}: a PostgreSQL database is ${POSTGRES_TOOLS[command]}`)
    }
    const other = options.typed(COPY_OPTION[command])
    if (other === undefined) throw new UsageError(`${command} needs --${COPY_OPTION[command]} FILE`)
    const overwrite = options.flag('force')
    const target = command === 'snapshot' ? other : file
    if (!overwrite && existsSync(target)) throw new UsageError(`${target} is there already: --force replaces it`)
    const { restoreSqlite, snapshotSqlite } = await import('../../../storage/kysely/index.ts')
    const copying = {
      overwrite,
      onProgress: ({ copied, total }: { readonly copied: number; readonly total: number }) =>
        terminal.progress(`${command}: ${Math.floor((100 * copied) / Math.max(total, 1))} %`),
    }
    await (command === 'snapshot' ? snapshotSqlite(file, other, copying) : restoreSqlite(other, file, copying))
    // The copy is on the disk; so is its name then.
    await synced(dirname(target))
    const text = command === 'snapshot' ? `copied ${file} to ${other}` : `restored ${file} from ${other}`
    return { text, value: { storage: `sqlite:${file}`, copy: other } }
  })
}

/** Brings the tables of a storage to this version, or shows the SQL for it. Throws {@link UsageError}. */
function migrateStorage({ options }: CommandCall<'storage' | 'table-prefix' | 'schema' | 'dry-run'>): Promise<Answer> {
  return withStorageErrors('migrate', async () => {
    const { storage, file } = storedIn('migrate', options.value('storage'), 'sqlite:FILE or postgres://…')
    const tables = readTables(storage, { prefix: options.setting('table-prefix'), schema: options.setting('schema') })
    const dryRun = options.flag('dry-run')
    const { migrate, postgresDialect, sqliteDialect } = await import('../../../storage/kysely/index.ts')
    // A database that is only looked at must not be made: a missing file has the migration of an empty database.
    const opened = file !== undefined && dryRun && !existsSync(file) ? ':memory:' : file
    const dialect = opened === undefined ? await postgresDialect({ connection: storage }) : () => sqliteDialect(opened)
    const { name, statements } = await migrate({ ...tables, dialect, dryRun })
    const value = { migration: name, statements, isDone: !dryRun }
    if (statements.length === 0) return { text: 'the tables are up to date', value: { ...value, isDone: true } }
    const sql = statements.map((statement) => `${statement};`).join('\n')
    return { text: dryRun ? sql : `did the migration '${name}'`, value }
  })
}

/**
 * The storage that a command works on, `sqlite:FILE` or `postgres://…`, and the file of the former. Throws {@link UsageError} without a
 * storage, for memory and for anything else; `taken` names the storages that the command takes.
 */
function storedIn(
  command: string,
  storage: string | undefined,
  taken: string,
): { readonly storage: string; readonly file: string | undefined } {
  if (storage === 'memory') {
    throw new UsageError(`${command} needs --storage ${taken}: memory is gone with the process that keeps it`)
  }
  const isKnown = /^(sqlite:.+|postgres(ql)?:\/\/.*)$/s.test(storage ?? '')
  if (storage === undefined || !isKnown) throw new UsageError(`${command} needs --storage ${taken}`)
  return { storage, file: storage.startsWith('sqlite:') ? storage.slice('sqlite:'.length) : undefined }
}

/** Runs a command, and reports an error of the storage in one line without passwords. */
async function withStorageErrors<T>(command: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${command}: ${withoutPasswords(error)}`, { cause: error })
  }
}
