import type { RequestState } from '../access/access-request.rules.ts'
import type { CircuitFailure, DialFailureCause } from '../access/explain/service-reach.rules.ts'
import type { ChannelRefusal, Misbehaviour, RouterAlert } from '../fabric/messages/index.ts'
import type { CircuitEnd } from '../fabric/rules/index.ts'

/** Events, sent after their commit. Instants are epoch milliseconds; no payload holds a secret. */
export interface ControllerEvents {
  /** An entity was created, updated or deleted. */
  'entity.changed': {
    readonly operation: 'insert' | 'update' | 'delete'
    /** The resource, for example `service-policies`. */
    readonly kind: string
    readonly id: string
    /** The author: the id of an identity, or undefined for the controller itself. */
    readonly author: string | undefined
    readonly at: number
  }
  /** A client tried to authenticate. */
  'authentication.attempted': {
    readonly success: boolean
    readonly method: 'password' | 'cert' | 'ext-jwt'
    readonly identityId: string | undefined
    readonly remoteAddress: string | undefined
    /** The id of the request in the log and the audit trail. */
    readonly requestId?: string | undefined
    /** The reason of the failure, for the operator only. */
    readonly reason: string | undefined
    readonly at: number
  }
  /** A session was refused because no service policy passed. */
  'service.refused': {
    readonly identityId: string
    readonly serviceId: string
    readonly type: 'Dial' | 'Bind'
    readonly at: number
  }
  /** An identity asked for access to a service for some time. `service` is its text; `serviceId` is undefined for an unknown service. */
  'access-request.made': AccessRequestFacts & { readonly durationMs: number; readonly reason: string }
  /** An access request ceased to be open: by a decision, by its identity, or because its time was over. */
  'access-request.decided': AccessRequestFacts & {
    readonly state: Exclude<RequestState, 'open'>
    /** The service policy of an approval. */
    readonly policyId: string | undefined
    /** The end of approved access, epoch ms. */
    readonly until: number | undefined
    /** The id of the identity that decided; undefined for the rule of the host, and for an expired request. */
    readonly author: string | undefined
  }
  /** An authentication began an API session. */
  'api-session.started': {
    readonly apiSessionId: string
    readonly identityId: string
    /** True for a session of the OpenID provider, which uses bearer tokens. */
    readonly isBearer: boolean
    readonly ipAddress: string
    readonly at: number
  }
  /** The use of an API session was recorded, at most once a minute. */
  'api-session.refreshed': {
    readonly apiSessionId: string
    readonly identityId: string
    readonly isBearer: boolean
    readonly at: number
  }
  /** An API session has ended: routers close its connections. */
  'api-session.ended': {
    readonly apiSessionId: string
    readonly identityId: string
    readonly isBearer: boolean
    readonly reason: 'logout' | 'timeout' | 'identity-deleted' | 'removed'
    readonly at: number
  }
  /** An API session may dial or bind a service from now on. */
  'session.created': SessionFacts
  /** A service session has ended: routers close its connections. */
  'session.ended': SessionFacts & {
    readonly reason: SessionEnd
  }
  /**
   * A bearer session got a token by which edge routers let it dial or bind a service. The token is not stored, so no event reports its end:
   * it ends with its API session at the latest. `sessionId` is the id in the token.
   */
  'service-token.issued': SessionFacts
  /** A one-time token was turned into credentials of an identity or a router. */
  'enrollment.completed': {
    readonly enrollmentId: string
    readonly method: string
    readonly identityId: string | undefined
    readonly edgeRouterId: string | undefined
    readonly at: number
  }
  /** The known posture of an identity's endpoints has changed. */
  'posture.changed': { readonly identityId: string; readonly at: number }
  /**
   * An identity gained or lost a service. Sent when its own role attributes change, and when one of its sessions ends because access was
   * lost. A change of a policy or of a service's attributes is not expanded to all affected identities, which may be every identity for
   * every service. Neither is the creation or deletion of an identity or a service. Listen to `entity.changed` for these, and request the
   * list that you need. Posture changes are reported by `posture.changed`.
   */
  'access.changed': {
    readonly identityId: string
    readonly serviceId: string
    readonly type: 'Dial' | 'Bind'
    readonly change: 'gained' | 'lost'
    readonly at: number
  }
  /** Keys or certificates of the network have changed: of its server, or of its authorities. */
  'pki.changed': {
    /** The fingerprint of the server certificate. */
    readonly serverCertificate: string
    /** The fingerprint of the signing authority. */
    readonly issuer: string
    readonly at: number
  }
  /** The control channel of a router opened or closed. */
  'router.connection': { readonly routerId: string; readonly isOnline: boolean; readonly at: number }
  /** The connection of a router was refused. */
  'router.refused': {
    readonly routerId: string
    readonly reason: ChannelRefusal
    readonly remoteAddress: string | undefined
    readonly at: number
  }
  /** A router did something that could harm other parties, and was stopped. Sent at most once a minute for each kind. */
  'router.misbehaved': { readonly routerId: string; readonly what: Misbehaviour; readonly at: number }
  /** A router sent a message to its operator; each text is at most 1,024 characters long. */
  'router.alert': RouterAlert & { readonly routerId: string; readonly at: number }
  /** A link between two routers came up or went down. */
  'link.connection': {
    readonly linkId: string
    readonly source: string
    readonly target: string
    readonly protocol: string
    /** The address that was dialed. */
    readonly dialAddress: string
    /** Its cost in addition to its latency. */
    readonly staticCost: number
    /** Its sockets, as the dialing router reported them, each with its addresses at both ends. */
    readonly connections: readonly { readonly type: string; readonly source: string; readonly target: string }[]
    readonly isUp: boolean
    readonly at: number
  }
  /** A terminator was created, changed or deleted. */
  'terminator.changed': {
    readonly operation: 'insert' | 'update' | 'delete'
    readonly terminatorId: string
    readonly serviceId: string
    readonly routerId: string
    /** The hosting identity; empty for an address that an operator registered. */
    readonly hostId: string
    /** Empty for an instance without a name. */
    readonly instanceId: string
    readonly precedence: 'default' | 'required' | 'failed'
    readonly cost: number
    readonly at: number
  }
  /** Traffic flows from an identity to a service. */
  'circuit.opened': CircuitFacts & CircuitWay & { readonly tookMs: number }
  /** A circuit takes another path. */
  'circuit.moved': CircuitFacts & CircuitWay & { readonly openedAt: number }
  /** A circuit has ended. */
  'circuit.closed': CircuitFacts & CircuitWay & { readonly reason: CircuitEnd; readonly openedAt: number }
  /** The load of a circuit at one of its routers in an interval: bytes by direction, for example `ingress.rx`. */
  'circuit.usage': CircuitFacts & {
    readonly routerId: string
    readonly from: number
    readonly lengthMs: number
    readonly bytes: Readonly<Record<string, number>>
  }
  /** No circuit could be created. */
  'circuit.failed': {
    readonly identityId: string
    readonly serviceId: string
    readonly routerId: string
    readonly reason: CircuitFailure
    /** The id of the requested circuit. */
    readonly circuitId: string
    /** The cause at the last router that failed; undefined if no router was asked. */
    readonly cause: DialFailureCause | undefined
    readonly tookMs: number
    readonly at: number
  }
  /** An identity's endpoints connected to edge routers or disconnected; `unknown` for a while after their router has disconnected. */
  'identity.connection': {
    readonly identityId: string
    readonly status: 'online' | 'offline' | 'unknown'
    readonly at: number
  }
}

