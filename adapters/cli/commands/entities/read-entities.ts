import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { type Connection, withConnection } from '../../connection/connect.ts'
import type { CONNECTION_OPTIONS } from '../../connection/connection-options.ts'
import { type Entity, findEntity, listPage, type Page } from './entity-requests.ts'
import { entityText, tableText } from './entity-text.ts'

type ConnectionOption = keyof typeof CONNECTION_OPTIONS

/** How many are asked for at once: as many as the API answers. */
const PAGE = 500

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
    const size = Math.min(PAGE, limit - entities.length)
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
