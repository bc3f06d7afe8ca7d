import { counted, listed, visibleLine } from '../../../../src/base/text.ts'
import { type AnswerOf, givingRoleAttribute, type PortcullisApi } from '../../../../src/client/index.ts'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { type Connection, withConnection } from '../../connection/connect.ts'
import type { CONNECTION_OPTIONS } from '../../connection/connection-options.ts'

type Call = CommandCall<keyof typeof CONNECTION_OPTIONS>
type ReachCall = CommandCall<keyof typeof CONNECTION_OPTIONS | 'all'>
type Reach = AnswerOf<PortcullisApi['GET /reach']>['data']

const PAGE = '200'
const FIRST = '50'

/** Tells who reaches a service. Throws `UsageError` without one. */
export function askWho(call: ReachCall): Promise<Answer> {
  const service = operandOf(call, 'who takes SERVICE, such as: portcullis who payroll')
  return askReachOf(call, { service })
}

/** Tells what an identity reaches. Throws `UsageError` without one. */
export function askReach(call: ReachCall): Promise<Answer> {
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

function reachText({ kind, entity, counts }: Reach, reached: Reach['reached'], isCut: boolean): string {
  const name = `'${visibleLine(entity.name)}'`
  const { dial, bind } = counts
  const head =
    kind === 'identities'
      ? `${name} may dial ${counted(dial, 'service')} and bind ${counted(bind, 'service')}, posture aside.`
      : `${name} may be dialed by ${dial} and bound by ${bind} identities, posture aside.`
  const lines = reached.map(({ name: other, types, policies }) => {
    const by = policies.map((policy) => `${visibleLine(policy.name)}${policy.isGuarded ? ' if posture passes' : ''}`)
    return `  ${visibleLine(other)}: ${types.join(' and ')} by ${listed(by)}`
  })
  return [head, ...lines, ...(isCut ? ['  and others: --all lists them'] : [])].join('\n')
}

/** Tells what would come of giving a role attribute to everybody who has another one. Throws `UsageError` without both. */
export function askWhatIf(call: Call): Promise<Answer> {
  const [holders, roleAttribute] = call.operands.map((one) => one.replace(/^#/, ''))
  if (holders === undefined || roleAttribute === undefined || call.operands.length !== 2) {
    throw new UsageError('what-if takes GROUP and ROLE, such as: portcullis what-if berlin finance')
  }
  return withConnection(call, async ({ management, portcullis }: Connection) => {
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
    const more = gained > lines.length ? [`  and ${gained - lines.length} more`] : []
    return { text: [head.replace(/accesss/, 'accesses'), ...lines, ...more].join('\n'), value: data }
  })
}

function operandOf({ operands }: ReachCall, usage: string): string {
  const [one] = operands
  if (one === undefined || operands.length !== 1) throw new UsageError(usage)
  return one
}
