import type { PostureData } from '../../access/posture/rules/index.ts'
import type { Forward } from '../rules/index.ts'
import type { LinkListener, PeerData } from './from-router.ts'
import type { TraceChannels } from './operators.ts'

/** The reason of a refused router request, in the words of the wire. */
export type RefusalCode =
  | 'internal'
  | 'invalid-api-session'
  | 'invalid-session'
  | 'wrong-session-type'
  | 'invalid-edge-router'
  | 'invalid-service'
  | 'tunneling-not-enabled'
  | 'invalid-terminator'
  | 'invalid-precedence'
  | 'invalid-cost'
  | 'encryption-data-missing'
  | 'invalid-instance-id'
  | 'access-denied'

/** The advice to a router after a refusal: its own choice, a later retry, a new login, or no retry. */
export type RetryHint = 'default' | 'too-busy' | 'start-over' | 'not-retriable'

/** The known posture of an API session's endpoint, by reports at routers and controllers. */
export interface PostureKnown {
  readonly type: 'posture-known'
  readonly apiSessionId: string
  /** The revision of the store; a later revision is more recent. */
  readonly revision: number
  /** A controller may leave types of check out: their reports are unknown. */
  readonly posture: Partial<PostureData>
}

/** Every message that the controller sends to routers. */
export type ToRouter =
  | { readonly type: 'result'; readonly success: boolean; readonly message: string }
  | {
      readonly type: 'refusal'
      readonly code: RefusalCode
      readonly message: string
      readonly hint: RetryHint
      readonly circuitId?: string
    }
  | Route
  /** Ends a circuit at once, or after a while without traffic. */
  | { readonly type: 'unroute'; readonly circuitId: string; readonly now: boolean }
  | { readonly type: 'link-fault'; readonly linkId: string; readonly iteration: number }
  | { readonly type: 'peers'; readonly changes: readonly PeerChange[] }
  | ControllerAddresses
  | { readonly type: 'edge-hello'; readonly version: string }
  | ApiSessionsAdded
  | { readonly type: 'api-sessions-removed'; readonly tokens: readonly string[]; readonly ids: readonly string[] }
  | { readonly type: 'api-sessions-updated'; readonly sessions: readonly AnnouncedApiSession[] }
  | { readonly type: 'sessions-removed'; readonly ids: readonly string[] }
  | PostureKnown
  | {
      readonly type: 'circuit-created'
      readonly circuitId: string
      readonly address: string
      readonly peerData: PeerData
      readonly tags: ReadonlyMap<string, string>
    }
  | { readonly type: 'terminator-created'; readonly terminatorId: string; readonly startTime: bigint }
  | {
      readonly type: 'terminator-refused'
      readonly terminatorId: string
      readonly code: RefusalCode
      readonly message: string
      readonly hint: RetryHint
    }
  | { readonly type: 'terminator-updated' }
  | {
      readonly type: 'validate-terminators'
      readonly terminators: readonly ValidatedTerminator[]
      /** The controller deletes terminators that the router does not have. */
      readonly fixInvalid: boolean
      /** The router also asks the hosts, where possible; otherwise only its own state counts. */
      readonly asksHosts: boolean
    }
  | { readonly type: 'certificates'; readonly clientCertPem: string; readonly serverCertPem: string }
  | {
      /** Another authority signs now: routers with the capability renew their key and certificates. */
      readonly type: 'renew-certificates'
      /** The identifier of the new authority's key. */
      readonly authorityKeyId: string
    }
  | { readonly type: 'certificate-confirmed'; readonly problem: CertificateConfirmation | undefined }
  | ModelState
  | ModelChanges
  | ValidateModel
  | Inspect
  | TraceChannels

/** The forwards of a router for a circuit, and the address that the last router dials. */
export interface Route {
  readonly type: 'route'
  readonly circuitId: string
  readonly attempt: number
  /** Milliseconds. */
  readonly timeoutMs: number
  readonly forwards: readonly Forward[]
  readonly egress?: {
    readonly binding: string
    readonly address: string
    readonly destination: string
    readonly peerData: PeerData
  }
  readonly tags: ReadonlyMap<string, string>
}

/** The state of another router: reachable for links, offline, or deleted. */
export interface PeerChange {
  readonly id: string
  readonly version: string
  readonly state: 'healthy' | 'unhealthy' | 'removed'
  readonly listeners: readonly LinkListener[]
}

/** The addresses of controllers. A list with a higher index replaces a list with a lower index. */
export interface ControllerAddresses {
  readonly type: 'controller-addresses'
  readonly index: number
  /** True for a complete list: the router forgets other controllers. */
  readonly isComplete: boolean
  readonly controllers: readonly { readonly id: string; readonly addresses: readonly string[] }[]
}

/** An API session that clients may present to routers. */
export interface AnnouncedApiSession {
  readonly token: string
  readonly certFingerprints: readonly string[]
  readonly id: string
  readonly identityId: string
}

/** New API sessions, or a part of all API sessions. */
export interface ApiSessionsAdded {
  readonly type: 'api-sessions-added'
  readonly sessions: readonly AnnouncedApiSession[]
  readonly full?: { readonly syncId: string; readonly sequence: number; readonly isLast: boolean }
}

/** A terminator in a request whether the router still has it. */
export interface ValidatedTerminator {
  readonly id: string
  readonly binding: string
  readonly address: string
}

export type CertificateConfirmation =
  | 'MISSING_CLIENT_PEM'
  | 'INVALID_ROUTER_STATE'
  | 'INVALID_CLIENT_PEM'
  | 'VERIFY_ERROR'
  | 'ROUTER_NOT_FOUND'

/** The whole data model; its events are pieces of the model codec's output. */
export interface ModelState {
  readonly type: 'model-state'
  readonly index: number
  readonly timelineId: string
  readonly subscriptionId: string
  readonly events: readonly Uint8Array[]
}

/** The whole data model, for a router to compare with its own. */
export interface ValidateModel extends Pick<ModelState, 'index' | 'events'> {
  readonly type: 'validate-model'
}

/** Asks a router for values of its state by their names. */
export interface Inspect {
  readonly type: 'inspect'
  /** The router repeats it in its answer. */
  readonly id: string
  /** For example `links`, `router-circuits` or `circuit:<id>`; a router leaves out unknown names. */
  readonly values: readonly string[]
}

/** The changes of the data model from one index to another. */
export interface ModelChanges {
  readonly type: 'model-changes'
  readonly index: number
  readonly previousIndex: number
  readonly subscriptionId: string
  readonly events: Uint8Array
}
