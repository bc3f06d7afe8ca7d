import { policyOfGrant } from '../../../../../src/api-calls.ts'
import type { ApiClient, ManagementApi } from '../../../../../src/client/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { readDuration } from '../../input/durations.ts'

/** Option for the posture checks of a grant. */
export const POSTURE = {
  value: 'ROLES',
  summary: 'posture checks that must pass, such as #corp, with commas between',
} as const

/** Reads the roles of posture checks; undefined without the option. */
export function postureRoles(typed: string | undefined): string[] | undefined {
  return typed?.split(',').map((role) => role.trim())
}

/** The options of `portcullis grant`. */
export const GRANT_OPTIONS = {
  ...CONNECTION_OPTIONS,
  for: { value: 'DURATION', summary: 'how long the access lasts, such as 30m, 2h or 7d' },
  until: { value: 'INSTANT', summary: 'when it ends, RFC 3339, instead of --for' },
  from: { value: 'INSTANT', summary: 'when it begins, RFC 3339; default: at once' },
  reason: { value: 'TEXT', summary: 'why, for people: explain and the audit trail show it' },
  posture: POSTURE,
  name: { value: 'NAME', summary: 'of the service policy; default: the grant and its end' },
  end: { summary: 'end the grants of a role attribute now, instead of --for' },
} as const

/** `portcullis grant`. */
export const GRANT = defineCommand({
  operands: 'IDENTITY|#ATTRIBUTE dial|bind SERVICE|#ATTRIBUTE, or IDENTITY attribute ATTRIBUTE',
  words: ['dial', 'bind', 'attribute'],
  options: GRANT_OPTIONS,
  hasJson: true,
  details: `Gives access that ends by itself: makes a service policy with a term. At its end the sessions and circuits by it end too,
whether or not this machine runs. To end it earlier, delete the policy; to move its end, patch its until. With 'attribute' the identity
gets a role attribute for that time; --end ends it. ${CONNECTION_DETAILS}`,
  examples: [
    "portcullis grant laptop dial prod-db --for 2h --reason 'INC-7'",
    "portcullis grant laptop attribute finance --for 2h --reason 'INC-8'",
    "portcullis grant '#on-call' dial '#prod' --from 2026-12-24T18:00:00Z --until 2026-12-27T08:00:00Z",
  ],
  run: grant,
})

type GrantCall = CommandCall<keyof typeof GRANT_OPTIONS>
type Management = ApiClient<ManagementApi>

/** The term of a grant, RFC 3339. */
interface Term {
  readonly from: string | undefined
  readonly until: string
}

/** Makes the service policy of a grant, or gives a role attribute. Throws {@link UsageError}. */
async function grant(call: GrantCall): Promise<Answer> {
  const { options, operands } = call
  const [who, type, what] = operands
  if (who !== undefined && type === 'attribute' && what !== undefined && operands.length === 3) {
    if (options.typed('posture') !== undefined || options.typed('name') !== undefined) {
      throw new UsageError('--posture and --name are of service policies: a role attribute has neither')
    }
    return options.flag('end') ? endAttribute(call, who, what) : grantAttribute(call, who, what)
  }
  if (options.flag('end')) throw new UsageError('--end ends a role attribute: delete the service policy instead')
  if (who === undefined || what === undefined || operands.length !== 3 || (type !== 'dial' && type !== 'bind')) {
    throw new UsageError(
      'grant takes IDENTITY dial|bind SERVICE, such as: portcullis grant laptop dial prod-db --for 2h',
    )
  }
  const { from, until } = termOf(call)
  const reason = options.typed('reason')
  const postureCheckRoles = postureRoles(options.typed('posture')) ?? []
  const granted = await withConnection(call, async ({ management }) => {
    const policy = policyOfGrant({
      ...{ who, what, type: type === 'dial' ? 'Dial' : 'Bind', postureCheckRoles, startsAt: from, until, reason },
      identityRole: await roleOf(management, 'identities', who),
      serviceRole: await roleOf(management, 'services', what),
    })
    const body = { ...policy, name: options.typed('name') ?? policy.name }
    const { id } = (await management.call('POST /service-policies', { body })).data
    return { id, ...body }
  })
  const begin = from === undefined ? '' : ` from ${from}`
  call.terminal.tell(
    `${who} may ${type} ${what}${begin} until ${until}. To end it: portcullis service-policies delete ${granted.id}`,
  )
  return { text: granted.id, value: granted }
}

