import { isStorable } from '../../base/text.ts'

/** A holder of rights, as an administrator or by delegated permissions. */
export interface RightsHolder {
  readonly isAdmin: boolean
  readonly isDefaultAdmin: boolean
  readonly permissions: readonly string[]
}

/** An action on the entities of one kind, which an identity may hold as a delegated permission (`service.read`). */
export interface Permission {
  readonly entity: string
  /** `all` is for callers with every action on them. */
  readonly action: 'read' | 'create' | 'update' | 'delete' | 'all'
  /** True for reading that makes other parties work: the permission to read everything does not include it. */
  readonly asksOthers?: true
}

/** Reports whether delegated permissions allow an action: by the whole kind, the single action, or the permission to read everything. */
export function permits(permissions: readonly string[], { entity, action, asksOthers }: Permission): boolean {
  if (action === 'read' && asksOthers !== true && permissions.includes('admin_readonly')) return true
  return permissions.includes(entity) || (action !== 'all' && permissions.includes(`${entity}.${action}`))
}

/** Reports whether an identity has any right in the management API beyond those of every identity. */
export function hasRights(identity: RightsHolder): boolean {
  return isAdministrator(identity) || identity.permissions.length > 0
}

/**
 * Reports whether `holder` has every right that `other` has. Only a holder that covers an identity, to the end of its rights, may add or
 * remove its credentials: by a login as that identity the holder gains no right.
 *
 * @example
 * covers({ isAdmin: false, isDefaultAdmin: false, permissions: ['service'] },
 *        { isAdmin: false, isDefaultAdmin: false, permissions: ['service.read'] }) // true
 */
export function covers(holder: RightsHolder, other: RightsHolder): boolean {
  if (isAdministrator(holder)) return true
  if (isAdministrator(other)) return false
  return other.permissions.every((permission) => includesPermission(holder.permissions, permission))
}

function includesPermission(held: readonly string[], permission: string): boolean {
  const [entity = ''] = permission.split('.')
  if (held.includes(permission) || held.includes(entity)) return true
  return permission.endsWith('.read') && held.includes('admin_readonly')
}

/**
 * Reports whether an identity may do everything: an admin, or the default admin, which cannot lose that right. This is the only place that
 * decides it.
 */
export function isAdministrator(identity: { readonly isAdmin: boolean; readonly isDefaultAdmin: boolean }): boolean {
  return identity.isAdmin || identity.isDefaultAdmin
}

/** The rights of an identity, and the instant (epoch ms) at which they end by themselves; null where they last. */
export interface TermedRights extends RightsHolder {
  readonly rightsUntil: number | null
}

/** Answers a holder with the rights that it has at `now` (epoch ms): none from `rightsUntil` on. */
export function withRightsAt<T extends TermedRights>(holder: T, now: number): T {
  if (holder.rightsUntil === null || now < holder.rightsUntil) return holder
  return { ...holder, isAdmin: false, permissions: [] }
}

/** Reports whether a holder has every right that another has, for as long at least: a right that lasts longer is a right that it lacks. */
export function coversToTheEnd(holder: TermedRights, other: TermedRights): boolean {
  return covers(holder, other) && !(hasRights(other) && isLater(other.rightsUntil, holder.rightsUntil))
}

/** Reports whether a write gives a holder rights, or more time with them. */
export function givesRights(before: TermedRights | undefined, after: TermedRights): boolean {
  return hasRights(after) && (before === undefined || !coversToTheEnd(before, after))
}

/** Reports whether one end of rights is later than another. Null is no end. */
export function isLater(end: number | null, other: number | null): boolean {
  return other !== null && (end === null || end > other)
}

/** The disabling of an identity: by callers, and by the directory of the host (epoch ms). */
export interface Disabling {
  readonly disabledAt: number | null
  readonly disabledUntil: number | null
  readonly directoryDisabledAt: number | null
}

/**
 * Reports whether an identity is disabled at `now` (ms): from `disabledAt` on, until `disabledUntil` or indefinitely, and while the directory
 * of the host disables it.
 */
export function isDisabled(identity: Disabling, now: number): boolean {
  if (identity.directoryDisabledAt !== null) return true
  return identity.disabledAt !== null && (identity.disabledUntil === null || now < identity.disabledUntil)
}

/** When an identity that is disabled is enabled again by itself (epoch ms); null where nothing but an action enables it. */
export function enabledAt({ disabledUntil, directoryDisabledAt }: Disabling): number | null {
  return directoryDisabledAt === null ? disabledUntil : null
}

/** A role attribute that an identity has for some time. Instants are RFC 3339. */
export interface AttributeGrant {
  readonly id: string
  readonly attribute: string
  /** Null where it began at once. */
  readonly startsAt: string | null
  readonly until: string
  readonly reason: string | null
  /** The name of the identity that gave it; null for the controller and its host. */
  readonly givenBy: string | null
  /** As it was written: by the process whose clock reached `startsAt` first. */
  readonly phase: 'coming' | 'in-force'
}

const NO_GRANTS: readonly AttributeGrant[] = []
/** Grants that one identity has at most. */
export const MOST_GRANTS = 50

/**
 * The grants of an identity that have not ended at `now` (epoch ms). A grant that has begun stays begun. A grant that is coming stays so by
 * `written`; by `due` it begins where its instant has come.
 */
