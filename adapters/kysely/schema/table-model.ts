import type { ColumnType } from '../language/language.ts'

export interface ColumnModel {
  readonly name: string
  readonly type: ColumnType
  readonly isRequired?: boolean
}

export interface IndexModel {
  readonly name: string
  readonly columns: readonly string[]
  readonly isUnique?: boolean
}

/** A table as plain data: what is recorded in the database, and compared with at the next start. Names are without the prefix. */
export interface TableModel {
  readonly name: string
  readonly columns: readonly ColumnModel[]
  readonly primaryKey: readonly string[]
  readonly indexes: readonly IndexModel[]
  /** True for a table that is nothing but an index of another: its rows are found by their key. */
  readonly isIndexOnly?: boolean
}
