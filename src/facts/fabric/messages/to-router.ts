import type { PostureData } from '../../access/posture/rules/index.ts'
import type { Forward } from '../rules/index.ts'
import type { LinkListener, PeerData } from './from-router.ts'
import type { TraceChannels } from './operators.ts'

/** Why a request of a router is refused, in the words of the wire. */
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

/** The next step of the router after a refusal: as it likes, later again, from the log-in on, or none. */
export type RetryHint = 'default' | 'too-busy' | 'start-over' | 'not-retriable'

/** Everything that is known of the endpoint of an API session, by reports at routers and at controllers. */
export interface PostureKnown {
  readonly type: 'posture-known'
  readonly apiSessionId: string
  /** Of the store; a later one says more. */
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
  /** At once, or once no traffic came for a while. */
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
      /** The controller deletes those that the router does not have. */
      readonly fixInvalid: boolean
      /** The router asks the hosts too, as far as they can be asked; else only what it holds itself counts. */
      readonly asksHosts: boolean
    }
  | { readonly type: 'certificates'; readonly clientCertPem: string; readonly serverCertPem: string }
  | {
      /** Another authority signs by now: routers that said that they do renew key and certificates. */
      readonly type: 'renew-certificates'
      /** Identifies the key of that authority. */
      readonly authorityKeyId: string
    }
  | { readonly type: 'certificate-confirmed'; readonly problem: CertificateConfirmation | undefined }
  | ModelState
  | ModelChanges
  | ValidateModel
  | Inspect
  | TraceChannels

/** The forwards of a router for a circuit, and the address that it dials when it is the last one. */
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

/** How another router stands: reachable for links, away for now, or gone for good. */
export interface PeerChange {
  readonly id: string
  readonly version: string
  readonly state: 'healthy' | 'unhealthy' | 'removed'
  readonly listeners: readonly LinkListener[]
}

/** Where controllers are reached; a list with a higher index takes the place of one with a lower. */
export interface ControllerAddresses {
  readonly type: 'controller-addresses'
  readonly index: number
  /** The list is complete: the router forgets others. */
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

/** New API sessions; or a part of all of them. */
export interface ApiSessionsAdded {
  readonly type: 'api-sessions-added'
  readonly sessions: readonly AnnouncedApiSession[]
  readonly full?: { readonly syncId: string; readonly sequence: number; readonly isLast: boolean }
}

/** A terminator that the router is asked whether it still has. */
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

/** The whole data model; its events in pieces as the model codec wrote them. */
export interface ModelState {
  readonly type: 'model-state'
  readonly index: number
  readonly timelineId: string
  readonly subscriptionId: string
  readonly events: readonly Uint8Array[]
}

/** The whole data model, for a router to compare with the one that it keeps. */
export interface ValidateModel extends Pick<ModelState, 'index' | 'events'> {
  readonly type: 'validate-model'
}

/** Asks a router for values of its state by their names. */
export interface Inspect {
  readonly type: 'inspect'
  /** The router repeats it in its answer. */
  readonly id: string
  /** For example `links`, `router-circuits` or `circuit:<id>`; a router leaves out those that it does not know. */
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
