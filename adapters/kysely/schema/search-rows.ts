import { createHash } from 'node:crypto'
import { foldedText, isStorable } from './field-value.ts'
import type { FieldColumn } from './record-table.ts'

const ELEMENT_COLUMNS = ['record_id', 'position', 'value', 'value_folded']
const MEMBER_COLUMNS = ['record_id', 'path', 'type', 'value', 'value_folded', 'number']

/** Lists the columns of {@link searchRows}. */
export function searchColumns({ kind }: FieldColumn): readonly string[] {
  return kind === 'set' ? ELEMENT_COLUMNS : MEMBER_COLUMNS
}

/** The rows by which the members of a set or a JSON value are found. */
export function searchRows({ kind }: FieldColumn, id: string, value: unknown): (readonly unknown[])[] {
  if (kind === 'json') return Array.from(membersOf(value), (member) => [id, ...member])
  if (!Array.isArray(value)) return []
  return value.map((element, position) => [id, position, element, foldedText(String(element))])
}

/** A member of a JSON value, at any depth: text, a number, a boolean, or a list or object with members of its own. */
export type JsonMember = readonly [
  path: string,
  type: 'text' | 'number' | 'boolean' | 'composite',
  value: string | null,
  folded: string | null,
  number: number | null,
]

const LONGEST_PATH = 200

/** The name of the member of `parent` (a name too, '' for the root) under `key`; long ones are cut to a digest. */
export function memberPath(parent: string, key: string): string {
  const path = `${parent}/${JSON.stringify(key)}`
  return path.length <= LONGEST_PATH ? path : `#${createHash('sha256').update(path).digest('base64')}`
}

/** Every member that has a name and is not null. */
export function* membersOf(value: unknown): Generator<JsonMember> {
  const open: (readonly [path: string, value: unknown])[] = [['', value]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, at] = next
    if (path !== '') {
      const member = asMember(path, at)
      if (member !== undefined) yield member
    }
    // The elements of a list have no names that a filter could say.
    if (typeof at !== 'object' || at === null || Array.isArray(at)) continue
    for (const [key, below] of Object.entries(at)) open.push([memberPath(path, key), below])
  }
}

function asMember(path: string, value: unknown): JsonMember | undefined {
  switch (typeof value) {
    case 'string': {
      // A text that no database can keep is found by none that can be asked for.
      const text = isStorable(value) ? value : value.toWellFormed().replaceAll('\u0000', '\ufffd')
      return [path, 'text', text, foldedText(text), null]
    }
    case 'number':
      return [path, 'number', String(value), null, value]
    case 'boolean':
      return [path, 'boolean', null, null, Number(value)]
    default:
      return value === null || value === undefined ? undefined : [path, 'composite', null, null, null]
  }
}
