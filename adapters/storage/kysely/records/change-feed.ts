import { type CompiledQuery, sql } from 'kysely'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { Change, HistoryPoint } from '../../../../src/storage.ts'
import { type Database, rowInserter, statement } from '../driver/language.ts'
import type { Row, RowSource } from '../driver/pooled-connections.ts'
import { CHANGE_TABLE, STATE_TABLE } from '../schema/bookkeeping.ts'
import { SchemaMismatch } from '../schema/compare-schemas.ts'

/** Where the history of a database stands. */
export interface StoredState extends HistoryPoint {
  /** The last revision whose changes are forgotten. */
  readonly forgotten: number
}

/** The lines of some revisions. Commits of releases without lines have none. */
export type Lines = ReadonlyMap<number, string | undefined>

/** The changes after one place in the history of a database up to another one. */
export interface StoredChanges {
  readonly changes: readonly Change[]
  /** Of every revision that has changes among them. */
  readonly lines: Lines
}

const LINE_BYTES = 6

/** A line for a commit. Another commit has the same by chance once in 2^48 times. */
export function newLine(): string {
  return String(Buffer.from(runtime.bytes(LINE_BYTES).buffer).readUIntBE(0, LINE_BYTES))
}

/** Revisions that the change feed reaches back: a process that slept longer reads everything anew. */
const REMEMBERED_REVISIONS = 100_000
const FORGOTTEN_AT_ONCE = 1000

/** The revision and the change feed of a database. */
export function changeFeed(database: Database) {
  const state = database.table(STATE_TABLE)
  const changes = database.table(CHANGE_TABLE)
  const read = statement(database, sql`select revision, forgotten, line from ${state} where id = 1`)([])
  const raise = statement(
    database,
    sql`update ${state} set revision = ${0}, forgotten = ${0}, line = ${0} where id = 1`,
  )
  const forget = statement(database, sql`delete from ${changes} where revision < ${0}`)
  const between = statement(
    database,
    // The first row of the revision has its line.
    sql`select revision, kind, id, operation, line from ${changes}
      where revision >= ${0} and revision <= ${0} and (revision > ${0} or position = 0) order by revision, position`,
  )
  const insert = rowInserter(database, CHANGE_TABLE, ['revision', 'position', 'kind', 'id', 'operation', 'line'])

  return {
    async read(connection: RowSource): Promise<StoredState> {
      const [row] = await connection.rows(read)
      if (row === undefined) throw new SchemaMismatch(`the table ${database.prefix}${STATE_TABLE} is empty`)
      return { revision: Number(row.revision), forgotten: Number(row.forgotten), line: lineOf(row) }
    },

    /** The inserter of changes, and the row of each of a commit on a line. */
    insert,
    rowOf: ({ revision, kind, id, operation }: Change, position: number, line: string) => [
      revision,
      position,
      kind,
      id,
      operation,
      position === 0 ? Number(line) : null,
    ],

    /** The statements that store the place of a commit, and forget old changes. */
    advance(before: StoredState, { revision, line }: HistoryPoint): readonly CompiledQuery[] {
      const due = revision - REMEMBERED_REVISIONS
      const forgotten = due - before.forgotten >= FORGOTTEN_AT_ONCE ? due : before.forgotten
      const raised = raise([revision, forgotten, line === undefined ? null : Number(line)])
      return forgotten > before.forgotten ? [forget([forgotten]), raised] : [raised]
    },

    /**
     * The changes after a place up to a state; undefined when some are forgotten or yet to come, or when the place is on
     * another line than the state.
     */
    async changesSince(
      connection: RowSource,
      state: StoredState,
      since: HistoryPoint,
    ): Promise<StoredChanges | undefined> {
      if (since.revision < state.forgotten || since.revision > state.revision) return undefined
      if (since.revision === state.revision) {
        return since.line === undefined || since.line === state.line ? NO_CHANGES : undefined
      }
      const rows = await connection.rows(between([since.revision, state.revision, since.revision]))
      const own = Number(rows[0]?.revision) === since.revision ? rows[0] : undefined
      if (!isOnLine(since, own)) return undefined
      const lines = new Map<number, string | undefined>()
      const changes = (own === undefined ? rows : rows.slice(1)).map((row): Change => {
        const revision = Number(row.revision)
        if (!lines.has(revision)) lines.set(revision, lineOf(row))
        return { revision, kind: String(row.kind), id: String(row.id), operation: operationOf(row.operation) }
      })
      return { changes, lines }
    },
  }
}

const NO_CHANGES: StoredChanges = { changes: [], lines: new Map() }

/** Whether the history that holds `row`, the first of a revision, is the one in which the place was seen. */
function isOnLine({ revision, line }: HistoryPoint, row: Row | undefined): boolean {
  // Before the first commit every database is the same.
  if (line === undefined || revision === 0) return true
  // A release without lines left none: its commits differ by their revisions alone.
  return row !== undefined && (lineOf(row) ?? line) === line
}

function lineOf({ line }: Row): string | undefined {
  return line === null || line === undefined ? undefined : String(line)
}

export type ChangeFeed = ReturnType<typeof changeFeed>

function operationOf(value: unknown): Change['operation'] {
  return value === 'insert' || value === 'update' ? value : 'delete'
}
