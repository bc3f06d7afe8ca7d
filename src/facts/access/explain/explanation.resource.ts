import type { AttributeGrant } from '../../authority/authority.rules.ts'
import type { POSTURE_CHECK_FIELDS } from '../posture/posture-check-fields.resource.ts'

// The reasons are repeated here, so that typed clients load none of the rules behind them. The schema keeps both lists equal.
type Reason =
  | 'identity-unknown'
  | 'service-unknown'
  | 'identity-disabled'
  | 'no-policy-in-force'
  | 'no-policy-for-pair'
  | 'only-other-type'
  | 'posture-failing'
  | 'no-edge-router-for-identity'
  | 'no-edge-router-for-service'
  | 'no-common-edge-router'
  | 'all-common-edge-routers-offline'
  | 'no-terminators'
  | 'granted'
type SuggestionKind =
  | 'check-spelling'
  | 'enable-identity'
  | 'add-role-attributes'
  | 'create-service-policy'
  | 'change-term'
  | 'fulfil-posture-check'
  | 'pass-mfa'
  | 'create-edge-router'
  | 'select-edge-router'
  | 'assign-edge-router-to-identity'
  | 'assign-edge-router-to-service'
  | 'share-edge-router'
  | 'bring-edge-router-online'
  | 'host-service'
type MissingKind =
  | 'not-reported'
  | 'value-not-admitted'
  | 'process-not-running'
  | 'process-hash-not-admitted'
  | 'process-signer-not-admitted'
  | 'mfa-not-passed'
  | 'mfa-timed-out'
  | 'mfa-prompt-unanswered'
type WireObstacle =
  | 'not-allowed'
  | 'all-common-edge-routers-offline'
  | 'no-terminators'
  | 'hosts-may-not-bind'
  | 'no-online-terminators'
  | 'no-terminators-here'
  | 'no-path'
type DialFailureReason =
  | 'no-terminators'
  | 'no-online-terminators'
  | 'no-terminators-here'
  | 'no-path'
  | 'routers-failed'
  | 'refused'
type DialFailureCause =
  | 'generic'
  | 'invalid-terminator'
  | 'misconfigured-terminator'
  | 'dial-timed-out'
  | 'connection-refused'
  | 'rejected-by-application'
  | 'dns-failure'
  | 'port-not-allowed'
  | 'invalid-link'
  | 'no-resources'
  | 'no-answer'
  | 'disconnected'

interface Named {
  readonly id: string
  readonly name: string
}

/** A role list compared with an entity. */
export interface ExplainedSide {
  readonly selects: boolean
  readonly matched: readonly { readonly role: string; readonly name: string }[]
  readonly lacking: readonly string[]
  /** Grants of role attributes by which the list selects the entity, or would later; absent without any. */
  readonly grants?: readonly AttributeGrant[] | undefined
}

/** A posture check compared with the reports of the endpoint. */
export interface ExplainedCheck extends Named {
  readonly typeId: keyof typeof POSTURE_CHECK_FIELDS
  readonly isPassing: boolean
  /** The values that pass, of a shape by type. */
  readonly expected?: unknown
  /** The report, of a shape by type; null without a report. */
  readonly known?: unknown
  readonly missing: readonly { readonly kind: MissingKind; readonly path?: string | undefined }[]
  /** The instant at which it expires, RFC 3339; null when it does not. */
  readonly holdsUntil: string | null
}

/** A service policy that selects the identity, the service or both. */
export interface ExplainedPolicy extends Named {
  readonly type: 'Dial' | 'Bind'
  readonly semantic: 'AllOf' | 'AnyOf'
  readonly identitySide: ExplainedSide
  readonly serviceSide: ExplainedSide
  /** True when it selects both, has the type in question, and is in force. */
  readonly applies: boolean
  /** True when it applies and all its posture checks pass. */
  readonly grants: boolean
  readonly checks: readonly ExplainedCheck[]
  /** Its term at the instant of the question, instants RFC 3339; null for a policy without term and reason. */
  readonly term: {
    readonly phase: 'coming' | 'in-force' | 'over'
    readonly startsAt: string | null
    readonly until: string | null
    readonly reason: string | null
    /** The name of the identity that gave it; null for the controller and its host. */
    readonly givenBy: string | null
  } | null
}

