export { kyselyStorage } from './kysely-storage.ts'
export { type MigrateOptions, type MigrationReport, migrate } from './migrate.ts'
export type { KyselyStorageOptions } from './options.ts'
export {
  type PostgresOptions,
  type PostgresStorageOptions,
  postgresDialect,
  postgresStorage,
} from './postgres/postgres-storage.ts'
export { SchemaMismatch } from './schema/schema-mismatch.ts'
export type { CopyProgress, OnCopyProgress } from './sqlite/copy-database.ts'
export { restoreSqlite, type SnapshotOptions, snapshotSqlite } from './sqlite/snapshot.ts'
export { sqliteDialect } from './sqlite/sqlite-dialect.ts'
export type { SqliteDriverOptions } from './sqlite/sqlite-driver.ts'
export { type SqliteStorageOptions, sqliteStorage } from './sqlite/sqlite-storage.ts'
