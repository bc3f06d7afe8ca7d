import { grouped } from '../../base/collections.ts'
import { type Semantic, selects } from '../../base/roles.ts'
import { canonicalJson } from '../../base/text.ts'
import type { AccessSince } from '../access/explain/explanation.rules.ts'
import { isDisabled } from '../authority/authority.rules.ts'
import { commitOf } from './audit-trail.rules.ts'

/** The kinds of entity that service policies grant by. */
export type GrantingKind = 'identities' | 'services' | 'service-policies'

/** A record of the audit trail, as far as it decides what a service policy grants. */
export interface DecidingRecord {
  /** Ids sort as text in the order of commits; those of one commit differ in the last digits alone. */
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
  readonly kind: GrantingKind
  readonly entityId: string
  readonly changes: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>
}

type Fields = Readonly<Record<string, unknown>>
/** The entities of a grant as they were at some time; undefined for one that was not there. */
type GrantState = Readonly<Record<GrantingKind, Fields | undefined>>

/** The fields by which the state of each kind decides. */
const DECIDING_FIELDS: Readonly<Record<GrantingKind, readonly string[]>> = {
  identities: ['id', 'roleAttributes', 'disabledAt', 'disabledUntil'],
  services: ['id', 'roleAttributes'],
  'service-policies': ['id', 'type', 'semantic', 'identityRoles', 'serviceRoles'],
}

/** A question of since when a service policy grants. */
export interface GrantHistory {
  readonly type: 'Dial' | 'Bind'
  /** Epoch ms. */
  readonly now: number
  readonly state: GrantState
  /** The records of the three entities, the latest first. */
  readonly records: readonly DecidingRecord[]
  /** The instant (epoch ms) from which on the records are all there. */
  readonly since: number
  /** The values of fields that nobody has written, which records leave out. */
  readonly defaults: Readonly<Record<GrantingKind, Fields>>
}

/** The beginning of a grant, with the id of the record that tells of it. */
export type GrantBeginning = Pick<AccessSince, 'by' | 'at'> & { readonly recordId: string | null }

/**
 * Finds since when a service policy grants without a break, by taking records back one commit after the other until it does
 * not. Undefined where it does not grant now. Where records are missing, or say too little, it says what it knows for sure.
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
  const semantic: Semantic = policy.semantic === 'AllOf' ? 'AllOf' : 'AnyOf'
  return (
    !isDisabled(disablingOf(identity), at) &&
    selects({ roles: textsOf(policy.identityRoles), semantic }, entityOf(identity)) &&
    selects({ roles: textsOf(policy.serviceRoles), semantic }, entityOf(service))
  )
}

/** The instant between two at which the time ended for which the identity was disabled. */
function enabledByTime({ identities: identity }: GrantState, from: number, to: number): number | undefined {
  if (identity === undefined) return undefined
  const { disabledAt, disabledUntil } = disablingOf(identity)
  const hasEnded = disabledAt !== null && disabledUntil !== null && disabledUntil > from && disabledUntil <= to
  return hasEnded ? disabledUntil : undefined
}

/** Reports whether a state is what a record says it became: otherwise something between is not told. */
function leadsTo(state: GrantState, { type, kind, changes }: DecidingRecord, defaults: Fields): boolean {
  const entity = state[kind]
  if (type === 'entity.deleted' || entity === undefined) return (type === 'entity.deleted') === (entity === undefined)
  return DECIDING_FIELDS[kind].every((field) => {
    const { after = defaults[field] ?? null } = changes[field] ?? { after: entity[field] }
    return isDigest(after) || canonicalJson(after) === canonicalJson(entity[field])
  })
}

/** The state before a record; undefined where it tells that by a digest alone. */
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

/** Of long values a record tells a digest, where the field has a list. */
function isDigest(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('sha256:')
}

function entityOf({ id, roleAttributes }: Fields) {
  return { id: typeof id === 'string' ? id : '', roleAttributes: textsOf(roleAttributes) }
}

function disablingOf({ disabledAt, disabledUntil }: Fields) {
  const instantOf = (value: unknown) => (typeof value === 'number' ? value : null)
  return { disabledAt: instantOf(disabledAt), disabledUntil: instantOf(disabledUntil) }
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
