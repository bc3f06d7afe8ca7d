import type { Storage } from '../../src/index.ts'
import { type PostgresOptions, postgresDialect } from './driver/postgres-dialect.ts'
import { type KyselyStorageOptions, kyselyStorage } from './kysely-storage.ts'

/** How records are kept in a PostgreSQL database. */
export type PostgresStorageOptions = Omit<KyselyStorageOptions, 'dialect' | 'language'> & PostgresOptions

/**
 * A storage in PostgreSQL (12 and later), by the package `pg`. Any number of processes on any number of machines may share it;
 * writers take turns by an advisory lock that ends with their transaction.
 *
 * @example
 * const storage = await postgresStorage({ connection: 'postgres://portcullis@localhost/portcullis' })
 */
export async function postgresStorage(options: PostgresStorageOptions): Promise<Storage> {
  const { connection, prepareStatements, ...rest } = options
  return kyselyStorage({ ...rest, dialect: await postgresDialect(options) })
}
