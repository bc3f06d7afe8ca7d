import { existsSync } from 'node:fs'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../settings/usage-error.ts'
import { storedIn, withStorageErrors } from './stored-in.ts'

/** What copies the databases that have tools of their own for it. */
const POSTGRES_TOOLS = { snapshot: 'copied with pg_dump', restore: 'put back with pg_restore' } as const
/** The option that names the copy. */
const COPY_OPTION = { snapshot: 'to', restore: 'from' } as const

/** Copies a SQLite storage, or puts a copy in its place. Throws {@link UsageError}. */
export function copyStorage(
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
    const { restoreSqlite, snapshotSqlite } = await import('../../../kysely/index.ts')
    const copying = {
      overwrite,
      onProgress: ({ copied, total }: { readonly copied: number; readonly total: number }) =>
        terminal.progress(`${command}: ${Math.floor((100 * copied) / Math.max(total, 1))} %`),
    }
    await (command === 'snapshot' ? snapshotSqlite(file, other, copying) : restoreSqlite(other, file, copying))
    const text = command === 'snapshot' ? `copied ${file} to ${other}` : `restored ${file} from ${other}`
    return { text, value: { storage: `sqlite:${file}`, copy: other } }
  })
}
