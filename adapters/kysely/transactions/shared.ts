import type { RecordKind } from '../core.ts'
import type { Database } from '../database.ts'
import { type RecordStatements, recordStatements } from '../records/record-statements.ts'
import type { RecordTable } from '../schema/record-table.ts'
import { type StateStatements, stateStatements } from './state.ts'

/** What all transactions of one storage share. */
export interface Shared {
  readonly database: Database
  readonly state: StateStatements
  /** The table of a kind. Throws a TypeError for a kind that the storage was not opened for. */
  tableOf(kind: RecordKind): RecordTable
  statementsOf(table: RecordTable): RecordStatements
}

export function sharedBy(database: Database): Shared {
  const statements = new Map<RecordTable, RecordStatements>()
  return {
    database,
    state: stateStatements(database),
    tableOf({ name }) {
      const table = database.kinds.get(name)
      if (table === undefined) throw new TypeError(`the storage was not opened for records of the kind ${name}`)
      return table
    },
    statementsOf(table) {
      let made = statements.get(table)
      if (made === undefined) {
        made = recordStatements(database, table)
        statements.set(table, made)
      }
      return made
    },
  }
}
