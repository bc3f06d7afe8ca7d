import type { ColumnModel, IndexModel, TableModel } from './record-table.ts'

/** This version of the code cannot work with the tables of the database. The message names the remedy. */
export class SchemaMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SchemaMismatch'
  }
}

/** One step from the tables of a database to the tables that the code declares. */
export type SchemaStep =
  | { readonly kind: 'create-table'; readonly table: TableModel }
  | { readonly kind: 'add-column'; readonly table: TableModel; readonly column: ColumnModel }
  | { readonly kind: 'drop-table'; readonly table: TableModel }
  | { readonly kind: 'create-index' | 'drop-index'; readonly table: TableModel; readonly index: IndexModel }

/**
 * The steps that add declared tables and columns, and drop the tables that may be `dropped`. A database of a newer version has tables or
 * columns that the code does not know. It needs no steps, and is used as it is. Throws a {@link SchemaMismatch} when it lacks a table or a
 * column that the code needs, or has columns in another form.
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
  const unknown = firstUnknown(recorded, declared, dropped)
  if (unknown !== undefined) {
    const lack = steps.find(({ kind }) => kind === 'create-table' || kind === 'add-column')
    if (lack !== undefined) throw unusable(unknown, lack)
    return []
  }
  const gone = recorded.filter(({ name }) => !declared.some((table) => table.name === name))
  return [...steps, ...gone.map((table) => ({ kind: 'drop-table', table }) as const)]
}

/** The first table or column that the code does not know. */
function firstUnknown(
  recorded: readonly TableModel[],
  declared: readonly TableModel[],
  dropped: readonly string[],
): string | undefined {
  for (const { name, columns } of recorded) {
    const table = declared.find((candidate) => candidate.name === name)
    if (table === undefined) {
      if (dropped.includes(name)) continue
      return `the table ${name}`
    }
    const column = columns.find((one) => !table.columns.some((other) => other.name === one.name))
    if (column !== undefined) return `the column ${name}.${column.name}`
  }
  return undefined
}

function tableSteps(before: TableModel, table: TableModel): SchemaStep[] {
  for (const { name, type } of before.columns) {
    const column = table.columns.find((candidate) => candidate.name === name)
    if (column !== undefined && column.type !== type) {
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

function unusable(unknown: string, lack: SchemaStep): SchemaMismatch {
  const needed =
    lack.kind === 'add-column' ? `the column ${lack.table.name}.${lack.column.name}` : `the table ${lack.table.name}`
  return new SchemaMismatch(
    `the database was made by a newer version: it has ${unknown}, which this version does not know, and lacks ${needed}, which it needs. Start the newer version, or restore a copy from before it`,
  )
}
