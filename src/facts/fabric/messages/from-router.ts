import type { LinkListener, ReportedInterface } from '../../../ports/router-presence.ts'
import type { EndpointFacts } from '../../access/posture/rules/index.ts'
import type { RouterSoftware } from '../../routers/versions.rules.ts'
import type { LinkConnection, LinkReport, ModelDifference, Precedence, RouteFailureCause } from '../rules/index.ts'
import type { ChannelTrace } from './operators.ts'

export type { LinkListener, ReportedInterface, RouterSoftware }

/** Data that the two ends of a circuit exchange through the controller: number of the item to its bytes. */
export type PeerData = ReadonlyMap<number, Uint8Array>

/** The part of a circuit with a fault. */
export type FaultSubject = 'ingress' | 'egress' | 'link' | 'forward' | 'forward-of-unknown-owner' | 'duplicate-link'

/** Every message that the controller accepts from routers. The comments state the request. */
export type FromRouter =
  | {
      readonly type: 'fault'
      readonly subject: FaultSubject
      readonly id: string
      readonly iteration: number
      /** The client did not start the circuit: routers of this package tell it. */
      readonly isUnstarted?: boolean | undefined
    }
  | {
      readonly type: 'route-result'
      readonly circuitId: string
      readonly attempt: number
      readonly success: boolean
      readonly cause: RouteFailureCause
      readonly message: string
      readonly peerData: PeerData
    }
  | {
      readonly type: 'metrics'
      /** Latencies in nanoseconds by the name of the measurement. */
      readonly nanoseconds: ReadonlyMap<string, number>
      readonly usage: readonly CircuitUsage[]
      /** When the router sent it by its own clock, epoch ms; undefined where it does not say. */
      readonly sentAt?: number | undefined
    }
  | {
      /** Idle times are nanoseconds by circuit. */
      readonly type: 'circuit-confirmation'
      readonly circuitIds: readonly string[]
      readonly idleTimes: ReadonlyMap<string, number>
    }
  | { readonly type: 'router-links'; readonly links: readonly LinkReport[]; readonly fullRefresh: boolean }
  | {
      readonly type: 'link-state'
      readonly linkId: string
      readonly iteration: number
      readonly stateIteration: number
      readonly connections: readonly LinkConnection[]
    }
  /** Does the certificate of a router that dials a link belong to that router? */
  | { readonly type: 'verify-router'; readonly routerId: string; readonly fingerprints: readonly string[] }
  | { readonly type: 'link-listeners'; readonly listeners: readonly LinkListener[] }
  | { readonly type: 'interfaces'; readonly interfaces: readonly ReportedInterface[] }
  | { readonly type: 'edge-hello'; readonly hostname: string; readonly listeners: readonly EdgeListener[] }
  | {
      readonly type: 'connect-events'
      readonly full: boolean
      readonly identities: readonly { readonly identityId: string; readonly connected: boolean }[]
    }
  | { readonly type: 'api-session-heartbeat'; readonly tokens: readonly string[] }
  | { readonly type: 'validate-sessions'; readonly tokens: readonly string[] }
  | { readonly type: 'resync-api-sessions'; readonly reason: string }
  | PostureReported
  /** No endpoint of the API session is connected to the router any more. */
  | { readonly type: 'posture-unwanted'; readonly apiSessionId: string }
  | CircuitRequest
  | TunnelCircuitRequest
  | TerminatorRequest
  | TunnelTerminatorRequest
  | TerminatorUpdate
  | { readonly type: 'remove-terminators'; readonly terminatorIds: readonly string[] }
  | {
      readonly type: 'terminators-validated'
      readonly states: ReadonlyMap<string, { readonly valid: boolean; readonly detail: string }>
    }
  | ModelSubscription
  | { readonly type: 'model-validated'; readonly differences: readonly ModelDifference[] }
  | { readonly type: 'alerts'; readonly alerts: readonly RouterAlert[] }
  | Inspected
  | TracesSet
  | ChannelTrace
  /** Asks for the controllers of the network. */
  | { readonly type: 'controllers' }
  /** The operator wants the router spared: new circuits avoid it if other paths exist. */
  | { readonly type: 'quiesce' }
  /** The router serves as before. */
  | { readonly type: 'dequiesce' }
  /** The operator wants the router deleted for good. */
  | { readonly type: 'decommission' }
  /** A request that this controller does not serve, in words. */
  | { readonly type: 'unsupported'; readonly what: string }
  | { readonly type: 'extend-certificates'; readonly clientCertCsr: string; readonly serverCertCsr: string }
  | { readonly type: 'confirm-certificate'; readonly clientCertPem: string }

