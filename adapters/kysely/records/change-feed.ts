import { sql } from 'kysely'
import type { Change } from '../../../src/storage.ts'
import type { Connection, RowSource } from '../driver/connections.ts'
import type { Database } from '../language/database.ts'
import { rowInserter, statement } from '../language/statement.ts'
import { CHANGE_TABLE, STATE_TABLE } from '../schema/bookkeeping.ts'
import { SchemaMismatch } from '../schema/compare-schemas.ts'

/** Where the history of a database stands. */
export interface StoredState {
  /** The revision of the last commit. */
  readonly revision: number
  /** The last revision whose changes are forgotten. */
  readonly forgotten: number
}

/** Revisions that the change feed reaches back: a process that slept longer reads everything anew. */
const REMEMBERED_REVISIONS = 100_000
const FORGOTTEN_AT_ONCE = 1000

/** The revision and the change feed of a database. */
export function changeFeed(database: Database) {
  const state = database.table(STATE_TABLE)
  const changes = database.table(CHANGE_TABLE)
  const read = statement(database, sql`select revision, forgotten from ${state} where id = 1`)([])
  const raise = statement(database, sql`update ${state} set revision = ${0}, forgotten = ${0} where id = 1`)
  const forget = statement(database, sql`delete from ${changes} where revision <= ${0}`)
  const between = statement(
    database,
    sql`select revision, kind, id, operation from ${changes}
      where revision > ${0} and revision <= ${0} order by revision, position`,
  )
  const insert = rowInserter(database, CHANGE_TABLE, ['revision', 'position', 'kind', 'id', 'operation'])

  return {
    async read(connection: RowSource): Promise<StoredState> {
      const [row] = await connection.rows(read)
      if (row === undefined) throw new SchemaMismatch(`the table ${database.prefix}${STATE_TABLE} is empty`)
      return { revision: Number(row.revision), forgotten: Number(row.forgotten) }
    },

    /** The inserter of changes, and the row of each. */
    insert,
    rowOf: ({ revision, kind, id, operation }: Change, position: number) => [revision, position, kind, id, operation],

    /** Stores the revision that a commit reaches, and forgets what is too old. */
    async advance(connection: Connection, before: StoredState, revision: number): Promise<void> {
      const due = revision - REMEMBERED_REVISIONS
      const forgotten = due - before.forgotten >= FORGOTTEN_AT_ONCE ? due : before.forgotten
      if (forgotten > before.forgotten) await connection.run(forget([forgotten]))
      await connection.run(raise([revision, forgotten]))
    },

    /** The changes after `since` up to a state; undefined when some are forgotten or yet to come. */
    async changesSince(
      connection: RowSource,
      state: StoredState,
      since: number,
    ): Promise<readonly Change[] | undefined> {
      if (since < state.forgotten || since > state.revision) return undefined
      const rows = await connection.rows(between([since, state.revision]))
      return rows.map((row) => ({
        revision: Number(row.revision),
        kind: String(row.kind),
        id: String(row.id),
        operation: operationOf(row.operation),
      }))
    },
  }
}

export type ChangeFeed = ReturnType<typeof changeFeed>

function operationOf(value: unknown): Change['operation'] {
  return value === 'insert' || value === 'update' ? value : 'delete'
}
