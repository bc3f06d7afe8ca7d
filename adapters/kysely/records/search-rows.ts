import type { FieldColumn } from '../schema/record-table.ts'
import { membersOf } from '../values/json-members.ts'
import { foldedText } from '../values/text.ts'

const ELEMENT_COLUMNS = ['record_id', 'position', 'value', 'value_folded']
const MEMBER_COLUMNS = ['record_id', 'path', 'type', 'value', 'value_folded', 'number']

/** What {@link searchRows} holds, column by column. */
export function searchColumns({ kind }: FieldColumn): readonly string[] {
  return kind === 'set' ? ELEMENT_COLUMNS : MEMBER_COLUMNS
}

/** The rows by which the members of a set or a JSON value are found. */
export function searchRows({ kind }: FieldColumn, id: string, value: unknown): (readonly unknown[])[] {
  if (kind === 'json') return Array.from(membersOf(value), (member) => [id, ...member])
  if (!Array.isArray(value)) return []
  return value.map((element, position) => [id, position, element, foldedText(String(element))])
}
