import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { variableOf } from './command-line.ts'
import { tell } from './output.ts'
import type { Environment } from './setting.ts'
import { withoutPasswords } from './storage.ts'
import { readTables, type TableOptions } from './table-options.ts'
import { UsageError } from './usage-error.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const declared = {
  storage: text,
  'table-prefix': text,
  schema: text,
  from: text,
  to: text,
  force: flag,
  'dry-run': flag,
} as const

/** A verb that works on a storage nobody serves through this process, and the options that it takes besides `--storage`. */
const VERBS = {
  snapshot: ['to', 'force'],
  restore: ['from', 'force'],
  migrate: ['dry-run', 'table-prefix', 'schema'],
} as const

type StorageVerb = keyof typeof VERBS

export function isStorageVerb(command: string): command is StorageVerb {
  return Object.hasOwn(VERBS, command)
}

/** Does what `portcullis snapshot`, `restore` or `migrate` asks; what to print. Throws {@link UsageError}. */
export async function runStorageVerb(
  verb: StorageVerb,
  args: readonly string[],
  environment: Environment,
): Promise<string> {
  const { storage = environment.PORTCULLIS_STORAGE, ...values } = parse(verb, args)
  const taken = verb === 'migrate' ? 'sqlite:FILE or postgres://…' : 'sqlite:FILE'
  if (storage === 'memory') {
    throw new UsageError(`${verb} needs --storage ${taken}: memory is gone with the process that keeps it`)
  }
  const scheme = /^(sqlite:.+|postgres(ql)?:\/\/.*)$/s.test(storage ?? '')
  if (storage === undefined || !scheme) throw new UsageError(`${verb} needs --storage ${taken}`)
  const file = storage.startsWith('sqlite:') ? storage.slice('sqlite:'.length) : undefined
  try {
    if (verb === 'migrate') {
      const option = (name: 'table-prefix' | 'schema') => {
        const given = values[name]
        return given === undefined ? variableOf(environment, name) : { name: `--${name}`, value: given }
      }
      const tables = readTables(storage, { prefix: option('table-prefix'), schema: option('schema') })
      return await migrateStorage({ storage, file, tables, dryRun: values['dry-run'] ?? false })
    }
    if (file === undefined) {
      throw new UsageError(`${verb} needs --storage ${taken}: a PostgreSQL database is ${POSTGRES_TOOLS[verb]}`)
    }
    return await copyStorage(verb, file, values)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${verb}: ${withoutPasswords(error)}`, { cause: error })
  }
}

const POSTGRES_TOOLS = { snapshot: 'copied with pg_dump', restore: 'put back with pg_restore' } as const

function parse(verb: StorageVerb, args: readonly string[]) {
  const taken: readonly string[] = ['storage', ...VERBS[verb]]
  const options = Object.fromEntries(Object.entries(declared).filter(([name]) => taken.includes(name)))
  try {
    // Narrowed to what the verb takes; the values are those of the declaration.
    return parseArgs({ args: [...args], options: options as typeof declared, strict: true }).values
  } catch (error) {
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s/)
    throw new UsageError(`${sentence.replace(/\.$/, '')}; portcullis --help lists the options`, { cause: error })
  }
}

interface CopyValues {
  readonly from?: string
  readonly to?: string
  readonly force?: boolean
}

async function copyStorage(verb: 'snapshot' | 'restore', file: string, { from, to, force }: CopyValues) {
  const other = verb === 'snapshot' ? to : from
  if (other === undefined || other === '') throw new UsageError(`${verb} needs --${VERBS[verb][0]} FILE`)
  const target = verb === 'snapshot' ? other : file
  if (force !== true && existsSync(target)) throw new UsageError(`${target} is there already: --force replaces it`)
  const { restoreSqlite, snapshotSqlite } = await import('../kysely/index.ts')
  const options = {
    overwrite: force ?? false,
    onProgress: ({ copied, total }: { readonly copied: number; readonly total: number }) =>
      tell(`${verb}: ${Math.floor((100 * copied) / Math.max(total, 1))} %`),
  }
  await (verb === 'snapshot' ? snapshotSqlite(file, other, options) : restoreSqlite(other, file, options))
  return verb === 'snapshot' ? `copied ${file} to ${other}` : `restored ${file} from ${other}`
}

interface MigrationRequest {
  readonly storage: string
  readonly file: string | undefined
  readonly tables: TableOptions
  readonly dryRun: boolean
}

async function migrateStorage({ storage, file, tables, dryRun }: MigrationRequest): Promise<string> {
  const { migrate, postgresDialect, sqliteDialect } = await import('../kysely/index.ts')
  // What is only looked at must not be made: a missing file has the migration of an empty database.
  const opened = file !== undefined && dryRun && !existsSync(file) ? ':memory:' : file
  const dialect = opened === undefined ? await postgresDialect({ connection: storage }) : () => sqliteDialect(opened)
  const { name, statements } = await migrate({ ...tables, dialect, dryRun })
  if (statements.length === 0) return 'the tables are up to date'
  return dryRun ? statements.map((statement) => `${statement};`).join('\n') : `did the migration '${name}'`
}
