import { fewOf, visibleLine } from '../../../../src/base/text.ts'
import { takingBack } from '../../../../src/client/index.ts'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { type Connection, withConnection } from '../../connection/connect.ts'
import type { CONNECTION_OPTIONS } from '../../connection/connection-options.ts'

type Connected = keyof typeof CONNECTION_OPTIONS

/** Tells what is probably not meant so: each finding with its number and the first names. */
export function askFindings(call: CommandCall<Connected>): Promise<Answer> {
  return withConnection(call, async ({ portcullis }) => {
    const { data } = await portcullis.call('GET /findings')
    const lines = data.map(({ finding, count, entities }) => {
      const names = entities.map(({ name }) => visibleLine(name))
      const others = count > names.length ? ', …' : ''
      return `${String(count).padStart(7)}  ${finding.replaceAll('-', ' ')}${names.length === 0 ? '' : `: ${names.join(', ')}${others}`}`
    })
    return { text: lines.join('\n'), value: data }
  })
}

const DONE: Readonly<Record<string, string>> = {
  'entity.created': 'created',
  'entity.updated': 'changed',
  'entity.deleted': 'deleted',
}
const ACCESS_KINDS = ['identities', 'services', 'service-policies']
const HOUR_MS = 3_600_000
const MOST_NAMES = 5

/** Tells what was changed lately and by whom; with `--access` who lost and gained access by it, as of now. */
export function askChanges(call: CommandCall<Connected | 'hours' | 'access'>): Promise<Answer> {
  const text = call.options.value('hours') ?? '1'
  const hours = Number(text)
  if (!Number.isInteger(hours) || hours < 1) throw new UsageError(`--hours takes a whole number, not '${text}'`)
  const isAccess = call.options.flag('access')
  return withConnection(call, async (connection) => {
    const since = new Date(Date.now() - hours * HOUR_MS).toISOString()
    const kinds = isAccess ? ` and kind in [${ACCESS_KINDS.map((kind) => JSON.stringify(kind)).join(', ')}]` : ''
    const types = Object.keys(DONE).map((type) => JSON.stringify(type))
    const filter = `at >= datetime(${since}) and type in [${types.join(', ')}]${kinds}`
    const { entries } = (await connection.portcullis.call('GET /audit', { query: { filter } })).data
    const lines: string[] = []
    for (const { at, type, entity, actor, author, changes } of entries) {
      const who = visibleLine(actor?.name ?? author?.name ?? 'the controller')
      const what = `${entity?.kind.replaceAll('-', ' ') ?? ''} ${visibleLine(entity?.name ?? entity?.id ?? '')}`
      lines.push(`${String(at)}  ${who} ${DONE[type] ?? type} ${what}`)
      for (const [field, change] of Object.entries(changes)) {
        lines.push(`    ${field}: ${shown(change.before)} -> ${shown(change.after)}`)
      }
      if (isAccess) lines.push(...(await consequences(connection, { type, entity, changes })))
    }
    return { text: lines.length === 0 ? 'Nothing was changed in that time.' : lines.join('\n'), value: entries }
  })
}

async function consequences(
  { portcullis }: Connection,
  entry: Parameters<typeof takingBack>[0],
): Promise<readonly string[]> {
  const undone = takingBack(entry)
  if (undone === undefined) return []
  type Changes = NonNullable<Parameters<typeof portcullis.call<'POST /simulate'>>[1]>['body']['changes']
  // It is in the words of the requests that the simulation takes.
  const body = { changes: [undone] as Changes, limit: 100 }
  const { pairs } = (await portcullis.call('POST /simulate', { body })).data
  return (['gained', 'lost'] as const).flatMap((change) => {
    const names = pairs
      .filter((pair) => pair.change === change)
      .map(({ identity, service, type }) => `${visibleLine(identity.name)} ${type} ${visibleLine(service.name)}`)
    if (names.length === 0) return []
    return [`    ${change === 'gained' ? 'lost' : 'gained'} by it: ${fewOf(names, MOST_NAMES)}`]
  })
}

function shown(value: unknown): string {
  return value === undefined ? '(default)' : visibleLine(JSON.stringify(value))
}
