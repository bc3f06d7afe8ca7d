import type { ColumnType, TableModel } from './schema/model.ts'
import type { Sql } from './sql.ts'

/** What the SQL of SQLite and that of PostgreSQL say differently. */
export interface SqlLanguage {
  readonly name: 'sqlite' | 'postgres'
  /** Begins a snapshot, and a write that is alone from then on. */
  readonly beginRead: string
  readonly beginWrite: string
  /** Waits until no other process writes to the tables named `scope`; until the transaction ends. Absent where `beginWrite` does. */
  lockWriters?(scope: string): Sql
  columnType(type: ColumnType): string
  /** What follows the columns of a table. */
  tableOptions(table: TableModel): string
  /** What an index holds of a text, so that its entries stay small. Ordered as the text is; undefined: the text. */
  indexedText(column: Sql): Sql | undefined
  /** The same of a text at hand. */
  indexedPart(text: string): string
  /** What a unique index holds of a text: different for different texts. */
  uniqueText(column: Sql): Sql
  /** Whether a unique index of texts also serves to put them in order. */
  readonly ordersByUniqueText: boolean
  boolean(value: boolean): unknown
  /** A number to compare with a column of any numeric type. */
  number(value: number): Sql
  /** The position of `part` in `whole`, from 1; 0 when it is nowhere. */
  position(whole: Sql, part: string): Sql
  /** The condition that `column` is one of a list of texts of any length. */
  isOneOf(column: Sql, values: readonly string[]): Sql
  /** Nulls come first ascending, last descending. */
  direction(direction: 'asc' | 'desc'): Sql
  slice(limit: number | undefined, offset: number): Sql
  /** The values in a slice, in their order. */
  sliceValues(limit: number | undefined, offset: number): readonly number[]
  /** Asks for one row when a table of that name exists. */
  findTable(table: string, schema: string | undefined): Sql
}
