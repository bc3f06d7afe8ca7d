/** The reason why no circuit could be created. */
export type CircuitFailure =
  | 'no-terminators'
  | 'no-online-terminators'
  | 'no-terminators-here'
  | 'no-path'
  | 'routers-failed'
  | 'refused'

/** The outlook of a dial to a service without a named instance. */
export interface ServiceReach {
  /** The obstacle to a circuit; undefined without an obstacle. */
  readonly obstacle: Exclude<CircuitFailure, 'routers-failed' | 'refused'> | 'hosts-may-not-bind' | undefined
  /** The routers of its terminators. */
  readonly hostRouterIds: readonly string[]
}

/** The reason why a router did not set up its part of a circuit. */
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

/** A failed dial. */
export interface DialFailure {
  /** Epoch ms. */
  readonly at: number
  readonly reason: CircuitFailure
  /** For `routers-failed`: the cause at the last router that was asked. */
  readonly cause: DialFailureCause | null
  /** The router that failed. */
  readonly routerId: string | null
}
