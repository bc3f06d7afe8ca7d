import type { POSTURE_CHECK_FIELDS } from '../posture/posture-check-fields.resource.ts'

// The words stand here once more, so that typed clients load none of the rules behind them; the schema holds them together.
type Reason =
  | 'identity-unknown'
  | 'service-unknown'
  | 'identity-disabled'
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
  | 'fulfil-posture-check'
  | 'pass-mfa'
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

/** A role list held against one entity. */
export interface ExplainedSide {
  readonly selects: boolean
  readonly matched: readonly { readonly role: string; readonly name: string }[]
  readonly lacking: readonly string[]
}

/** A posture check held against what is known of the endpoint. */
export interface ExplainedCheck extends Named {
  readonly typeId: keyof typeof POSTURE_CHECK_FIELDS
  readonly isPassing: boolean
  /** The values that pass, of a shape by type. */
  readonly expected?: unknown
  /** The report, of a shape by type; null when there is none. */
  readonly known?: unknown
  readonly missing: readonly { readonly kind: MissingKind; readonly path?: string | undefined }[]
  /** When it fails by itself, RFC 3339; null when it does not. */
  readonly holdsUntil: string | null
}

/** A service policy that selects the identity, the service or both. */
export interface ExplainedPolicy extends Named {
  readonly type: 'Dial' | 'Bind'
  readonly semantic: 'AllOf' | 'AnyOf'
  readonly identitySide: ExplainedSide
  readonly serviceSide: ExplainedSide
  /** It selects both and is of the type in question: it decides. */
  readonly applies: boolean
  /** It applies, and all its posture checks pass. */
  readonly grants: boolean
  readonly checks: readonly ExplainedCheck[]
}

/** An edge router in an explanation. */
export interface ExplainedRouter extends Named {
  readonly isOnline: boolean
}

/** Whether what is allowed works now, by routers, links and terminators. */
export interface ExplainedWire {
  readonly worksNow: boolean
  /** The first obstacle; null where it works. */
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

/** Since when service policies grant an access. */
export interface ExplainedSince {
  /** By a change, by the end of the time for which the identity was disabled, or longer than the audit trail tells. */
  readonly by: 'change' | 'time' | 'before'
  /** RFC 3339. */
  readonly at: string
  /** Of the policies that grant it now, the one that has for longest. */
  readonly policy: Named
  /** The change that gave it, by the id of its audit record; null where none is known. */
  readonly change: {
    readonly id: string
    readonly type: 'entity.created' | 'entity.updated' | 'entity.deleted'
    readonly entity: { readonly kind: string; readonly id: string; readonly name: string | null }
    readonly actor: { readonly id: string; readonly name: string | null } | null
  } | null
}

/** Why an identity may, or may not, dial or bind a service. Instants are RFC 3339. */
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
  /** Null where no data plane is open, and where another instant or changes are in question. */
  readonly wire: ExplainedWire | null
  /** When posture takes the access away if nothing is reported; null when it does not. */
  readonly holdsUntil: string | null
  /** When the answer may change by itself; null when it stays so until somebody does something. */
  readonly changesAt: string | null
  /** Since when policies grant it, posture and edge routers aside; null where it is not allowed, or another state is in question. */
  readonly since: ExplainedSince | null
  readonly suggestions: readonly ExplainedSuggestion[]
  /** The explanation for people, over several lines. */
  readonly text: string
}

interface Counts {
  readonly gained: number
  readonly lost: number
}

/** Who would gain and lose what by changes. */
export interface SimulationAnswer {
  readonly revision: number
  /** Null on every page but the first. */
  readonly counts: { readonly dial: Counts; readonly bind: Counts } | null
  readonly pairs: readonly {
    readonly identity: Named
    readonly service: Named
    readonly type: 'Dial' | 'Bind'
    readonly change: 'gained' | 'lost'
  }[]
  readonly nextCursor: string | null
}
