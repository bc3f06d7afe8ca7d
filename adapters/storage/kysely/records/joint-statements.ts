import { type CompiledQuery, sql } from 'kysely'
import { type Database, type Statement, statement } from '../driver/language.ts'
import type { Connection } from '../driver/pooled-connections.ts'

/** Statements that are sent as one. Their texts stay few, and each is prepared once. */
const AT_ONCE = 4

/** Runs statements that answer nothing and concern different rows, in any order. */
export type JointStatements = (connection: Connection, queries: readonly CompiledQuery[]) => Promise<void>

/** Sends statements together where the database can: each would otherwise wait for the answer to the one before. */
export function jointStatements(database: Database): JointStatements {
  const joined = new Map<string, Statement>()

  function join(queries: readonly CompiledQuery[]): CompiledQuery {
    const key = queries.map(({ queryId }) => queryId.queryId).join()
    let made = joined.get(key)
    if (made === undefined) {
      const parts = queries.map(({ query }) => sql`${{ toOperationNode: () => query }}`)
      const named = parts.slice(0, -1).map((part, place) => sql`${sql.id(`part_${place}`)} as (${part})`)
      made = statement(database, sql`with ${sql.join(named)} ${parts.at(-1)}`)
      joined.set(key, made)
    }
    return made(queries.flatMap(({ parameters }) => parameters))
  }

  return async (connection, queries) => {
    const most = database.language.joinsStatements ? AT_ONCE : 1
    for (let begin = 0; begin < queries.length; begin += most) {
      const [first, ...others] = queries.slice(begin, begin + most)
      if (first !== undefined) await connection.run(others.length === 0 ? first : join([first, ...others]))
    }
  }
}
