import type { SqlLanguage } from '../driver/language.ts'
import { type RecordTables, type TableModel, tableModels } from './record-table.ts'

export const STATE_TABLE = 'storage_state'
export const CHANGE_TABLE = 'storage_changes'
export const MIGRATION_TABLE = 'storage_migrations'

/** One row: the revision of the last commit and its line, and the last revision whose changes are forgotten. */
const STATE: TableModel = {
  name: STATE_TABLE,
  columns: [
    { name: 'id', type: 'integer', isRequired: true },
    { name: 'revision', type: 'integer', isRequired: true },
    { name: 'forgotten', type: 'integer', isRequired: true },
    { name: 'line', type: 'integer' },
  ],
  primaryKey: ['id'],
  indexes: [],
}

/** The change feed. The first change of a revision has its line. */
const CHANGES: TableModel = {
  name: CHANGE_TABLE,
  columns: [
    { name: 'revision', type: 'integer', isRequired: true },
    { name: 'position', type: 'integer', isRequired: true },
    { name: 'kind', type: 'text', isRequired: true },
    { name: 'id', type: 'text', isRequired: true },
    { name: 'operation', type: 'text', isRequired: true },
    { name: 'line', type: 'integer' },
  ],
  primaryKey: ['revision', 'position'],
  indexes: [],
  isIndexOnly: true,
}

/** The changes of the schema, and its form after each. */
export const MIGRATIONS: TableModel = {
  name: MIGRATION_TABLE,
  columns: [
    { name: 'number', type: 'integer', isRequired: true },
    { name: 'name', type: 'text', isRequired: true },
    { name: 'format', type: 'integer', isRequired: true },
    { name: 'statements', type: 'json', isRequired: true },
    { name: 'tables', type: 'json', isRequired: true },
    { name: 'applied_at', type: 'integer', isRequired: true },
  ],
  primaryKey: ['number'],
  indexes: [],
}

/** Every table that this version of the code works with, derived from the declarations of the records. */
export function declaredTables(kinds: RecordTables, language: SqlLanguage): readonly TableModel[] {
  return [STATE, CHANGES, ...[...kinds.values()].flatMap((kind) => tableModels(kind, language))]
}
