/** Why no circuit could be laid. */
export type CircuitFailure =
  | 'no-terminators'
  | 'no-online-terminators'
  | 'no-terminators-here'
  | 'no-path'
  | 'routers-failed'
  | 'refused'

/** Whether a circuit to a service could be laid, by a dial that names no instance. */
export interface ServiceReach {
  /** Why it could not; undefined where it could. */
  readonly obstacle: Exclude<CircuitFailure, 'routers-failed' | 'refused'> | 'hosts-may-not-bind' | undefined
  /** The routers that its terminators are at. */
  readonly hostRouterIds: readonly string[]
}

/** Why a router did not lay its part of a circuit. */
export type DialFailureCause =
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

/** A dial that failed. */
export interface DialFailure {
  /** Epoch ms. */
  readonly at: number
  readonly reason: CircuitFailure
  /** Of `routers-failed`: why the last router failed that was asked. */
  readonly cause: DialFailureCause | null
  /** The router that failed. */
  readonly routerId: string | null
}
