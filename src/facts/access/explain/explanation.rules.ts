import type { Semantic } from '../../../base/roles.ts'
import type { Reason } from '../decision.rules.ts'
import type { AccessType } from '../index/index.ts'
import type { CheckFailure, MissingPosture, PostureCheck, PostureData } from '../posture/rules/index.ts'
import type { DialFailure, ServiceReach } from './service-reach.rules.ts'

/** A role entry with the text that people read: `@id` shows the entity's name. */
export interface ShownRole {
  readonly role: string
  readonly name: string
}

/** One role list of a policy, held against one entity. */
export interface SideExplanation {
  /** The role list selects the entity. */
  readonly selects: boolean
  /** The entries that the entity answers to; of an `AllOf` list also when others are missing. */
  readonly matched: readonly ShownRole[]
  /** Role attributes with which the list would select the entity: all of them (`AllOf`), or any one (`AnyOf`). */
  readonly lacking: readonly string[]
}

/** One posture check, held against what is known of the endpoint. */
export interface CheckExplanation {
  readonly id: string
  readonly name: string
  readonly typeId: PostureCheck['typeId']
  readonly isPassing: boolean
  /** The values that would pass, as failed service requests have them. */
  readonly expected: CheckFailure['expectedValue']
  /** The value that was looked at; null when nothing was reported. */
  readonly known: CheckFailure['actualValue'] | null
  /** Conditions that the check misses; empty when it passes. */
  readonly missing: readonly MissingPosture[]
  /** The instant (epoch ms) at which a passing check fails by itself; null when it does not. */
  readonly holdsUntil: number | null
}

/** One service policy that selects the identity, the service, or both. */
export interface PolicyExplanation {
  readonly id: string
  readonly name: string
  readonly type: AccessType
  readonly semantic: Semantic
  readonly identitySide: SideExplanation
  readonly serviceSide: SideExplanation
  /** It selects both and is of the type in question: it decides. */
  readonly applies: boolean
  /** It applies, and all its posture checks pass. */
  readonly grants: boolean
  /** Its posture checks, when it selects both. */
  readonly checks: readonly CheckExplanation[]
}

/** Edge routers by who may use them. `online` are those of the common ones that are connected. */
export interface EdgeRouterExplanation {
  readonly ofIdentity: readonly RouterState[]
  readonly ofService: readonly RouterState[]
  readonly common: readonly RouterState[]
  readonly online: readonly RouterState[]
}

/** Who hosts a service, and who may. */
export interface HostExplanation {
  /** Where its traffic can leave the network at all: 0 where a dial leads nowhere. */
  readonly terminatorCount: number
  /** Some of the identities that host it; routers host without one. */
  readonly hosts: readonly { readonly id: string; readonly name: string }[]
  /** How many identities may bind it, posture aside. */
  readonly mayBindCount: number
}

/**
 * Since when service policies grant an access without a break, posture and edge routers aside: of the policies that grant it now,
 * the one that has for longest. Instants are epoch ms.
 */
export interface AccessSince {
  /**
   * `change`: by a change of the policy, the identity or the service; `time`: since the time ended for which the identity was
   * disabled; `before`: it was granted by then already, and the audit trail tells of nothing earlier.
   */
  readonly by: 'change' | 'time' | 'before'
  readonly at: number
  readonly policy: { readonly id: string; readonly name: string }
  /** The change that gave it, as the audit trail tells of it; null where time did, and where no record reaches back as far. */
  readonly change: SinceChange | null
}

/** A change that gave an access. */
export interface SinceChange {
  /** The id of the audit record. */
  readonly id: string
  readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
  readonly entity: { readonly kind: string; readonly id: string; readonly name: string | null }
  /** The identity that made it; null for the controller, its host and its operator. */
  readonly actor: { readonly id: string; readonly name: string | null } | null
}

/** Why an identity may, or may not, dial or bind a service. Instants are epoch ms. */
export interface Explanation {
  /** The controller gives a session. Whether that carries anything now is the difference of `granted` and offline routers. */
  readonly allowed: boolean
  readonly reason: Reason
  readonly asked: { readonly identity: string; readonly service: string }
  readonly type: AccessType
  readonly at: number
  readonly identity: { readonly id: string; readonly name: string } | null
  readonly service: { readonly id: string; readonly name: string } | null
  /** The API session whose second factor was looked at; null when the identity has none. */
  readonly apiSessionId: string | null
  /** Policies that decide come first, then those that select both, then those that select one side. */
  readonly policies: readonly PolicyExplanation[]
  readonly edgeRouters: EdgeRouterExplanation
  /** Null where there is no such service, and where it was not in question. */
  readonly hosts: HostExplanation | null
  /** Whether what is allowed works now; null where nothing is known: no data plane is open, or another state is in question. */
  readonly wire: WireExplanation | null
  /** The instant by which posture takes the access away at the latest, if nothing is reported; null when it does not. */
  readonly holdsUntil: number | null
  /**
   * The next instant at which what was said may change by itself: `holdsUntil` of what is allowed, the end of a time for which
   * the identity is disabled; null when it stays so until somebody does something.
   */
  readonly changesAt: number | null
  /** Since when service policies grant it; null where it is not allowed, and where another state than that of now is in question. */
  readonly since: AccessSince | null
  readonly suggestions: readonly Suggestion[]
}

