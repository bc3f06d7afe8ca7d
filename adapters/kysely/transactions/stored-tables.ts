import type { RecordKind } from '../../../src/index.ts'
import type { Database } from '../language/database.ts'
import { type ChangeFeed, changeFeed } from '../records/change-feed.ts'
import { type RecordStatements, recordStatements } from '../records/record-statements.ts'
import type { RecordTable, RecordTables } from '../schema/record-table.ts'

/** The tables of one storage and the statements on them, which all its transactions share. */
export interface StoredTables {
  readonly database: Database
  readonly feed: ChangeFeed
  /** The table of a kind. Throws a TypeError for a kind that the storage was not opened for. */
  tableOf(kind: RecordKind): RecordTable
  statementsOf(table: RecordTable): RecordStatements
}

export function storedTables(database: Database, kinds: RecordTables): StoredTables {
  const statements = new Map<RecordTable, RecordStatements>()
  return {
    database,
    feed: changeFeed(database),
    tableOf({ name }) {
      const table = kinds.get(name)
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
