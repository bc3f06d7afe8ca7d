import type { Semantic } from '../../../base/roles.ts'
import type { AttributeGrant } from '../../authority/authority.rules.ts'
import type { Reason } from '../decision.rules.ts'
import type { AccessType } from '../index/index.ts'
import type { PolicyPhase, PolicyTerm } from '../policy-term.rules.ts'
import type { CheckFailure, MissingPosture, PostureCheck, PostureData } from '../posture/rules/index.ts'
import type { DialFailure, ServiceReach } from './service-reach.rules.ts'

/** A role entry with its text for people: `@id` shows the entity's name. */
export interface ShownRole {
  readonly role: string
  readonly name: string
  /** True for a role attribute that the entity has by the directory of the host alone; absent otherwise. */
  readonly fromDirectory?: true
  /** True for a role attribute that the entity has by a claim of an external token alone; absent otherwise. */
  readonly fromClaims?: true
  /** True for a role attribute that the entity has by a grant alone; absent otherwise. */
  readonly fromGrant?: true
}

/** A role list of a policy, compared with an entity. */
export interface SideExplanation {
  /** True when the role list selects the entity. */
  readonly selects: boolean
  /** The entries that match the entity; in an `AllOf` list also when other entries do not. */
  readonly matched: readonly ShownRole[]
  /** Role attributes with which the list would select the entity: all of them (`AllOf`), or any one (`AnyOf`). */
  readonly lacking: readonly string[]
  /** Grants of role attributes by which the list selects the entity, or would later, with instants in RFC 3339; absent without any. */
  readonly grants?: readonly AttributeGrant[]
}

/** A posture check, compared with the reports of the endpoint. */
export interface CheckExplanation {
  readonly id: string
  readonly name: string
  readonly typeId: PostureCheck['typeId']
  readonly isPassing: boolean
  /** The values that would pass, as in failed service requests. */
  readonly expected: CheckFailure['expectedValue']
  /** The reported value; null without a report. */
  readonly known: CheckFailure['actualValue'] | null
  /** Conditions that the check misses; empty when it passes. */
  readonly missing: readonly MissingPosture[]
  /** The instant (epoch ms) at which a passing check fails by itself; null when it does not. */
  readonly holdsUntil: number | null
}

/** The term of a service policy at the instant of a question, and the reason that its giver wrote. */
export interface GivenTerm extends PolicyTerm {
  readonly phase: PolicyPhase
  readonly reason: string | null
  /** The name of the identity that gave it; null for the controller and its host. */
  readonly givenBy: string | null
}

/** One service policy that selects the identity, the service, or both. */
export interface PolicyExplanation {
  readonly id: string
  readonly name: string
  readonly type: AccessType
  readonly semantic: Semantic
  readonly identitySide: SideExplanation
  readonly serviceSide: SideExplanation
  /** True when it selects both, has the type in question, and is in force. */
  readonly applies: boolean
  /** True when it applies and all its posture checks pass. */
  readonly grants: boolean
  /** Its posture checks, when it selects both. */
  readonly checks: readonly CheckExplanation[]
  /** Null for a policy without term and reason. */
  readonly term: GivenTerm | null
}

/** Edge routers of the identity, of the service and of both. `online` lists the connected common routers. */
export interface EdgeRouterExplanation {
  readonly ofIdentity: readonly RouterState[]
  readonly ofService: readonly RouterState[]
  readonly common: readonly RouterState[]
  readonly online: readonly RouterState[]
}

/** The hosts of a service, current and permitted. */
export interface HostExplanation {
  /** The number of its terminators. With 0, every dial fails. */
  readonly terminatorCount: number
  /** Some of the identities that host it; a router hosts without an identity. */
  readonly hosts: readonly { readonly id: string; readonly name: string }[]
  /** The number of identities that may bind it, posture aside. */
  readonly mayBindCount: number
}

/**
 * The beginning of an unbroken grant by service policies, posture and edge routers aside. Among the policies that grant it now, the longest
 * grant counts. Instants are epoch ms.
 */
export interface AccessSince {
  /**
   * `change`: by a change of the policy, the identity or the service. `time`: by the end of the identity's disabling. `before`: it was
   * already granted at the beginning of the audit trail.
   */
  readonly by: 'change' | 'time' | 'before'
  readonly at: number
  readonly policy: { readonly id: string; readonly name: string }
  /** The change that gave it, from the audit trail; null for `time`, and when no record reaches back so far. */
  readonly change: SinceChange | null
}

/** A change that gave an access. */
export interface SinceChange {
  /** The id of the audit record. */
  readonly id: string
  readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
  readonly entity: { readonly kind: string; readonly id: string; readonly name: string | null }
  /** The identity that made the change; null for the controller, its host and its operator. */
  readonly actor: { readonly id: string; readonly name: string | null } | null
}

/** The explanation of an access decision. Instants are epoch ms. */
export interface Explanation {
  /** True when the controller grants a session. The reason distinguishes `granted` from offline routers. */
  readonly allowed: boolean
  readonly reason: Reason
  readonly asked: { readonly identity: string; readonly service: string }
  readonly type: AccessType
  readonly at: number
  readonly identity: { readonly id: string; readonly name: string } | null
  readonly service: { readonly id: string; readonly name: string } | null
  /** The API session whose second factor was checked; null for an identity without an API session. */
  readonly apiSessionId: string | null
  /** Deciding policies come first, then policies that select both sides, then policies that select one side. */
  readonly policies: readonly PolicyExplanation[]
  readonly edgeRouters: EdgeRouterExplanation
  /** Null for an unknown service, and when hosts were not asked for. */
  readonly hosts: HostExplanation | null
  /** The check whether a connection works now; null without an open data plane, and for a question about another state. */
  readonly wire: WireExplanation | null
  /** The latest instant at which posture without new reports, or a term, ends the access; null when neither does. */
  readonly holdsUntil: number | null
  /**
   * The next instant at which the answer may change by itself: `holdsUntil` of an allowed access, the end of the identity's disabling, or
   * the beginning of a policy's term or of a grant. Null when only an action can change it.
   */
  readonly changesAt: number | null
  /** The beginning of the grant; null for a refusal, and for a question about another state than the current one. */
  readonly since: AccessSince | null
  readonly suggestions: readonly Suggestion[]
}