/** Gives an identity a role attribute for some time. */
async function grantAttribute(call: GrantCall, who: string, attribute: string): Promise<Answer> {
  const { from: startsAt, until } = termOf(call)
  const body = { attribute, startsAt, until, reason: call.options.typed('reason') }
  const given = await withConnection(call, async ({ management, portcullis }) => {
    const { id } = await entityOf(management, 'identities', who)
    return (await portcullis.call('POST /identities/{id}/attribute-grants', { params: { id }, body })).data
  })
  const begin = startsAt === undefined ? '' : ` from ${startsAt}`
  call.terminal.tell(
    `${who} has ${attribute}${begin} until ${until}. To end it: portcullis grant ${who} attribute ${attribute} --end`,
  )
  return { text: given.id, value: given }
}

/** Ends the grants of a role attribute. */
async function endAttribute(call: GrantCall, who: string, attribute: string): Promise<Answer> {
  const ended = await withConnection(call, async ({ management, portcullis }) => {
    const { id, attributeGrants = [] } = await entityOf(management, 'identities', who)
    const grants = attributeGrants.filter((grant) => grant.attribute === attribute)
    for (const { id: grantId } of grants) {
      await portcullis.call('DELETE /identities/{id}/attribute-grants/{grantId}', { params: { id, grantId } })
    }
    return grants.map((grant) => grant.id)
  })
  if (ended.length === 0) throw new UsageError(`${who} has no grant of the role attribute '${attribute}'`)
  return { text: ended.join('\n'), value: { ended } }
}

/** Reads the term that the options give. Throws {@link UsageError} for a term that is over, or ends before it begins. */
function termOf({ options }: GrantCall): Term {
  const now = Date.now()
  const lasting = options.typed('for')
  const typed = options.typed('until')
  if ((lasting === undefined) === (typed === undefined)) {
    throw new UsageError('grant needs --for or --until, such as --for 2h: access that does not end is a service policy')
  }
  const from = instantOf('--from', options.typed('from'))
  const begin = from ?? now
  const until =
    lasting === undefined ? instantOf('--until', typed) : begin + readDuration({ name: '--for', value: lasting })
  if (until === undefined || until <= now) throw new UsageError(`--until is past: ${typed}`)
  if (until <= begin) throw new UsageError('--until must be later than --from')
  return { from: from === undefined ? undefined : new Date(from).toISOString(), until: new Date(until).toISOString() }
}

/** The epoch ms of an instant with its offset; undefined where none was given. Throws {@link UsageError}. */
function instantOf(name: string, typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined
  const at = /T.*(Z|[+-]\d\d:\d\d)$/.test(typed) ? Date.parse(typed) : Number.NaN
  if (Number.isNaN(at)) throw new UsageError(`${name} takes an instant such as 2026-12-24T18:00:00Z, not '${typed}'`)
  return at
}

/** The role entry of an attribute, or of the entity of a name or id. Throws {@link UsageError} for an unknown name. */
async function roleOf(management: Management, kind: 'identities' | 'services', named: string): Promise<string> {
  return named.startsWith('#') ? named : `@${(await entityOf(management, kind, named)).id}`
}

/** The entity of a name or id. Throws {@link UsageError} for an unknown name. */
async function entityOf(management: Management, kind: 'identities' | 'services', named: string): Promise<Found> {
  const text = JSON.stringify(named)
  const query = { filter: `name = ${text} or id = ${text}`, limit: 1 }
  const { data } =
    kind === 'identities'
      ? await management.call('GET /identities', { query })
      : await management.call('GET /services', { query })
  const [found] = data
  if (found === undefined) {
    throw new UsageError(`there is no ${kind === 'identities' ? 'identity' : 'service'} of the name or id '${named}'`)
  }
  return found
}

interface Found {
  readonly id: string
  readonly attributeGrants?: readonly { readonly id: string; readonly attribute: string }[] | undefined
}
