import type { AccessType } from '../access-index/index.ts'
import type { PostureCheck, PostureData } from '../posture/index.ts'
import type { RoleSelector, Semantic } from '../roles.ts'

/** Lists of roles that except what they select. */
export interface Exceptions {
  readonly identity?: RoleSelector | undefined
  readonly service?: RoleSelector | undefined
  /** A service policy that demands all that each of these entries selects, and at least one check by each, is allowed. */
  readonly posture?: readonly string[] | undefined
}

/** No identity that `identity` selects ever has access of the type to a service that `service` selects. */
export interface Invariant {
  readonly identity: RoleSelector
  readonly type: AccessType
  readonly service: RoleSelector
  /** When given, access counts only where an edge router that this selects can carry it. */
  readonly via?: RoleSelector | undefined
  readonly unless?: Exceptions | undefined
  /** What is known of the endpoint; absent when it may be in any state, in which every posture check may pass. */
  readonly posture?: EndpointPosture | undefined
}

/** What is known of an endpoint in one API session at an instant (epoch ms). */
export interface EndpointPosture {
  readonly data: PostureData
  readonly apiSessionId: string
  readonly at: number
}

/** An entity that is there, with the role attributes that it has. */
export interface PresentEntity {
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
}

/** A posture check that is there. */
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

/** All policies of a network, and the entities that are there. Edge routers and their policies matter to `via` alone. */
export interface PolicySet {
  readonly servicePolicies: readonly GrantingPolicy[]
  readonly edgeRouterPolicies: readonly IdentityRouterPolicy[]
  readonly serviceEdgeRouterPolicies: readonly ServiceRouterPolicy[]
  readonly identities: readonly PresentEntity[]
  readonly services: readonly PresentEntity[]
  readonly edgeRouters: readonly PresentEntity[]
  readonly postureChecks: readonly PresentCheck[]
}

/** An entity that breaks an invariant: one that is there, or one that could be, told by its role attributes. */
export interface Witness {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly roleAttributes: readonly string[]
}

/** A way to break an invariant, the smallest that there is: with the fewest role attributes in all. */
export interface Violation {
  readonly identity: Witness
  readonly service: Witness
  /** For an invariant with `via` alone. */
  readonly edgeRouter: Witness | undefined
  /** What allows it: a service policy, and for `via` the policies that give both the edge router. */
  readonly policies: readonly Pick<Policy, 'id' | 'name'>[]
  /** How many role attributes the witnesses have together. */
  readonly size: number
  /** Entities that are there now and break it by the same policies; undefined when none does yet. */
  readonly present: { readonly identity: PresentEntity; readonly service: PresentEntity } | undefined
}
