/**
 * Storages in SQLite and PostgreSQL.
 *
 * @module portcullis/kysely
 */

export type { JointAnswer, JointStatement } from './driver/driver-statements.ts'
export type { DatabaseOptions } from './driver/language.ts'
export type { ConnectionOptions } from './driver/pooled-connections.ts'
export { type PostgresConnection, type PostgresOptions, postgresDialect } from './driver/postgres-dialect.ts'
export type { SqliteDriverOptions } from './driver/sqlite-connection.ts'
export { sqliteDialect } from './driver/sqlite-dialect.ts'
export type { CopyProgress, OnCopyProgress } from './driver/sqlite-file.ts'
export {
  type JointOptions,
  type JointWork,
  type KyselyStorage,
  type KyselyStorageOptions,
  kyselyStorage,
} from './kysely-storage.ts'
export { type MigrateOptions, type MigrationReport, migrate } from './migrate.ts'
export { type PostgresStorageOptions, postgresStorage } from './postgres-storage.ts'
export { SchemaMismatch } from './schema/compare-schemas.ts'
export { restoreSqlite, type SnapshotOptions, snapshotSqlite } from './sqlite-snapshot.ts'
export { type SqliteStorageOptions, sqliteStorage } from './sqlite-storage.ts'
export type { JointConnection } from './transactions/joint-transaction.ts'
