import type { PortcullisApi, RequestOf } from '../../../../../src/client/index.ts'
import type { Chip } from '../parts/chip.ts'

/** The body of a simulation. */
export type Simulation = NonNullable<RequestOf<PortcullisApi['POST /simulate']>['body']>

/** A service policy during an edit: role lists as chips, which show names and send ids. */
export interface PolicyDraft {
  readonly name: string
  readonly type: 'Dial' | 'Bind'
  readonly semantic: 'AllOf' | 'AnyOf'
  readonly identityRoles: readonly Chip[]
  readonly serviceRoles: readonly Chip[]
  readonly postureCheckRoles: readonly Chip[]
}

/** A role attribute for every holder of another role attribute. */
export interface GroupChange {
  readonly kind: 'group'
  readonly action: 'give'
  /** Both without `#`. */
  readonly holders: string
  readonly roleAttribute: string
  /** The number of holders without the new role attribute. */
  readonly count: number
  /** The changes of policies that grant and deny the same. */
  readonly tried: Simulation['changes']
}

/** A change that is tried before it is made. */
export type Change =
  | GroupChange
  | {
      readonly kind: 'identities' | 'services'
      readonly action: 'update'
      readonly id: string
      readonly name: string
      /** The role attributes before. */
      readonly before: readonly string[]
      readonly roleAttributes: readonly string[]
    }
  | {
      readonly kind: 'service-policies'
      readonly action: 'create'
      /** Distinguishes new policies. */
      readonly number: number
      readonly policy: PolicyDraft
    }
  | {
      readonly kind: 'service-policies'
      readonly action: 'update'
      readonly id: string
      readonly name: string
      /** The policy when the change began. */
      readonly before: PolicyDraft
      readonly policy: PolicyDraft
    }
  | {
      readonly kind: 'service-policies'
      readonly action: 'delete'
      readonly id: string
      readonly name: string
      readonly before: PolicyDraft
    }

/** A policy with nothing in it yet. */
export const EMPTY_POLICY: PolicyDraft = {
  name: '',
  type: 'Dial',
  semantic: 'AnyOf',
  identityRoles: [],
  serviceRoles: [],
  postureCheckRoles: [],
}

/** The body of the request that makes a policy so. */
export function policyBody({ name, type, semantic, ...roles }: PolicyDraft) {
  return {
    name,
    type,
    semantic,
    identityRoles: roles.identityRoles.map(({ value }) => value),
    serviceRoles: roles.serviceRoles.map(({ value }) => value),
    postureCheckRoles: roles.postureCheckRoles.map(({ value }) => value),
  }
}

/** A change in the form of a simulation. A new policy without a name gets a name that no policy has. */
export function simulated(change: Change): Simulation['changes'] {
  if (change.kind === 'group') return change.tried
  return [simulatedEntity(change)]
}

function simulatedEntity(change: Exclude<Change, GroupChange>): Simulation['changes'][number] {
  if (change.action === 'delete') return { kind: 'service-policies', action: 'delete', id: change.id }
  if (change.kind !== 'service-policies')
    return { kind: change.kind, action: 'update', id: change.id, body: { roleAttributes: [...change.roleAttributes] } }
  const { name } = change.policy
  const body = policyBody({
    ...change.policy,
    name: name.trim() === '' ? `new policy ${change.action === 'create' ? change.number : change.id}` : name,
  })
  if (change.action === 'create') return { kind: 'service-policies', action: 'create', body }
  return { kind: 'service-policies', action: 'update', id: change.id, body }
}

/** How many entities changes write. */
export function countWrites(changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + (change.kind === 'group' ? change.count : 1), 0)
}

/** Whether a change says enough to be made. */
export function isWhole(change: Change): boolean {
  return !('policy' in change) || change.policy.name.trim() !== ''
}

/** A policy that is not there yet. */
export function newPolicy(policy: PolicyDraft): Change {
  return { kind: 'service-policies', action: 'create', number: Date.now(), policy }
}

/** Role attributes that a change adds to an entity, and role attributes that it removes. */
interface AttributeDifference {
  readonly added: readonly string[]
  readonly taken: readonly string[]
}

export function differenceOf({
  before,
  roleAttributes,
}: {
  readonly before: readonly string[]
  readonly roleAttributes: readonly string[]
}): AttributeDifference {
  return {
    added: roleAttributes.filter((attribute) => !before.includes(attribute)),
    taken: before.filter((attribute) => !roleAttributes.includes(attribute)),
  }
}

/** The role attributes of an entity after a change; `now` are the present ones. */
export function changedBy({ added, taken }: AttributeDifference, now: readonly string[]): string[] {
  return [...new Set([...now, ...added])].filter((attribute) => !taken.includes(attribute))
}

/** A change as a command for a shell, with the token of a session in a variable. */
export function curlOf(change: Change, controller: string): string {
  if (change.kind === 'group')
    return commentOf(`Give #${change.roleAttribute} to each identity that has #${change.holders}.`)
  const path = change.action === 'create' ? change.kind : `${change.kind}/${encodeURIComponent(change.id)}`
  const method = { create: 'POST', update: 'PATCH', delete: 'DELETE' }[change.action]
  const words = [
    'curl',
    '-X',
    method,
    quoted(`${controller}/edge/management/v1/${path}`),
    '-H',
    '"zt-session: $ZT_SESSION"',
  ]
  if (change.action === 'delete') return words.join(' ')
  const body =
    change.kind === 'service-policies' ? policyBody(change.policy) : { roleAttributes: change.roleAttributes }
  return [...words, '-H', "'content-type: application/json'", '--data', quoted(JSON.stringify(body))].join(' ')
}

/** A text as one line that a shell passes over: a name with a line end would go on as a command. */
function commentOf(text: string): string {
  return `# ${text.replace(/[\r\n]+/g, ' ')}`
}

/** A text as one word of a shell, whatever its characters. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
