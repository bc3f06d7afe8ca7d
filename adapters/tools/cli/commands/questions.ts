import { isBookkeeping } from '../../../../src/base/members.ts'
import { counted, fewOf, listed, visibleLine } from '../../../../src/base/text.ts'
import { HOUR_MS } from '../../../../src/base/time.ts'
import {
  type AnswerOf,
  ApiError,
  givingRoleAttribute,
  type PortcullisApi,
  takingBack,
} from '../../../../src/client/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { CONNECTION_OPTIONS, type Connection, withConnection } from '../connection/connect.ts'

const WHERE = `Asks a running controller: as the login of portcullis login, or with --url and PORTCULLIS_ADMIN_USERNAME and
PORTCULLIS_ADMIN_PASSWORD. Posture counts for nothing; portcullis explain counts it. Nothing is written.`
const ALL = { all: { summary: 'every one of them, however many; 50 by default' } } as const

/** `portcullis who`. */
export const WHO = defineCommand({
  operands: 'SERVICE',
  options: { ...CONNECTION_OPTIONS, ...ALL },
  hasJson: true,
  details: WHERE,
  examples: ['portcullis who payroll'],

  run: askWho,
})

/** `portcullis reach`. */
export const REACH = defineCommand({
  operands: 'IDENTITY',
  options: { ...CONNECTION_OPTIONS, ...ALL },
  hasJson: true,
  details: WHERE,
  examples: ['portcullis reach anna'],

  run: askReach,
})

/** `portcullis what-if`. */
export const WHAT_IF = defineCommand({
  operands: 'GROUP ROLE',
  options: CONNECTION_OPTIONS,
  hasJson: true,
  details: `Both are role attributes of identities, with or without #. ${WHERE}`,
  examples: ['portcullis what-if berlin finance'],
  run: askWhatIf,
})

/** `portcullis findings`. */
export const FINDINGS = defineCommand({
  options: CONNECTION_OPTIONS,
  hasJson: true,
  details: WHERE,
  examples: ['portcullis findings'],
  run: askFindings,
})

/** `portcullis changes`. */
export const CHANGES = defineCommand({
  options: {
    ...CONNECTION_OPTIONS,
    hours: { value: 'N', summary: 'of how many hours; default 1' },
    access: { summary: 'only changes that decide access, with the identities that lost or gained it as of now' },
  },
  hasJson: true,
  details: `Reads the audit trail of a running controller. ${WHERE}`,
  examples: ['portcullis changes', 'portcullis changes --hours 24 --access'],
  run: askChanges,
})

type Call = CommandCall<keyof typeof CONNECTION_OPTIONS>
type ReachCall = CommandCall<keyof typeof CONNECTION_OPTIONS | 'all'>
type Reach = AnswerOf<PortcullisApi['GET /reach']>['data']

const PAGE = '200'
const FIRST = '50'

/** Lists the identities that reach a service. Throws `UsageError` without a service. */
function askWho(call: ReachCall): Promise<Answer> {
  const service = operandOf(call, 'the command takes SERVICE, such as: portcullis who payroll')
  return askReachOf(call, { service })
}

/** Lists the services that an identity reaches. Throws `UsageError` without an identity. */
function askReach(call: ReachCall): Promise<Answer> {
  const identity = operandOf(call, 'reach takes IDENTITY, such as: portcullis reach anna')
  return askReachOf(call, { identity })
}

function askReachOf(call: ReachCall, of: { identity: string } | { service: string }): Promise<Answer> {
  return withConnection(call, async ({ portcullis }) => {
    const isAll = call.options.flag('all')
    const query = { ...of, limit: isAll ? PAGE : FIRST }
    const first = (await portcullis.call('GET /reach', { query })).data
    const reached = [...first.reached]
    let cursor = isAll ? first.nextCursor : null
    while (cursor !== null) {
      const { data } = await portcullis.call('GET /reach', { query: { ...query, cursor } })
      reached.push(...data.reached)
      cursor = data.nextCursor
    }
    const isCut = !isAll && first.nextCursor !== null
    return { text: reachText(first, reached, isCut), value: { ...first, reached, nextCursor: null, isCut } }
  })
}

/** A policy is not enough where posture fails or no edge router may carry the traffic. */
const ASIDE = 'Posture and edge routers aside: portcullis explain IDENTITY dial SERVICE counts them.'