export function grantsAt(
  { attributeGrants }: AttributeHolder,
  now: number,
  beginning: 'written' | 'due',
): readonly AttributeGrant[] {
  // Most entities have none, and an index is built of all.
  if (!Array.isArray(attributeGrants)) return NO_GRANTS
  const grants: readonly AttributeGrant[] = attributeGrants
  const hasBegun = ({ phase, startsAt }: AttributeGrant) =>
    phase === 'in-force' || (beginning === 'due' && (startsAt === null || Date.parse(startsAt) <= now))
  return grants
    .filter(({ until }) => now < Date.parse(until))
    .map((grant) => ({ ...grant, phase: hasBegun(grant) ? 'in-force' : 'coming' }))
}

/** The fields of an identity that follow from its grants. */
export interface GrantFields {
  /** Null without any. */
  readonly attributeGrants: readonly AttributeGrant[] | null
  /** The role attributes of the grants in force, sorted. Null without any. */
  readonly grantedAttributes: readonly string[] | null
  /** When the next grant begins or ends, epoch ms. */
  readonly grantsDueAt: number | null
}

/** The fields of an identity with grants at `now` (epoch ms). Grants begin and end where their instant has come. */
export function grantFields(attributeGrants: readonly AttributeGrant[] | null, now: number): GrantFields {
  const grants = grantsAt({ attributeGrants }, now, 'due')
  if (grants.length === 0) return { attributeGrants: null, grantedAttributes: null, grantsDueAt: null }
  const held = [...new Set(grants.filter(isInForce).map(({ attribute }) => attribute))].sort()
  const next = grants.map(({ phase, startsAt, until }) => Date.parse((phase === 'coming' ? startsAt : null) ?? until))
  return {
    attributeGrants: grants,
    grantedAttributes: held.length === 0 ? null : held,
    grantsDueAt: Math.min(...next),
  }
}

/** The names of these fields. */
export const GRANT_FIELDS: readonly string[] = [
  'attributeGrants',
  'grantedAttributes',
  'grantsDueAt',
] satisfies readonly (keyof GrantFields)[]

function isInForce({ phase }: AttributeGrant): boolean {
  return phase === 'in-force'
}

/** An entity with its role attributes, as far as it was read. Only identities have others than the stored ones. */
export interface AttributeHolder {
  readonly roleAttributes?: unknown
  readonly directoryAttributes?: unknown
  readonly directoryUntil?: unknown
  readonly claimAttributes?: unknown
  readonly attributeGrants?: unknown
}

/** Role attributes that one answer of a directory, or one token, gives at most. */
export const MOST_GIVEN = 500
const LONGEST_GIVEN = 1024

/** Reports whether a text of a directory or of a token may be a role attribute: 1 to 1,024 characters that do not begin with `#` or `@`. */
export function isGivenAttribute(text: string): boolean {
  return text !== '' && text.length <= LONGEST_GIVEN && isStorable(text) && !/^[#@]/.test(text)
}

/** The role attributes that the directory of the host gives: at `now` (epoch ms), or by the last write of the identity. */
export function attributesGiven(entity: AttributeHolder, now = Number.NEGATIVE_INFINITY): readonly string[] {
  const { directoryAttributes: given, directoryUntil: until } = entity
  return Array.isArray(given) && !(typeof until === 'number' && until <= now) ? given : []
}

/**
 * The role attributes by which policies select an entity: the stored ones, those of claims, the directory's and those of grants at `now`
 * (epoch ms), or by the last write.
 */
export function attributesHeld(entity: AttributeHolder, now = Number.NEGATIVE_INFINITY): readonly string[] {
  return together(entity, attributesGiven(entity, now), grantsAt(entity, now, 'written').filter(isInForce))
}

/** Answers an identity without the grants that have ended at `now` (epoch ms): the write that ends them may be late. */
export function withGrantsAt<T extends AttributeHolder>(holder: T, now: number): T {
  if (!Array.isArray(holder.attributeGrants)) return holder
  return { ...holder, attributeGrants: grantsAt(holder, now, 'written') }
}

/** The role attributes that an entity has or will have: plans, simulations and invariants count grants that begin later. */
export function attributesPossible(entity: AttributeHolder): readonly string[] {
  return together(entity, attributesGiven(entity), grantsAt(entity, Number.NEGATIVE_INFINITY, 'written'))
}

function together(
  { roleAttributes, claimAttributes }: AttributeHolder,
  given: readonly string[],
  grants: readonly AttributeGrant[],
): readonly string[] {
  const own: readonly string[] = Array.isArray(roleAttributes) ? roleAttributes : []
  const claimed: readonly string[] = Array.isArray(claimAttributes) ? claimAttributes : []
  const others = [...claimed, ...given, ...grants.map(({ attribute }) => attribute)]
  return others.length === 0 ? own : [...new Set([...own, ...others])]
}

/** The next instant after `now` (epoch ms) at which an entity loses role attributes without a write; undefined where none does. */
export function nextLossAt(entity: AttributeHolder, now: number): number | undefined {
  const { directoryUntil } = entity
  const ends = grantsAt(entity, now, 'written')
    .filter(isInForce)
    .map(({ until }) => Date.parse(until))
  if (typeof directoryUntil === 'number' && directoryUntil > now) ends.push(directoryUntil)
  return ends.length === 0 ? undefined : Math.min(...ends)
}
