import { type Dialect, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { type SqliteDriverOptions, SqliteFileDriver } from './sqlite-driver.ts'

/** A Kysely dialect over the SQLite that is built into Node (22.13 and later); each driver is one connection to `file`. */
export function sqliteDialect(file: string, options: SqliteDriverOptions = {}): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteFileDriver(file, options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}
