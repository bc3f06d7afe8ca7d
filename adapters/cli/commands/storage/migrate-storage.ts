import { existsSync } from 'node:fs'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { readTables } from '../../input/table-options.ts'
import { storedIn, withStorageErrors } from './stored-in.ts'

/** Brings the tables of a storage to this version, or tells the SQL that would. Throws {@link UsageError}. */
export function migrateStorage({
  options,
}: CommandCall<'storage' | 'table-prefix' | 'schema' | 'dry-run'>): Promise<Answer> {
  return withStorageErrors('migrate', async () => {
    const { storage, file } = storedIn('migrate', options.value('storage'), 'sqlite:FILE or postgres://…')
    const tables = readTables(storage, { prefix: options.setting('table-prefix'), schema: options.setting('schema') })
    const dryRun = options.flag('dry-run')
    const { migrate, postgresDialect, sqliteDialect } = await import('../../../kysely/index.ts')
    // What is only looked at must not be made: a missing file has the migration of an empty database.
    const opened = file !== undefined && dryRun && !existsSync(file) ? ':memory:' : file
    const dialect = opened === undefined ? await postgresDialect({ connection: storage }) : () => sqliteDialect(opened)
    const { name, statements } = await migrate({ ...tables, dialect, dryRun })
    const value = { migration: name, statements, isDone: !dryRun }
    if (statements.length === 0) return { text: 'the tables are up to date', value: { ...value, isDone: true } }
    const sql = statements.map((statement) => `${statement};`).join('\n')
    return { text: dryRun ? sql : `did the migration '${name}'`, value }
  })
}
