import { CompiledQuery, type DatabaseConnection, type Dialect, type QueryResult, SqliteAdapter } from 'kysely'
import { CLIENT_OF_CONNECTION, ClientDialect } from './postgres-dialect.ts'
import { SqliteConnection } from './sqlite-connection.ts'

/** A statement as `pg` takes it. */
export interface JointStatement {
  /** The SQL of one statement. */
  readonly text: string
  /** The values of its placeholders: `$1` in PostgreSQL, `?` in SQLite. */
  readonly values?: readonly unknown[]
  /** Each row is an array of values, in the order of columns. Default: an object, by the names of columns. */
  readonly rowMode?: 'array'
}

/** The answer to a statement. An answer of PostgreSQL has the further members that `pg` gives it. */
export interface JointAnswer<R> {
  readonly rows: R[]
  /** How many rows were answered, inserted, changed or deleted; `null` where the database does not count. */
  readonly rowCount: number | null
}

/** The ways of one connection to run statements of a host. */
export interface DriverStatements {
  /** As Kysely has it. */
  execute<R>(query: CompiledQuery): Promise<QueryResult<R>>
  /** As the driver has it. */
  query<R>(statement: JointStatement): Promise<JointAnswer<R>>
}

/** A client of `pg`, as far as it is used here. */
interface PostgresClient {
  query(statement: object): Promise<JointAnswer<never>>
}

/** Finds how statements of a host run on a connection of a dialect. */
export async function driverStatements(dialect: Dialect, connection: DatabaseConnection): Promise<DriverStatements> {
  if (dialect instanceof ClientDialect) {
    const { rows } = await connection.executeQuery<unknown>(CompiledQuery.raw(CLIENT_OF_CONNECTION))
    const [client] = rows
    if (isClient(client)) return clientStatements(client)
  }
  const isSqlite = dialect.createAdapter() instanceof SqliteAdapter
  const assertAlone = (text: string, values: readonly unknown[]) => {
    // A driver for PostgreSQL may send a text without values as it is, and the server takes more than one statement in it.
    if (!isSqlite && values.length === 0 && /;\s*\S/.test(text)) throw new Error('one statement at a time is taken')
  }
  return {
    async execute(query) {
      assertAlone(query.sql, query.parameters)
      return connection.executeQuery(query)
    },
    async query<R>({ text, values = [], rowMode }: JointStatement) {
      assertAlone(text, values)
      const query = CompiledQuery.raw(text, [...values])
      const { rows, numAffectedRows } = await (rowMode === 'array'
        ? inArrays<R>(connection, query)
        : connection.executeQuery<R>(query))
      return { rows, rowCount: numAffectedRows === undefined ? rows.length : Number(numAffectedRows) }
    },
  }
}

function inArrays<R>(connection: DatabaseConnection, query: CompiledQuery): Promise<QueryResult<R>> {
  if (connection instanceof SqliteConnection) return connection.executeForArrays(query)
  throw new Error('rows as arrays need the dialect of sqliteStorage or postgresStorage')
}

function clientStatements(client: PostgresClient): DriverStatements {
  // In the extended protocol the server refuses more than one statement at a time.
  const query = (statement: JointStatement) => client.query({ ...statement, queryMode: 'extended' })
  return {
    query,
    async execute({ sql, parameters }) {
      const { rows, rowCount } = await query({ text: sql, values: parameters })
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
    },
  }
}

function isClient(row: unknown): row is PostgresClient {
  return typeof row === 'object' && row !== null && 'query' in row && typeof row.query === 'function'
}
