import { grouped } from '../../base/collections.ts'
import { isDigest, textsIn } from '../../base/members.ts'
import { type Semantic, selects } from '../../base/roles.ts'
import { canonicalJson } from '../../base/text.ts'
import type { AccessSince } from '../access/explain/explanation.rules.ts'
import { isInForceBy } from '../access/policy-term.rules.ts'
import { attributesHeld, isDisabled } from '../authority/authority.rules.ts'
import { commitOf } from './audit-trail.rules.ts'

/** The kinds of entities that decide a grant of a service policy. */
export type GrantingKind = 'identities' | 'services' | 'service-policies'

/** The parts of an audit record that decide a grant of a service policy. */
export interface DecidingRecord {
  /** Ids sort as text in the order of commits; ids of one commit differ only in the last digits. */
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
  readonly kind: GrantingKind
  readonly entityId: string
  readonly changes: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>
}

type Fields = Readonly<Record<string, unknown>>
/** The entities of a grant at some time; undefined for an entity that did not exist. */
type GrantState = Readonly<Record<GrantingKind, Fields | undefined>>

/** The fields of each kind that decide a grant. */
const DECIDING_FIELDS: Readonly<Record<GrantingKind, readonly string[]>> = {
  identities: [
    ...['id', 'roleAttributes', 'directoryAttributes', 'claimAttributes', 'grantedAttributes'],
    ...['disabledAt', 'disabledUntil', 'directoryDisabledAt'],
  ],
  services: ['id', 'roleAttributes'],
  'service-policies': ['id', 'type', 'semantic', 'identityRoles', 'serviceRoles', 'phase'],
}

/** The question of when a grant of a service policy began. */
export interface GrantHistory {
  readonly type: 'Dial' | 'Bind'
  /** Epoch ms. */
  readonly now: number
  readonly state: GrantState
  /** The records of the three entities, the latest first. */
  readonly records: readonly DecidingRecord[]
  /** The instant (epoch ms) from which on the records are complete. */
  readonly since: number
  /** The default values of fields, which records leave out. */
  readonly defaults: Readonly<Record<GrantingKind, Fields>>
}

/** The beginning of a grant, with the id of its audit record. */
export type GrantBeginning = Pick<AccessSince, 'by' | 'at'> & { readonly recordId: string | null }

/**
 * Finds the beginning of an unbroken grant of a service policy, by reverting records commit by commit until the policy does not grant.
 * Undefined for a policy that does not grant now. When records are missing or incomplete, it answers the certain part.
 */
export function grantedSince({ type, now, state, records, since, defaults }: GrantHistory): GrantBeginning | undefined {
  let later: GrantState = state
  let known = now
  if (!grants(later, type, now)) return undefined
  const already = (at: number): GrantBeginning => ({ by: 'before', at, recordId: null })
  for (const commit of commitsOf(records)) {
    const { at } = commit[0] ?? { at: since }
    const enabled = enabledByTime(later, at, known)
    if (enabled !== undefined) return { by: 'time', at: enabled, recordId: null }
    let beginning: string | undefined
    for (const record of commit) {
      if (!leadsTo(later, record, defaults[record.kind])) return already(known)
      const earlier = undone(later, record, defaults[record.kind])
      if (earlier === undefined) return already(at)
      if (grants(later, type, at) && !grants(earlier, type, at)) beginning ??= record.id
      later = earlier
    }
    if (!grants(later, type, at)) return { by: 'change', at, recordId: beginning ?? commit[0]?.id ?? null }
    known = at
  }
  const enabled = enabledByTime(later, since, known)
  return enabled === undefined ? already(Math.min(since, known)) : { by: 'time', at: enabled, recordId: null }
}

function commitsOf(records: readonly DecidingRecord[]): readonly (readonly DecidingRecord[])[] {
  return [...grouped(records, ({ id }) => commitOf(id)).values()]
}

/** Reports whether a service policy of the type selects both, and the identity is not disabled at an instant. */
function grants(state: GrantState, type: string, at: number): boolean {
  const { identities: identity, services: service, 'service-policies': policy } = state
  if (identity === undefined || service === undefined || policy === undefined || policy.type !== type) return false
  if (!isInForceBy(policy.phase)) return false
  const semantic: Semantic = policy.semantic === 'AllOf' ? 'AllOf' : 'AnyOf'
  return (
    !isDisabled(disablingOf(identity), at) &&
    selects({ roles: textsIn(policy.identityRoles), semantic }, entityOf(identity)) &&
    selects({ roles: textsIn(policy.serviceRoles), semantic }, entityOf(service))
  )
}

/** The instant between two others at which the identity's disabling ended by time. */
function enabledByTime({ identities: identity }: GrantState, from: number, to: number): number | undefined {
  if (identity === undefined) return undefined
  const { disabledAt, disabledUntil } = disablingOf(identity)
  const hasEnded = disabledAt !== null && disabledUntil !== null && disabledUntil > from && disabledUntil <= to
  return hasEnded ? disabledUntil : undefined
}

/** Reports whether a state is the result of a record; otherwise a record in between is missing. */
function leadsTo(state: GrantState, { type, kind, changes }: DecidingRecord, defaults: Fields): boolean {
  const entity = state[kind]
  if (type === 'entity.deleted' || entity === undefined) return (type === 'entity.deleted') === (entity === undefined)
  return DECIDING_FIELDS[kind].every((field) => {
    const { after = defaults[field] ?? null } = changes[field] ?? { after: entity[field] }
    return isDigest(after) || canonicalJson(after) === canonicalJson(entity[field])
  })
}

/** The state before a record; undefined when the record holds only a digest of it. */
function undone(
  state: GrantState,
  { type, kind, entityId, changes }: DecidingRecord,
  defaults: Fields,
): GrantState | undefined {
  if (type === 'entity.created') return { ...state, [kind]: undefined }
  const before: Record<string, unknown> = { ...(state[kind] ?? { ...defaults, id: entityId }) }
  for (const field of DECIDING_FIELDS[kind]) {
    if (changes[field] === undefined) continue
    const { before: was = defaults[field] ?? null } = changes[field]
    if (isDigest(was)) return undefined
    before[field] = was
  }
  return { ...state, [kind]: before }
}

function entityOf({ id, roleAttributes, directoryAttributes, claimAttributes, grantedAttributes }: Fields) {
  const own = [...textsIn(roleAttributes), ...textsIn(grantedAttributes)]
  const held = attributesHeld({ roleAttributes: own, directoryAttributes, claimAttributes })
  return { id: typeof id === 'string' ? id : '', roleAttributes: held }
}

function disablingOf({ disabledAt, disabledUntil, directoryDisabledAt }: Fields) {
  const instantOf = (value: unknown) => (typeof value === 'number' ? value : null)
  return {
    disabledAt: instantOf(disabledAt),
    disabledUntil: instantOf(disabledUntil),
    directoryDisabledAt: instantOf(directoryDisabledAt),
  }
}
