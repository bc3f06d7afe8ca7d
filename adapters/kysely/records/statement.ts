import type { CompiledQuery } from 'kysely'
import type { Database } from '../database.ts'
import type { Sql } from '../sql.ts'

/** A statement that is written once and run with other values each time, which drivers can prepare. */
export type Statement = (parameters: readonly unknown[]) => CompiledQuery

/** `text` holds some value wherever one is to be given, in the order in which they are given. */
export function statement(database: Database, text: Sql): Statement {
  const { sql, query, queryId } = database.compile(text)
  return (parameters) => ({ sql, query, queryId, parameters })
}