/**
 * The reason for which a session ended: it was deleted; its API session ended; the service was deleted; no service policy grants the access
 * any more; or all policies that grant it fail by posture.
 */
export type SessionEnd = 'removed' | 'api-session-ended' | 'service-deleted' | 'access-lost' | 'posture-failed'

interface AccessRequestFacts {
  readonly requestId: string
  readonly identityId: string
  readonly serviceId: string | undefined
  readonly service: string
  readonly type: 'Dial' | 'Bind'
  readonly at: number
}

interface CircuitFacts {
  readonly circuitId: string
  readonly identityId: string
  readonly serviceId: string
  readonly terminatorId: string
  /** The hosting identity; empty for an address that an operator registered. */
  readonly hostId: string
  /** Empty for an instance without a name. */
  readonly instanceId: string
  readonly at: number
}

/** The routers of a circuit's path and the links between them, in order, and the addresses by which routers know its ends. */
interface CircuitWay {
  readonly path: readonly string[]
  readonly links: readonly string[]
  readonly ingressId: string
  readonly egressId: string
  /** The total cost of the hops. */
  readonly cost: number
}

interface SessionFacts {
  readonly sessionId: string
  readonly apiSessionId: string
  readonly identityId: string
  readonly serviceId: string
  readonly type: 'Dial' | 'Bind'
  readonly at: number
}

export type EventName = keyof ControllerEvents

const NAMES: Readonly<Record<EventName, true>> = {
  'entity.changed': true,
  'authentication.attempted': true,
  'service.refused': true,
  'access-request.made': true,
  'access-request.decided': true,
  'api-session.started': true,
  'api-session.refreshed': true,
  'api-session.ended': true,
  'session.created': true,
  'session.ended': true,
  'service-token.issued': true,
  'enrollment.completed': true,
  'posture.changed': true,
  'access.changed': true,
  'pki.changed': true,
  'router.connection': true,
  'router.refused': true,
  'router.misbehaved': true,
  'terminator.changed': true,
  'router.alert': true,
  'link.connection': true,
  'circuit.opened': true,
  'circuit.moved': true,
  'circuit.closed': true,
  'circuit.usage': true,
  'circuit.failed': true,
  'identity.connection': true,
}

/** The name of every event. */
// The type of the table permits only these names.
export const EVENT_NAMES = Object.keys(NAMES) as readonly EventName[]

/** Delivers events to the host. The failure of a listener is logged; it affects neither the controller nor other listeners. */
export interface Events {
  emit<E extends EventName>(name: E, event: ControllerEvents[E]): void
  /** Adds a listener; answers the function that removes it. Throws `TypeError` for an unknown event. */
  on<E extends EventName>(name: E, listener: (event: ControllerEvents[E]) => void): () => void
}
