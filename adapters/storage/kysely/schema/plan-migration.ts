import { type CompiledQuery, type CreateTableBuilder, type Expression, sql } from 'kysely'
import type { Database, Sql, SqlLanguage } from '../driver/language.ts'
import { declaredTables, MIGRATIONS, STATE_TABLE } from './bookkeeping.ts'
import { compareSchemas, SchemaMismatch, type SchemaStep } from './compare-schemas.ts'
import { encode, foldedText, membersOf } from './field-value.ts'
import type { ColumnModel, FieldColumn, IndexModel, RecordTable, RecordTables, TableModel } from './record-table.ts'

/**
 * How declarations become tables, and values columns. A version that knows a lower one refuses the database, so it is raised when the form
 * changes in a way that steps cannot express, and when the version before must not serve the records of this version. Otherwise the version
 * before can return: it passes over unknown tables and columns.
 */
export const SCHEMA_FORMAT = 1

/** The description that the database keeps of its own tables. */
export interface RecordedSchema {
  readonly number: number
  readonly format: number
  readonly tables: readonly TableModel[]
}

/** A field whose values are stored already, and from now on looked up in a table of their own. */
export interface SearchFill {
  readonly owner: RecordTable
  readonly field: FieldColumn
  readonly searchTable: string
}

/** The rest of the work on a database, as SQL. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly statements: readonly string[]
  readonly tables: readonly TableModel[]
  /** Tables that are filled after the statements, from the records. */
  readonly fills: readonly SearchFill[]
}

/**
 * The migration from the recorded tables to the declared tables; undefined when nothing is to do. Throws a {@link SchemaMismatch} for a
 * database of a newer format, or of a newer version without the tables that the code needs.
 */
export function planMigration(
  database: Database,
  kinds: RecordTables,
  recorded: RecordedSchema | undefined,
): Migration | undefined {
  const tables = declaredTables(kinds, database.language)
  if (recorded !== undefined && recorded.format > SCHEMA_FORMAT) {
    throw new SchemaMismatch(
      `the database has schema format ${recorded.format}, made by a newer version; this version knows format ${SCHEMA_FORMAT}`,
    )
  }
  const dropped = [...kinds.values()].flatMap((kind) => kind.dropped)
  const steps = compareSchemas(recorded?.tables ?? [], tables, dropped)
  if (steps.length === 0) return undefined
  const number = (recorded?.number ?? 0) + 1
  const begin = recorded === undefined ? preparations(database) : []
  const ordered = steps.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
  const statements = [...begin, ...ordered.flatMap((step) => statementsOf(database, kinds, step))]
  const before = recorded?.tables ?? []
  const fills = steps.flatMap((step) => (step.kind === 'create-table' ? fillsOf(kinds, step.table, before) : []))
  return {
    number,
    name: nameOf(number, steps),
    tables,
    statements: statements.map(textOf),
    fills,
  }
}

/** Tables first, because new columns may have to fill them; indexes last, over all columns. */
const ORDER: readonly SchemaStep['kind'][] = ['drop-table', 'create-table', 'add-column', 'drop-index', 'create-index']

function preparations(database: Database): CompiledQuery[] {
  const { schema, tables } = database
  const createSchema = schema === undefined ? [] : [tables.createSchema(schema).ifNotExists().compile()]
  return [...createSchema, createTable(database, MIGRATIONS, new Map())]
}

function statementsOf(database: Database, kinds: RecordTables, step: SchemaStep): CompiledQuery[] {
  switch (step.kind) {
    case 'create-table':
      return [
        createTable(database, step.table, kinds),
        ...(step.table.name === STATE_TABLE
          ? [
              database.compile(
                sql`insert into ${database.table(STATE_TABLE)} (id, revision, forgotten) values (1, 0, 0)`,
              ),
            ]
          : []),
      ]
    case 'drop-table':
      return [dropTable(database, step.table)]
    case 'add-column':
      return [
        addColumn(database, step.table, step.column, kinds),
        ...fillColumn(database, kinds, step.table, step.column.name),
      ]
    case 'create-index':
      return [createIndex(database, step.table, step.index)]
    case 'drop-index':
      return [dropIndex(database, step.index)]
  }
}

/** Gives the records that are there already the declared default of a new field. */
function fillColumn(database: Database, kinds: RecordTables, { name }: TableModel, column: string): CompiledQuery[] {
  const held = defaultOf(database.language, kinds, name, column)
  if (held === undefined) return []
  const { owner, field, value, stored } = held
  const fill = database.compile(sql`update ${database.table(name)} set ${sql.id(column)} = ${sql.lit(stored)}`)
  return field.column === column ? [fill, ...enterDefault(database, owner, field, value)] : [fill]
}

