import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import {
  openPostgresDialect,
  POSTGRES_HINT,
  POSTGRES_OPTIONS,
  type PostgresOptions,
} from './driver/postgres-dialect.ts'
import { type KyselyStorage, type KyselyStorageOptions, openKyselyStorage, SHARED_OPTIONS } from './kysely-storage.ts'

/** How records are kept in a PostgreSQL database. */
export type PostgresStorageOptions = Omit<KyselyStorageOptions, 'dialect' | 'language'> & PostgresOptions

const OPTIONS: OptionRules<PostgresStorageOptions> = { ...SHARED_OPTIONS, ...POSTGRES_OPTIONS }

/**
 * A storage in PostgreSQL (12 and later), by the package `pg`. Any number of processes on any number of machines may share it;
 * writers take turns by an advisory lock that ends with their transaction.
 *
 * @example
 * const storage = await postgresStorage({ connection: 'postgres://portcullis@localhost/portcullis' })
 */
export async function postgresStorage<DB = unknown>(options: PostgresStorageOptions): Promise<KyselyStorage<DB>> {
  checkOptions('postgresStorage', options, OPTIONS, POSTGRES_HINT)
  const { connection, prepareStatements, ...rest } = options
  return openKyselyStorage<DB>({ ...rest, dialect: await openPostgresDialect(options) })
}
