import { BUSY_TIMEOUT_MS, openConnections } from './connections/open-connections.ts'
import { RECORD_KINDS } from './core.ts'
import { describeDatabase } from './database.ts'
import type { KyselyStorageOptions } from './options.ts'
import { applyMigration, pendingMigration } from './schema/migrate.ts'

/** Which tables are brought to this version, and whether it is done or only told. */
export interface MigrateOptions extends Omit<KyselyStorageOptions, 'migrate' | 'readConnections' | 'cachedRecords'> {
  /** Only tells what would be done. */
  readonly dryRun?: boolean
}

/** What a migration did, or would do: its name and its SQL; both empty when the database is up to date. */
export interface MigrationReport {
  readonly name: string
  readonly statements: readonly string[]
}

/** Brings the tables of a database to what this version declares, or only tells how. Error: `SchemaMismatch`. */
export async function migrate({ dryRun = false, ...options }: MigrateOptions): Promise<MigrationReport> {
  const { kinds = RECORD_KINDS, busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  const database = describeDatabase(options, kinds)
  const connections = openConnections(options)
  try {
    const pending = await pendingMigration(database, connections.writers)
    if (!dryRun && pending !== undefined) await applyMigration(database, connections.writers, busyTimeoutMs)
    return { name: pending?.name ?? '', statements: pending?.statements ?? [] }
  } finally {
    await connections.close()
  }
}
