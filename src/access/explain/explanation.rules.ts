import type { AccessType } from '../access-index/index.ts'
import type { CheckFailure, MissingPosture, PostureCheck } from '../posture/index.ts'
import type { Semantic } from '../roles.ts'
import type { RouterState } from './facts.ts'
import type { Reason } from './reason.ts'
import type { Suggestion } from './suggestion.ts'

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
  /** What keeps the check from passing; empty when it passes. */
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
  /** The instant by which posture takes the access away at the latest, if nothing is reported; null when it does not. */
  readonly holdsUntil: number | null
  /**
   * The next instant at which what was said may change by itself: `holdsUntil` of what is allowed, the end of a time for which
   * the identity is disabled; null when it stays so until somebody does something.
   */
  readonly changesAt: number | null
  readonly suggestions: readonly Suggestion[]
}
