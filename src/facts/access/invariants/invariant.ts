import type { RoleSelector, Semantic } from '../../../base/roles.ts'
import { listed, quoted } from '../../../base/text.ts'
import type { AccessType } from '../index/index.ts'
import type { PostureCheck, PostureData } from '../posture/rules/index.ts'

/** Role lists of the exceptions of an invariant. */
export interface Exceptions {
  readonly identity?: RoleSelector | undefined
  readonly service?: RoleSelector | undefined
  /** A service policy is allowed that demands all checks that these entries select, and at least one check by each entry. */
  readonly posture?: readonly string[] | undefined
}

/** No identity that `identity` selects ever has access of the type to a service that `service` selects. */
export interface Invariant {
  readonly identity: RoleSelector
  readonly type: AccessType
  readonly service: RoleSelector
  /** When given, access counts only if an edge router that this selects can carry it. */
  readonly via?: RoleSelector | undefined
  readonly unless?: Exceptions | undefined
  /** The state of the endpoint; absent for any state, in which every posture check may pass. */
  readonly posture?: EndpointPosture | undefined
}

/** The state of an endpoint in one API session at an instant (epoch ms). */
export interface EndpointPosture {
  readonly data: PostureData
  readonly apiSessionId: string
  readonly at: number
}

/** An existing entity, with its role attributes. */
export interface PresentEntity {
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
}

/** An existing posture check. */
export interface PresentCheck {
  readonly id: string
  readonly roleAttributes: readonly string[]
  readonly check: PostureCheck
}

interface Policy {
  readonly id: string
  readonly name: string
  readonly semantic: Semantic
}

/** Lets identities dial or bind services, as long as the posture checks pass. */
export interface GrantingPolicy extends Policy {
  readonly type: AccessType
  readonly identityRoles: readonly string[]
  readonly serviceRoles: readonly string[]
  readonly postureCheckRoles: readonly string[]
}

/** Lets identities use edge routers. */
export interface IdentityRouterPolicy extends Policy {
  readonly identityRoles: readonly string[]
  readonly edgeRouterRoles: readonly string[]
}

/** Lets services be reached through edge routers. */
export interface ServiceRouterPolicy extends Policy {
  readonly serviceRoles: readonly string[]
  readonly edgeRouterRoles: readonly string[]
}

/** All policies and entities of a network. Edge routers and their policies only matter to `via`. */
export interface PolicySet {
  readonly servicePolicies: readonly GrantingPolicy[]
  readonly edgeRouterPolicies: readonly IdentityRouterPolicy[]
  readonly serviceEdgeRouterPolicies: readonly ServiceRouterPolicy[]
  readonly identities: readonly PresentEntity[]
  readonly services: readonly PresentEntity[]
  readonly edgeRouters: readonly PresentEntity[]
  readonly postureChecks: readonly PresentCheck[]
}

/** An existing or possible entity that breaks an invariant. A possible entity is described by its role attributes. */
export interface Witness {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly roleAttributes: readonly string[]
}

/** The smallest way to break an invariant: with the fewest role attributes in all. */
export interface Violation {
  readonly identity: Witness
  readonly service: Witness
  /** Only for an invariant with `via`. */
  readonly edgeRouter: Witness | undefined
  /** Policies that allow it: a service policy, and for `via` the policies that give both sides the edge router. */
  readonly policies: readonly Pick<Policy, 'id' | 'name'>[]
  /** The number of role attributes of all witnesses. */
  readonly size: number
  /** Existing entities that break it by the same policies; undefined when none does yet. */
  readonly present: { readonly identity: PresentEntity; readonly service: PresentEntity } | undefined
}

/**
 * A violation as sentences: the possible access, its policies, and whether an existing identity has it already.
 *
 * @example
 * console.log(violationText(invariant, violation))
 * // An identity with the role attribute 'contractor' can dial a service with the role attribute 'confidential',
 * // by the service policy 'everybody-dials'.
 */
export function violationText({ type }: Pick<Invariant, 'type'>, violation: Violation): string {
  const { identity, service, edgeRouter, policies, present } = violation
  const [policy, ...routing] = policies.map(({ name }) => quoted(name))
  const via = edgeRouter === undefined ? '' : ` through ${witnessText(edgeRouter, 'an edge router')}`
  const by = routing.length === 0 ? '' : `, with ${listed(routing)} for the edge router`
  const can = `${capital(witnessText(identity, 'an identity'))} can ${type.toLowerCase()} ${witnessText(service, 'a service')}`
  const first = `${can}${via}, by the service policy ${policy}${by}.`
  if (present === undefined) return `${first} No present identity can yet.`
  return `${first} ${quoted(present.identity.name)} already can reach ${quoted(present.service.name)} so.`
}

function witnessText({ name, roleAttributes }: Witness, kind: string): string {
  if (name !== undefined) return `${kind.replace(/^an? /, '')} ${quoted(name)}`.replace(/^/, 'the ')
  if (roleAttributes.length === 0) return `${kind} without any role attribute`
  return `${kind} with the role attribute${roleAttributes.length > 1 ? 's' : ''} ${listed(roleAttributes.map(quoted))}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
