import { visibleLine } from '../../../../src/base/text.ts'
import type { Style } from '../../output.ts'
import type { Entity } from './entity-requests.ts'

/** Columns of a list, of those that its entities have. */
const COLUMNS = [
  'id',
  'name',
  'type',
  'typeId',
  'method',
  'username',
  'semantic',
  'identityId',
  'identityRoles',
  'serviceRoles',
  'edgeRouterRoles',
  'roleAttributes',
  'isOnline',
  'isVerified',
  'isAdmin',
  'disabled',
  'expiresAt',
] as const

/** The widest that a column gets, in characters. */
const WIDEST = 48

/** Entities as a table, with the columns that any of them has something in. */
export function tableText(entities: readonly Entity[], style: Style): string {
  const columns = COLUMNS.filter((column) => entities.some((entity) => cell(entity[column]) !== ''))
  const rows = [columns.map(String), ...entities.map((entity) => columns.map((column) => cell(entity[column])))]
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => [...(row[index] ?? '')].length)))
  const lines = rows.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [style('bold', lines[0] ?? ''), ...lines.slice(1)].join('\n')
}

/** Everything of an entity that is not empty, a line for each member. */
export function entityText(entity: Entity, style: Style): string {
  const members = Object.entries(entity).filter(([name, value]) => name !== '_links' && !isEmpty(value))
  const width = Math.max(...members.map(([name]) => name.length))
  return members.map(([name, value]) => `${style('cyan', name.padEnd(width))}  ${plain(value)}`).join('\n')
}

function cell(value: unknown): string {
  // A reference has its id in a column of its own.
  const text = isEmpty(value) || isReference(value) ? '' : plain(value)
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text
}

function plain(value: unknown): string {
  // Members of an entity were typed by others: control characters could write anything on a terminal.
  return visibleLine(textOf(value))
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (isTextList(value)) return value.join(', ')
  return isReference(value) ? (value.name ?? value.id) : JSON.stringify(value)
}

/** Whether it stands for another entity, in the form in which the API names one. */
function isReference(value: unknown): value is { readonly id: string; readonly name?: string } {
  return typeof value === 'object' && value !== null && 'entity' in value && 'id' in value
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
