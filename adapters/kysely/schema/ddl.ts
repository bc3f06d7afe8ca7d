import { type CompiledQuery, type CreateTableBuilder, type Expression, sql } from 'kysely'
import type { Database, Sql, SqlLanguage } from '../driver/language.ts'
import type { ColumnModel, IndexModel, TableModel } from './record-table.ts'

/** The statement that creates a table; its indexes are created apart. */
export function createTable({ language, tables, prefix }: Database, model: TableModel): CompiledQuery {
  let table: CreateTableBuilder<string, string> = tables.createTable(prefix + model.name)
  for (const { name, type, isRequired } of model.columns) {
    table = table.addColumn(name, dataTypeOf(language, type), (column) => (isRequired ? column.notNull() : column))
  }
  table = table.addPrimaryKeyConstraint(`${prefix}${model.name}_pkey`, [...model.primaryKey])
  const { indexTableOptions: options } = language
  const isPlain = options === undefined || model.isIndexOnly !== true
  return (isPlain ? table : table.modifyEnd(sql.raw(options))).compile()
}

export function dropTable({ tables, prefix }: Database, { name }: TableModel): CompiledQuery {
  return tables.dropTable(prefix + name).compile()
}

/** New columns may be null: what was stored before has none of them. */
export function addColumn(
  { language, tables, prefix }: Database,
  model: TableModel,
  column: ColumnModel,
): CompiledQuery {
  return tables
    .alterTable(prefix + model.name)
    .addColumn(column.name, dataTypeOf(language, column.type))
    .compile()
}

export function createIndex(
  { language, tables, prefix }: Database,
  model: TableModel,
  index: IndexModel,
): CompiledQuery {
  let create = tables.createIndex(prefix + index.name).on(prefix + model.name)
  if (index.isUnique) create = create.unique()
  for (const name of index.columns) create = create.expression(indexPart(language, model, index, name))
  return create.compile()
}

export function dropIndex({ tables, prefix }: Database, index: IndexModel): CompiledQuery {
  return tables.dropIndex(prefix + index.name).compile()
}

function dataTypeOf(language: SqlLanguage, type: ColumnModel['type']): Expression<unknown> {
  return sql.raw(language.columnType(type))
}

function indexPart(language: SqlLanguage, model: TableModel, index: IndexModel, name: string): Sql {
  const column = sql.id(name)
  const known = model.columns.find((candidate) => candidate.name === name)
  const isText = known?.type === 'text'
  if (index.isUnique) return isText ? sql`(${language.uniqueText(column)})` : column
  // Ids and paths are short.
  const isShort = model.primaryKey.includes(name) || name === 'path'
  const key = isText && !isShort ? language.indexedText(column) : undefined
  const part = key === undefined ? column : sql`(${key})`
  // Columns that may be null are indexed in the order in which lists put them.
  return known?.isRequired === true || language.name === 'sqlite' ? part : sql`${part} ${language.direction('asc')}`
}