/** An entity that role lists select. */
export interface NamedEntity {
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
}

/** A service policy that selects the identity, the service or both. Its checks matter only when it selects both. */
export interface PolicyUnderReview {
  readonly id: string
  readonly name: string
  readonly type: AccessType
  readonly semantic: Semantic
  readonly identityRoles: readonly string[]
  readonly serviceRoles: readonly string[]
  readonly checks: readonly PostureCheck[]
}

export interface RouterState {
  readonly id: string
  readonly name: string
  readonly isOnline: boolean
}

/** Whether an identity is disabled, and until when (epoch ms): null for good. */
export interface DisabledState {
  readonly isDisabled: boolean
  readonly disabledUntil?: number | null
}

/** Everything that decides whether an identity may dial or bind a service, as it stands at `at` (epoch ms). */
export interface AccessFacts {
  /** The question as it was asked, by id or name. */
  readonly asked: { readonly identity: string; readonly service: string }
  readonly type: AccessType
  readonly at: number
  readonly identity: (NamedEntity & DisabledState) | undefined
  readonly service: NamedEntity | undefined
  readonly policies: readonly PolicyUnderReview[]
  readonly posture: PostureData
  /** The API session whose second factor counts; `undefined` when the identity has none. */
  readonly apiSessionId: string | undefined
  readonly identityRouters: readonly RouterState[]
  readonly serviceRouters: readonly RouterState[]
  /** Undefined where it does not matter who hosts the service. */
  readonly hosts?: HostExplanation | undefined
  /** Undefined where nothing is known of the data plane. */
  readonly wire?: WireFacts | undefined
}

/** Obstacles to a connection that is made now, in the order in which they are looked for. */
export const WIRE_OBSTACLES = [
  /** The controller gives no session. */
  'not-allowed',
  'all-common-edge-routers-offline',
  'no-terminators',
  /** There are terminators, but the identities that host them may not bind the service now. */
  'hosts-may-not-bind',
  'no-online-terminators',
  /** The routers of the terminators are connected to other controllers, which this one does not reach. */
  'no-terminators-here',
  /** No links lead from a common edge router that is online to a router of a terminator. */
  'no-path',
] as const
export type WireObstacle = (typeof WIRE_OBSTACLES)[number]

/** A dial that failed, with the router that failed if one did. */
export interface FailedDial extends Omit<DialFailure, 'routerId'> {
  readonly router: { readonly id: string; readonly name: string } | null
}

/** Facts of the data plane about an identity and a service. */
export interface WireFacts {
  /** From the common edge routers that are online. */
  readonly obstacle: ServiceReach['obstacle']
  /** Routers of the terminators of the service. */
  readonly hostRouters: readonly RouterState[]
  readonly lastFailure: FailedDial | null
}

/** Whether what is allowed works now. */
export interface WireExplanation extends Omit<WireFacts, 'obstacle'> {
  readonly worksNow: boolean
  /** The first obstacle; null where it works. */
  readonly obstacle: WireObstacle | null
}

/** The kinds of step by which the identity gets to the service. */
export const SUGGESTION_KINDS = [
  /** Look the id or name up: nothing is called so. */
  'check-spelling',
  /** Enable the identity. */
  'enable-identity',
  /** Give the entity role attributes with which an existing policy would select it. */
  'add-role-attributes',
  /** Create a service policy of the type for the pair. */
  'create-service-policy',
  /** Let the endpoint fulfil a posture check, or relax the check. */
  'fulfil-posture-check',
  /** Let the user prove a second factor. */
  'pass-mfa',
  /** Let an edge router policy select the identity. */
  'assign-edge-router-to-identity',
  /** Let a service edge router policy select the service. */
  'assign-edge-router-to-service',
  /** Let one edge router serve both. */
  'share-edge-router',
  /** Bring one of the common edge routers online. */
  'bring-edge-router-online',
  /** Let something host the service. */
  'host-service',
] as const
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number]

/** A suggestion as data and as a sentence. */
export interface Suggestion {
  readonly kind: SuggestionKind
  /** Entities that it is about, most important first. */
  readonly entities: readonly { readonly kind: string; readonly id: string; readonly name: string }[]
  /** For `add-role-attributes`: what to add to the first entity. */
  readonly roleAttributes?: readonly string[]
  readonly text: string
}