/** An entity that role lists select. */
export interface NamedEntity {
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
  /** Role attributes that the directory of the host gives, beside the others. */
  readonly directoryAttributes?: readonly string[]
  /** Role attributes by claims of external tokens, beside the others. */
  readonly claimAttributes?: readonly string[]
  /** Grants of role attributes as of the instant of the question, beside the others. */
  readonly attributeGrants?: readonly AttributeGrant[]
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
  /** Undefined for a policy without term and reason. */
  readonly term?: GivenTerm | undefined
}

export interface RouterState {
  readonly id: string
  readonly name: string
  readonly isOnline: boolean
}

/** The numbers behind the edge routers of an identity and of a service. */
export interface RouterPolicyCounts {
  /** The number of edge routers in the network. */
  readonly edgeRouters: number
  /** The number of edge router policies that select the identity. */
  readonly ofIdentity: number
  /** The number of service edge router policies that select the service. */
  readonly ofService: number
}

/** The disabling of an identity, with its end (epoch ms): null when disabled for good. */
export interface DisabledState {
  readonly isDisabled: boolean
  readonly disabledUntil?: number | null
}

/** All facts for the decision whether an identity may dial or bind a service at `at` (epoch ms). */
export interface AccessFacts {
  /** The question as asked, by id or name. */
  readonly asked: { readonly identity: string; readonly service: string }
  readonly type: AccessType
  readonly at: number
  readonly identity: (NamedEntity & DisabledState) | undefined
  readonly service: NamedEntity | undefined
  readonly policies: readonly PolicyUnderReview[]
  readonly posture: PostureData
  /** The API session whose second factor counts; `undefined` for an identity without an API session. */
  readonly apiSessionId: string | undefined
  readonly identityRouters: readonly RouterState[]
  readonly serviceRouters: readonly RouterState[]
  /** True where the host's directory gives role attributes too. */
  readonly hasDirectory?: boolean | undefined
  /** Undefined where suggestions need not tell a network without edge routers from policies that select none. */
  readonly routerPolicies?: RouterPolicyCounts | undefined
  /** Undefined when hosts do not matter. */
  readonly hosts?: HostExplanation | undefined
  /** Undefined without facts of the data plane. */
  readonly wire?: WireFacts | undefined
}

/** Obstacles to a new connection, in the order of the checks. */
export const WIRE_OBSTACLES = [
  /** The controller grants no session. */
  'not-allowed',
  'all-common-edge-routers-offline',
  'no-terminators',
  /** The service has terminators, but their identities may not bind the service now. */
  'hosts-may-not-bind',
  'no-online-terminators',
  /** The routers of the terminators are connected to other controllers, which this controller does not reach. */
  'no-terminators-here',
  /** No links lead from an online common edge router to a router of a terminator. */
  'no-path',
] as const
export type WireObstacle = (typeof WIRE_OBSTACLES)[number]

/** A failed dial, with the failed router if a router failed. */
export interface FailedDial extends Omit<DialFailure, 'routerId'> {
  readonly router: { readonly id: string; readonly name: string } | null
}

/** Facts of the data plane about an identity and a service. */
export interface WireFacts {
  /** The obstacle from the online common edge routers. */
  readonly obstacle: ServiceReach['obstacle']
  /** Routers of the terminators of the service. */
  readonly hostRouters: readonly RouterState[]
  readonly lastFailure: FailedDial | null
}

/** The result of the check whether a connection works now. */
export interface WireExplanation extends Omit<WireFacts, 'obstacle'> {
  readonly worksNow: boolean
  /** The first obstacle; null without an obstacle. */
  readonly obstacle: WireObstacle | null
}

/** The kinds of step towards access to the service. */
export const SUGGESTION_KINDS = [
  /** Check the id or name: it is unknown. */
  'check-spelling',
  /** Enable the identity. */
  'enable-identity',
  /** Give the entity role attributes that an existing policy selects. */
  'add-role-attributes',
  /** Create a service policy of the type for the pair. */
  'create-service-policy',
  /** Let a service policy that selects both begin earlier or end later. */
  'change-term',
  /** Let the endpoint fulfil a posture check, or relax the check. */
  'fulfil-posture-check',
  /** Let the user prove a second factor. */
  'pass-mfa',
  /** Create an edge router: the network has none. */
  'create-edge-router',
  /** Let a router policy that selects the identity or the service also select an edge router. */
  'select-edge-router',
  /** Let an edge router policy select the identity. */
  'assign-edge-router-to-identity',
  /** Let a service edge router policy select the service. */
  'assign-edge-router-to-service',
  /** Let one edge router serve both. */
  'share-edge-router',
  /** Bring one of the common edge routers online. */
  'bring-edge-router-online',
  /** Let a host bind the service. */
  'host-service',
] as const
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number]

/** A suggestion as data and as a sentence. */
export interface Suggestion {
  readonly kind: SuggestionKind
  /** The entities of the suggestion, most important first. */
  readonly entities: readonly { readonly kind: string; readonly id: string; readonly name: string }[]
  /** For `add-role-attributes`: the attributes to add to the first entity. */
  readonly roleAttributes?: readonly string[]
  readonly text: string
}
