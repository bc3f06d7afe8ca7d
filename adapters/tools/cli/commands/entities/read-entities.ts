import { LARGEST_PAGE } from '../../../../../src/base/limits.ts'
import { visibleLine } from '../../../../../src/base/text.ts'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { type CONNECTION_OPTIONS, type Connection, withConnection } from '../../connection/connect.ts'
import type { Style } from '../../output.ts'
import { type Entity, findEntity, listPage, type Page } from './entity-pages.ts'

type ConnectionOption = keyof typeof CONNECTION_OPTIONS

/** Lists the entities of a collection, page by page. Throws {@link UsageError}. */
export async function listEntities(
  collection: string,
  call: CommandCall<ConnectionOption | 'filter' | 'sort' | 'limit' | 'offset'>,
): Promise<Answer> {
  const { options, terminal } = call
  const filter = options.typed('filter')
  const sort = options.typed('sort')
  const query = { ...(filter !== undefined && { filter }), ...(sort !== undefined && { sort }) }
  const limit = readCount('limit', options.typed('limit')) ?? Number.POSITIVE_INFINITY
  const offset = readCount('offset', options.typed('offset')) ?? 0
  const { entities, totalCount } = await withConnection(call, (connection) =>
    pages(connection, collection, { query, limit, offset }, (count) => terminal.progress(`${collection}: ${count}`)),
  )
  const shown = `${entities.length} of ${totalCount}`
  const text = entities.length === 0 ? `no ${collection}` : tableText(entities, terminal.style)
  return { text: `${text}\n${terminal.style('dim', shown)}`, value: entities }
}

interface Wanted {
  readonly query: Readonly<Record<string, string>>
  readonly limit: number
  readonly offset: number
}

async function pages(
  connection: Connection,
  collection: string,
  { query, limit, offset }: Wanted,
  onProgress: (count: number) => void,
): Promise<Page> {
  const entities: Entity[] = []
  for (;;) {
    const size = Math.min(LARGEST_PAGE, limit - entities.length)
    const page = await listPage(connection, collection, { ...query, limit: size, offset: offset + entities.length })
    entities.push(...page.entities)
    const isLast = page.entities.length === 0 || offset + entities.length >= page.totalCount
    if (isLast || entities.length >= limit) return { entities, totalCount: page.totalCount }
    onProgress(entities.length)
  }
}

/** Shows one entity. Throws {@link UsageError}. */
export async function getEntity(collection: string, call: CommandCall<ConnectionOption>): Promise<Answer> {
  const [idOrName, ...more] = call.operands
  if (idOrName === undefined || more.length > 0) throw new UsageError(`${collection} get takes one NAME or ID`)
  const entity = await withConnection(call, (connection) => findEntity(connection, collection, idOrName))
  return { text: entityText(entity, call.terminal.style), value: entity }
}

function readCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined || /^\d{1,9}$/.test(value)) return value === undefined ? undefined : Number(value)
  throw new UsageError(`--${name} takes a whole number, not '${value}'`)
}

/** Columns of a list; columns that the entities lack are left out. */
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
  'serviceId',
  'routerId',
  'binding',
  'cost',
  'precedence',
  'edgeRouterRoles',
  'roleAttributes',
  'isOnline',
  'isVerified',
  'isAdmin',
  'disabled',
  'endpoint',
  'events',
  'enabled',
  'expiresAt',
] as const

/** The widest that a column gets, in characters. */
const WIDEST = 48

/** Entities as a table, without columns that are empty in all rows. */
function tableText(entities: readonly Entity[], style: Style): string {
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
function entityText(entity: Entity, style: Style): string {
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

/** Whether it is a reference to an entity in the form of the API. */
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