function reachText({ kind, entity, counts }: Reach, reached: Reach['reached'], isCut: boolean): string {
  const name = `'${visibleLine(entity.name)}'`
  const { dial, bind } = counts
  const head =
    kind === 'identities'
      ? `${name} may dial ${counted(dial, 'service')} and bind ${counted(bind, 'service')} by service policies.`
      : `${name} may be dialed by ${dial} and bound by ${bind} identities by service policies.`
  const lines = reached.map(({ name: other, types, policies }) => {
    const by = policies.map((policy) => `${visibleLine(policy.name)}${policy.isGuarded ? ' if posture passes' : ''}`)
    return `  ${visibleLine(other)}: ${types.join(' and ')} by ${listed(by)}`
  })
  const rest = isCut ? ['  and others: --all lists them'] : []
  return [head, ...lines, ...rest, ...(reached.length > 0 ? [ASIDE] : [])].join('\n')
}

/** Tells the effect of giving a role attribute to every holder of another role attribute. Throws `UsageError` without both. */
function askWhatIf(call: Call): Promise<Answer> {
  const [holders, roleAttribute] = call.operands.map((one) => one.replace(/^#/, ''))
  if (holders === undefined || roleAttribute === undefined || call.operands.length !== 2) {
    throw new UsageError('the command takes GROUP and ROLE, such as: portcullis what-if berlin finance')
  }
  return withConnection(call, async ({ management, portcullis }: Connection) => {
    const held = { filter: `anyOf(roleAttributes) = ${JSON.stringify(holders)}`, limit: 1 }
    const holderCount = (await management.call('GET /identities', { query: held })).meta.pagination.totalCount
    const filter = `anyOf(identityRoles) = ${JSON.stringify(`#${roleAttribute}`)}`
    const policies = (await management.call('GET /service-policies', { query: { filter, limit: 500 } })).data
    const changes = givingRoleAttribute(policies, { holders, roleAttribute })
    type Changes = NonNullable<Parameters<typeof portcullis.call<'POST /simulate'>>[1]>['body']['changes']
    // They are in the words of the requests that the simulation takes.
    const body = { changes: changes as Changes, limit: 20 }
    const { data } = await portcullis.call('POST /simulate', { body })
    const gained = (data.counts?.dial.gained ?? 0) + (data.counts?.bind.gained ?? 0)
    const head = `With #${visibleLine(roleAttribute)} everybody who has #${visibleLine(holders)} would gain ${counted(gained, 'access')}.`
    const lines = data.pairs.map(
      ({ identity, service, type }) => `  + ${visibleLine(identity.name)} ${type} ${visibleLine(service.name)}`,
    )
    const nobody = holderCount === 0 ? [`No identity has #${visibleLine(holders)}.`] : []
    const more = gained > lines.length ? [`  and ${gained - lines.length} more`] : []
    return { text: [head.replace(/accesss/, 'accesses'), ...nobody, ...lines, ...more].join('\n'), value: data }
  })
}

function operandOf({ operands }: ReachCall, usage: string): string {
  const [one] = operands
  if (one === undefined || operands.length !== 1) throw new UsageError(usage)
  return one
}

type Connected = keyof typeof CONNECTION_OPTIONS

/** Lists probable mistakes: each finding with its number and the first names. */
function askFindings(call: CommandCall<Connected>): Promise<Answer> {
  return withConnection(call, async ({ portcullis }) => {
    const { data } = await portcullis.call('GET /findings')
    // Where there is nothing to judge, a zero would say that all is well.
    const judged = data.filter((one) => one.judged > 0)
    const lines = judged.map(({ finding, count, entities }) => {
      const names = entities.map(({ name, at }) => `${visibleLine(name)}${at === null ? '' : ` ${at.slice(0, 10)}`}`)
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
/** Answered for a change that cannot be taken back, because something else was changed or deleted after it. */
const NOT_TAKEN_BACK: readonly number[] = [400, 404, 409]
const MOST_NAMES = 5

/** Lists recent changes and their actors; with `--access` also the identities that lost or gained access by them, as of now. */
function askChanges(call: CommandCall<Connected | 'hours' | 'access'>): Promise<Answer> {
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
        if (isBookkeeping(field)) continue
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
  const asked = await portcullis.call('POST /simulate', { body }).catch((error: unknown) => {
    if (error instanceof ApiError && NOT_TAKEN_BACK.includes(error.status)) return error
    throw error
  })
  if (asked instanceof ApiError) {
    const isGone = asked.status === 404 && entry.type !== 'entity.deleted'
    const why = isGone ? 'it is gone, and decides nothing any more' : visibleLine(asked.message)
    return [`    as of now: ${why}`]
  }
  const { pairs } = asked.data
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
