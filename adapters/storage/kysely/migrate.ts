import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { RECORD_KINDS } from '../../../src/storage.ts'
import { describeDatabase } from './driver/language.ts'
import { BUSY_TIMEOUT_MS, openConnections } from './driver/pooled-connections.ts'
import { DIALECT_OPTIONS, type KyselyStorageOptions, SHARED_OPTIONS } from './kysely-storage.ts'
import { applyMigration, pendingMigration } from './schema/apply-migration.ts'
import { recordTables } from './schema/record-table.ts'

/** Which tables are brought to this version, and whether that is done or only shown. */
export interface MigrateOptions extends Omit<KyselyStorageOptions, 'migrate' | 'readConnections' | 'cachedRecords'> {
  /** Only reports the steps. */
  readonly dryRun?: boolean
}

/** The outcome of a migration, executed or planned: its name and its SQL. Both are empty when the database is up to date. */
export interface MigrationReport {
  readonly name: string
  readonly statements: readonly string[]
}

const { migrate: _always, readConnections: _none, cachedRecords: _nothing, ...SHARED } = SHARED_OPTIONS
const OPTIONS: OptionRules<MigrateOptions> = { ...SHARED, ...DIALECT_OPTIONS, dryRun: 'boolean' }

/**
 * Brings the tables of a database to the declarations of this version, or only reports the steps. Error: `SchemaMismatch`.
 *
 * @example
 * const { statements } = await migrate({ dialect: () => sqliteDialect('portcullis.sqlite'), dryRun: true })
 * console.log(statements.join('\n'))
 */
export async function migrate(asked: MigrateOptions): Promise<MigrationReport> {
  checkOptions('migrate', asked, OPTIONS, 'an object with a dialect')
  const { dryRun = false, ...options } = asked
  const { kinds = RECORD_KINDS, busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  const database = describeDatabase(options)
  const declared = recordTables(kinds)
  const connections = openConnections(options.dialect, options)
  try {
    const pending = await pendingMigration(database, declared, connections.writers)
    if (!dryRun && pending !== undefined) await applyMigration(database, declared, connections.writers, busyTimeoutMs)
    return { name: pending?.name ?? '', statements: pending?.statements ?? [] }
  } finally {
    await connections.close()
  }
}
