import { sql } from 'kysely'
import type { Sql } from '../../driver/language.ts'
import type { FieldColumn, RecordTable } from '../../schema/record-table.ts'
import type { TextColumn } from './value-test.ts'

/** The field of a filter, as SQL sees it. */
export type Subject =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly isRequired: boolean; readonly text: TextColumn }
  | { readonly kind: 'number' | 'boolean'; readonly column: Sql; readonly asText: Sql }
  | { readonly kind: 'set' | 'json'; readonly column: Sql; readonly searchTable: string | undefined }

/** The fields that a condition may speak of. */
export interface Scope {
  readonly name: string
  subject(field: string): Subject
}

/** The fields of a record; its row is called `t`. */
export function recordScope({ kind, byField }: RecordTable): Scope {
  return {
    name: kind.name,
    subject(field) {
      if (field === 'id') return ID
      const declared = byField.get(field)
      return declared === undefined ? { kind: 'nothing' } : subjectOf(declared)
    },
  }
}

/** An element of a set, as a record with nothing but an `id`; its row is called `m`. */
export const ELEMENT_SCOPE: Scope = {
  name: 'a set',
  subject: (field) => (field === 'id' ? ELEMENT : { kind: 'nothing' }),
}

const ID: Subject = {
  kind: 'text',
  isRequired: true,
  text: { column: sql.ref('t.id'), folded: sql.ref('t.id_folded'), isIndexed: false },
}

/** An element of a set, or a text inside of a JSON value. */
export const MEMBER_TEXT: TextColumn = {
  column: sql.ref('m.value'),
  folded: sql.ref('m.value_folded'),
  isIndexed: true,
}

/** A boolean inside of a JSON value, as JSON writes it. */
const WRITTEN_BOOLEAN = sql`case when m.number = 1 then 'true' else 'false' end`
export const BOOLEAN_TEXT: TextColumn = { column: WRITTEN_BOOLEAN, folded: WRITTEN_BOOLEAN, isIndexed: false }

const ELEMENT: Subject = { kind: 'text', isRequired: true, text: MEMBER_TEXT }

function subjectOf({ kind, column: name, searchColumn, searchTable, isUnique, isIndexed }: FieldColumn): Subject {
  const column = sql.ref(`t.${name}`)
  const search = searchColumn === undefined ? column : sql.ref(`t.${searchColumn}`)
  switch (kind) {
    case 'string':
      return { kind: 'text', isRequired: false, text: { column, folded: search, isIndexed: isUnique || isIndexed } }
    case 'number':
      return { kind: 'number', column, asText: search }
    case 'integer':
    case 'instant':
      return { kind: 'number', column, asText: sql`cast(${column} as text)` }
    case 'boolean':
      return { kind: 'boolean', column, asText: column }
    case 'set':
    case 'json':
      return { kind, column, searchTable }
  }
}