/** An edge router in an explanation. */
export interface ExplainedRouter extends Named {
  readonly isOnline: boolean
}

/** The check whether a connection works now, by routers, links and terminators. */
export interface ExplainedWire {
  readonly worksNow: boolean
  /** The first obstacle; null without an obstacle. */
  readonly obstacle: WireObstacle | null
  readonly hostRouters: readonly ExplainedRouter[]
  /** The last dial of the identity to the service, if it failed; `at` is RFC 3339. */
  readonly lastFailure: {
    readonly at: string
    readonly reason: DialFailureReason
    readonly cause: DialFailureCause | null
    readonly router: Named | null
  } | null
}

/** A step that would give access, or would let it carry traffic. */
export interface ExplainedSuggestion {
  readonly kind: SuggestionKind
  readonly entities: readonly (Named & { readonly kind: string })[]
  readonly roleAttributes?: readonly string[] | undefined
  readonly text: string
}

/** The beginning of a grant by service policies. */
export interface ExplainedSince {
  /** `change`: by a change; `time`: by the end of the identity's disabling; `before`: earlier than the audit trail reaches. */
  readonly by: 'change' | 'time' | 'before'
  /** RFC 3339. */
  readonly at: string
  /** The policy with the longest grant among the policies that grant the access now. */
  readonly policy: Named
  /** The change that gave it, by the id of its audit record; null for an unknown change. */
  readonly change: {
    readonly id: string
    readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
    readonly entity: { readonly kind: string; readonly id: string; readonly name: string | null }
    readonly actor: { readonly id: string; readonly name: string | null } | null
  } | null
}

/** The explanation of an access decision. Instants are RFC 3339. */
export interface ExplanationAnswer {
  readonly allowed: boolean
  readonly reason: Reason
  readonly asked: { readonly identity: string; readonly service: string }
  readonly type: 'Dial' | 'Bind'
  readonly at: string
  readonly identity: Named | null
  readonly service: Named | null
  readonly apiSessionId: string | null
  readonly policies: readonly ExplainedPolicy[]
  readonly edgeRouters: Readonly<Record<'ofIdentity' | 'ofService' | 'common' | 'online', readonly ExplainedRouter[]>>
  readonly hosts: {
    readonly terminatorCount: number
    readonly hosts: readonly Named[]
    readonly mayBindCount: number
  } | null
  /** Null without an open data plane, and for a question about another instant or about changes. */
  readonly wire: ExplainedWire | null
  /** The instant at which posture without new reports, or a term, ends the access; null when neither does. */
  readonly holdsUntil: string | null
  /** The instant at which the answer may change by itself; null when it cannot. */
  readonly changesAt: string | null
  /** The beginning of the grant, posture and edge routers aside; null for a refusal, and for a question about another state. */
  readonly since: ExplainedSince | null
  readonly suggestions: readonly ExplainedSuggestion[]
  /** The explanation for people, over several lines. */
  readonly text: string
}

interface Counts {
  readonly gained: number
  readonly lost: number
}

/** The access that identities would gain and lose by changes. */
export interface SimulationAnswer {
  readonly revision: number
  /** Null on all pages after the first. */
  readonly counts: { readonly dial: Counts; readonly bind: Counts } | null
  readonly pairs: readonly {
    readonly identity: Named
    readonly service: Named
    readonly type: 'Dial' | 'Bind'
    readonly change: 'gained' | 'lost'
    /** Why a gained pair would not connect; absent unless it was asked for. */
    readonly obstacle?: Reason | null | undefined
  }[]
  readonly nextCursor: string | null
}