/** The declared default of the field that a column holds, and how the column holds it; undefined for none. */
function defaultOf(language: SqlLanguage, kinds: RecordTables, table: string, column: string) {
  const owner = [...kinds.values()].find((candidate) => candidate.table === table)
  const field = owner?.fields.find((candidate) => candidate.column === column || candidate.searchColumn === column)
  const value = field === undefined ? null : (owner?.kind.defaults?.[field.field] ?? null)
  if (owner === undefined || field === undefined || value === null) return undefined
  const stored = field.column === column ? encode(language, field.field, field.kind, value) : searchedForm(field, value)
  return stored === null ? undefined : { owner, field, value, stored }
}

function searchedForm({ kind }: FieldColumn, value: unknown): string | null {
  return kind === 'string' ? foldedText(String(value)) : String(value)
}

function enterDefault(database: Database, owner: RecordTable, field: FieldColumn, value: unknown): CompiledQuery[] {
  const { searchTable, kind } = field
  if (searchTable === undefined) return []
  const elements = Array.isArray(value) ? value.map(String) : []
  const rows: readonly (readonly unknown[])[] =
    kind === 'set' ? elements.map((text, position) => [position, text, foldedText(text)]) : [...membersOf(value)]
  return rows.map((row) => {
    const values = sql.join(row.map((one) => sql.lit(one)))
    const into = sql`insert into ${database.table(searchTable)} select id, ${values} from ${database.table(owner.table)}`
    return database.compile(into)
  })
}

/** Lists the values of older records that have to be looked up in a table that is created now. */
function fillsOf(kinds: RecordTables, { name }: TableModel, before: readonly TableModel[]): SearchFill[] {
  return [...kinds.values()].flatMap((owner) => {
    const field = owner.fields.find(({ searchTable }) => searchTable === name)
    const known = before.find((table) => table.name === owner.table)
    const isStored = known?.columns.some(({ name: column }) => column === field?.column) ?? false
    return field !== undefined && isStored ? [{ owner, field, searchTable: name }] : []
  })
}

function nameOf(number: number, steps: readonly SchemaStep[]): string {
  const added = steps.flatMap((step) => {
    if (step.kind === 'create-table') return [step.table.name]
    return step.kind === 'add-column' ? [`${step.table.name}.${step.column.name}`] : []
  })
  const dropped = steps.flatMap((step) => (step.kind === 'drop-table' ? [step.table.name] : []))
  const what =
    number === 1
      ? 'create'
      : added.length === 0
        ? dropped.length > 0
          ? `drop ${dropped.join(', ')}`
          : 'indexes'
        : `add ${added.join(', ')}`
  return `${String(number).padStart(4, '0')} ${what}`.slice(0, 200)
}

function textOf({ sql: text, parameters }: CompiledQuery): string {
  if (parameters.length > 0) throw new Error(`a migration cannot hold parameters: ${text}`)
  return text
}

/** The statement that creates a table; its indexes are created apart. */
function createTable({ language, tables, prefix }: Database, model: TableModel, kinds: RecordTables): CompiledQuery {
  let table: CreateTableBuilder<string, string> = tables.createTable(prefix + model.name)
  for (const { name, type, isRequired } of model.columns) {
    const held = defaultOf(language, kinds, model.name, name)
    table = table.addColumn(name, dataTypeOf(language, type), (column) => {
      const filled = held === undefined ? column : column.defaultTo(sql.lit(held.stored))
      return isRequired ? filled.notNull() : filled
    })
  }
  table = table.addPrimaryKeyConstraint(`${prefix}${model.name}_pkey`, [...model.primaryKey])
  const { indexTableOptions: options } = language
  const isPlain = options === undefined || model.isIndexOnly !== true
  return (isPlain ? table : table.modifyEnd(sql.raw(options))).compile()
}

function dropTable({ tables, prefix }: Database, { name }: TableModel): CompiledQuery {
  return tables.dropTable(prefix + name).compile()
}

/**
 * New columns may be null: earlier records have no value there. A version that does not know the column writes records without it, which
 * hold the declared default then.
 */
function addColumn(
  { language, tables, prefix }: Database,
  model: TableModel,
  column: ColumnModel,
  kinds: RecordTables,
): CompiledQuery {
  const held = defaultOf(language, kinds, model.name, column.name)
  return tables
    .alterTable(prefix + model.name)
    .addColumn(column.name, dataTypeOf(language, column.type), (added) =>
      held === undefined ? added : added.defaultTo(sql.lit(held.stored)),
    )
    .compile()
}

function createIndex({ language, tables, prefix }: Database, model: TableModel, index: IndexModel): CompiledQuery {
  let create = tables.createIndex(prefix + index.name).on(prefix + model.name)
  if (index.isUnique) create = create.unique()
  for (const name of index.columns) create = create.expression(indexPart(language, model, index, name))
  return create.compile()
}

function dropIndex({ tables, prefix }: Database, index: IndexModel): CompiledQuery {
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
