import type { CompiledQuery, DatabaseConnection, Dialect, Driver } from 'kysely'

/** The same dialect, every statement of which is shown to `watch` before it runs; what `watch` throws, the statement throws. */
export function watchedDialect(dialect: Dialect, watch: (query: CompiledQuery) => void | Promise<void>): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => watchedDriver(dialect.createDriver(), watch),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
}

function watchedDriver(driver: Driver, watch: (query: CompiledQuery) => void | Promise<void>): Driver {
  const inner = new Map<DatabaseConnection, DatabaseConnection>()
  const innerOf = (connection: DatabaseConnection) => inner.get(connection) ?? connection
  return {
    init: () => driver.init(),
    async acquireConnection() {
      const connection = await driver.acquireConnection()
      const watched: DatabaseConnection = {
        async executeQuery(query) {
          await watch(query)
          return connection.executeQuery(query)
        },
        streamQuery: (query, size) => connection.streamQuery(query, size),
      }
      inner.set(watched, connection)
      return watched
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(innerOf(connection), settings),
    commitTransaction: (connection) => driver.commitTransaction(innerOf(connection)),
    rollbackTransaction: (connection) => driver.rollbackTransaction(innerOf(connection)),
    releaseConnection: (connection) => driver.releaseConnection(innerOf(connection)),
    destroy: () => driver.destroy(),
  }
}
