import type { FieldColumn } from '../schema/record-table.ts'
import { membersOf } from '../values/json-members.ts'
import { foldedText } from '../values/text.ts'

/** The rows by which the members of a set or a JSON value are found. */
export function searchRows({ kind }: FieldColumn, id: string, value: unknown): (readonly unknown[])[] {
  if (kind === 'json') return Array.from(membersOf(value), (member) => [id, ...member])
  if (!Array.isArray(value)) return []
  return value.map((element, position) => [id, position, element, foldedText(String(element))])
}
