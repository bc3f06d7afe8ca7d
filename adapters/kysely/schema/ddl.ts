import { sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Sql } from '../sql.ts'
import type { ColumnModel, IndexModel, TableModel } from './model.ts'

/** The statement that creates a table; its indexes are created apart. */
export function createTable({ language, table }: Database, model: TableModel): Sql {
  const columns = model.columns.map((column) => columnDefinition(language.columnType(column.type), column))
  const key = sql`primary key (${sql.join(model.primaryKey.map((name) => sql.id(name)))})`
  return sql`create table ${table(model.name)} (${sql.join([...columns, key])})${sql.raw(language.tableOptions(model))}`
}

export function addColumn({ language, table }: Database, model: TableModel, column: ColumnModel): Sql {
  const definition = columnDefinition(language.columnType(column.type), column)
  return sql`alter table ${table(model.name)} add column ${definition}`
}

export function createIndex({ language, table, prefix }: Database, model: TableModel, index: IndexModel): Sql {
  const parts = index.columns.map((name) => {
    const column = sql.id(name)
    const isText = model.columns.find((candidate) => candidate.name === name)?.type === 'text'
    if (index.isUnique) return isText ? sql`(${language.uniqueText(column)})` : column
    // Ids and paths are short.
    if (!isText || model.primaryKey.includes(name) || name === 'path')
      return orderedPart(column, model, name, language.name)
    const key = language.indexedText(column)
    return orderedPart(key === undefined ? column : sql`(${key})`, model, name, language.name)
  })
  const unique = sql.raw(index.isUnique ? 'unique ' : '')
  return sql`create ${unique}index ${sql.id(prefix + index.name)} on ${table(model.name)} (${sql.join(parts)})`
}

export function dropIndex({ schema, prefix }: Database, index: IndexModel): Sql {
  const name = prefix + index.name
  return sql`drop index ${schema === undefined ? sql.id(name) : sql.id(schema, name)}`
}

/** Columns that may be null are indexed in the order in which lists put them. */
function orderedPart(part: Sql, model: TableModel, name: string, language: string): Sql {
  const isRequired = model.columns.find((column) => column.name === name)?.isRequired === true
  return isRequired || language === 'sqlite' ? part : sql`${part} asc nulls first`
}

function columnDefinition(type: string, { name, isRequired }: ColumnModel): Sql {
  return sql`${sql.id(name)} ${sql.raw(isRequired ? `${type} not null` : type)}`
}
