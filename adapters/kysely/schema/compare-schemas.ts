import type { ColumnModel, IndexModel, TableModel } from './record-table.ts'

/** The tables in the database are not those that this version of the code can work with; the message says what to do. */
export class SchemaMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SchemaMismatch'
  }
}

/** One step from the tables that a database has to those that the code declares. */
export type SchemaStep =
  | { readonly kind: 'create-table'; readonly table: TableModel }
  | { readonly kind: 'add-column'; readonly table: TableModel; readonly column: ColumnModel }
  | { readonly kind: 'drop-table'; readonly table: TableModel }
  | { readonly kind: 'create-index' | 'drop-index'; readonly table: TableModel; readonly index: IndexModel }

/**
 * The steps that add what is declared and not yet recorded, and drop the tables that may be `dropped`. Throws a {@link SchemaMismatch} when the database has tables or
 * columns that the code does not know, which a newer version made, or has them in another form.
 */
export function compareSchemas(
  recorded: readonly TableModel[],
  declared: readonly TableModel[],
  dropped: readonly string[],
): SchemaStep[] {
  const byName = new Map(recorded.map((table) => [table.name, table]))
  const steps = declared.flatMap((table): SchemaStep[] => {
    const before = byName.get(table.name)
    if (before !== undefined) return tableSteps(before, table)
    const indexes = table.indexes.map((index) => ({ kind: 'create-index', table, index }) as const)
    return [{ kind: 'create-table', table }, ...indexes]
  })
  for (const table of recorded) {
    if (declared.some(({ name }) => name === table.name)) continue
    if (!dropped.includes(table.name)) throw newer(`the table ${table.name}`)
    steps.push({ kind: 'drop-table', table })
  }
  return steps
}

function tableSteps(before: TableModel, table: TableModel): SchemaStep[] {
  for (const { name, type } of before.columns) {
    const column = table.columns.find((candidate) => candidate.name === name)
    if (column === undefined) throw newer(`the column ${table.name}.${name}`)
    if (column.type !== type) {
      throw new SchemaMismatch(
        `the column ${table.name}.${name} holds ${type} in the database, and ${column.type} here`,
      )
    }
  }
  const isNew = ({ name }: ColumnModel) => !before.columns.some((column) => column.name === name)
  const lacks = (indexes: readonly IndexModel[], index: IndexModel) => !indexes.some((other) => isSame(index, other))
  return [
    ...table.columns.filter(isNew).map((column) => ({ kind: 'add-column', table, column }) as const),
    ...before.indexes
      .filter((index) => lacks(table.indexes, index))
      .map((index) => ({ kind: 'drop-index', table, index }) as const),
    ...table.indexes
      .filter((index) => lacks(before.indexes, index))
      .map((index) => ({ kind: 'create-index', table, index }) as const),
  ]
}

function isSame(a: IndexModel, b: IndexModel): boolean {
  return a.name === b.name && a.isUnique === b.isUnique && a.columns.join() === b.columns.join()
}

function newer(what: string): SchemaMismatch {
  return new SchemaMismatch(
    `the database was made by a newer version: it has ${what}, which this version does not know. Start the newer version, or restore a copy from before it`,
  )
}
