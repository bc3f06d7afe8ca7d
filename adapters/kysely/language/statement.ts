import { type CompiledQuery, sql } from 'kysely'
import { StorageUnavailable } from '../../../src/storage.ts'
import type { Connection } from '../driver/connections.ts'
import type { Database } from './database.ts'
import type { Sql } from './language.ts'

/*
 * Statements on records are written with Kysely's `sql` template instead of its query builder: their tables and columns are
 * derived from declarations when a storage is opened, so the builder's types have nothing to check, and a text that is
 * compiled once is run with other values without building and compiling it again (docs/decisions.md).
 */

/** A statement that is written once and run with other values each time, which drivers can prepare. */
export type Statement = (parameters: readonly unknown[]) => CompiledQuery

/** `text` holds some value wherever one is to be given, in the order in which they are given. */
export function statement(database: Database, text: Sql): Statement {
  const { sql, query, queryId } = database.compile(text)
  return (parameters) => ({ sql, query, queryId, parameters })
}

/** How many rows go into one statement, as many as possible; few sizes, so that few statements are prepared. */
const SIZES = [64, 8, 1] as const

/** Makes the statements that add any number of rows to one table. */
export type RowInserter = (rows: readonly (readonly unknown[])[]) => Generator<CompiledQuery>

/** The inserter of a table. */
export function rowInserter(database: Database, table: string, columns: readonly string[]): RowInserter {
  const statements = new Map<number, Statement>()
  const ofSize = (size: number) => {
    let made = statements.get(size)
    if (made === undefined) {
      const row = sql`(${sql.join(columns.map(() => sql`${0}`))})`
      const names = sql.join(columns.map((name) => sql.id(name)))
      const rows = sql.join(Array.from({ length: size }, () => row))
      made = statement(database, sql`insert into ${database.table(table)} (${names}) values ${rows}`)
      statements.set(size, made)
    }
    return made
  }
  return function* (rows) {
    let begin = 0
    for (const size of SIZES) {
      for (; rows.length - begin >= size; begin += size) yield ofSize(size)(rows.slice(begin, begin + size).flat())
    }
  }
}

const LONGEST_PAUSE_MS = 20

/**
 * Begins a transaction that writes, alone among all processes. Waits for others without holding up the event loop. Error:
 * {@link StorageUnavailable} `busy` after `timeoutMs`.
 */
export async function beginWrite(database: Database, connection: Connection, timeoutMs: number): Promise<void> {
  const { language } = database
  const since = performance.now()
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      await connection.command(language.beginWrite)
      break
    } catch (error) {
      const isBusy = error instanceof StorageUnavailable && error.reason === 'busy'
      if (!isBusy || performance.now() - since >= timeoutMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  const lock = language.lockWriters?.(`${database.schema ?? ''}.${database.prefix}`)
  if (lock !== undefined) await connection.rows(database.compile(lock))
}