/** The bytes that a circuit carried at a router in an interval, by direction, for example `ingress.rx`. */
export interface CircuitUsage {
  readonly circuitId: string
  /** The beginning of the interval, epoch ms, and its length. */
  readonly from: number
  readonly lengthMs: number
  readonly bytes: ReadonlyMap<string, number>
}

/** The answer of a router to a request for values of its state. */
export interface Inspected {
  readonly type: 'inspected'
  /** The id of the request. */
  readonly id: string
  /** The reasons why values are missing. */
  readonly errors: readonly string[]
  readonly values: readonly InspectedValue[]
}

/** A value of the state of a router or a controller: JSON, or plain text. */
export interface InspectedValue {
  readonly name: string
  readonly value: string
}

/** The answer of a router to a request to trace channels. */
export interface TracesSet {
  readonly type: 'traces-set'
  /** The id of the request. */
  readonly id: string
  readonly success: boolean
  /** The requested names of channels, a line each; or the reason of a failure. */
  readonly message: string
}

/** A message of a router for its operator. */
export interface RouterAlert {
  readonly severity: string
  readonly message: string
  readonly details: readonly string[]
}

/** An SDK dials a service through the router. */
export interface CircuitRequest {
  readonly type: 'create-circuit'
  /** The service session; undefined if the API session itself identifies the caller. */
  readonly sessionToken: string | undefined
  readonly apiSessionToken: string
  /** Only set without a service session. */
  readonly identityId: string
  readonly serviceId: string
  /** The id that the router wants for the circuit; undefined or empty if the controller chooses it. */
  readonly circuitId: string | undefined
  /** The instance of the service; empty for an instance without a name. */
  readonly instanceId: string
  readonly peerData: PeerData
}

/** Facts that an endpoint reported at a router. */
export interface ReportedFacts {
  readonly facts: EndpointFacts
  /** The instant of the report, epoch ms. */
  readonly at: number
}

/**
 * Reports of an endpoint's posture at the router, in order; empty when the router only asks for the known posture. The answer is
 * `posture-known`, which is sent again with every change until the router cancels it.
 */
export interface PostureReported {
  readonly type: 'posture-reported'
  /** The token that the endpoint presented. */
  readonly apiSessionToken: string
  readonly reports: readonly ReportedFacts[]
}

/** The router dials a service for its own host. */
export interface TunnelCircuitRequest {
  readonly type: 'create-tunnel-circuit'
  readonly serviceName: string
  readonly instanceId: string
  readonly peerData: PeerData
}

interface HostedAddress {
  /** Chosen by the router. For an SDK it is also the id of the terminator. */
  readonly address: string
  readonly peerData: PeerData
  readonly cost: number
  readonly precedence: Precedence
  readonly instanceId: string
  readonly instanceSecret: Uint8Array
}

/** An SDK hosts a service at the router. */
export interface TerminatorRequest extends HostedAddress {
  readonly type: 'create-terminator'
  readonly sessionToken: string
  readonly apiSessionToken: string
}

/** The router hosts a service itself. */
export interface TunnelTerminatorRequest extends HostedAddress {
  readonly type: 'create-tunnel-terminator'
  readonly serviceId: string
  /** Returned unchanged. */
  readonly startTime: bigint
}

/** A change of a terminator; undefined members stay as they are. */
export interface TerminatorUpdate {
  readonly type: 'update-terminator'
  readonly terminatorId: string
  readonly cost: number | undefined
  readonly precedence: Precedence | undefined
}

/** Subscribes a router to the data model, from its current index on, for as long as it is connected. */
export interface ModelSubscription {
  readonly type: 'subscribe'
  readonly currentIndex: number
  readonly timelineId: string
  /** Empty for routers without an id of the subscription. */
  readonly subscriptionId: string
}

/** An address at which a router accepts clients. */
export interface EdgeListener {
  readonly protocol: string
  /** `host:port` as clients reach it. */
  readonly advertise: string
}

/** The introduction of a router that opens its control channel. */
export interface RouterGreeting {
  readonly routerId: string
  readonly software: RouterSoftware
  /** Numbers of capabilities, ascending. */
  readonly capabilities: readonly number[]
  readonly linkListeners: readonly LinkListener[]
  /** True when the router resumes a former channel. */
  readonly isResumed: boolean
}
