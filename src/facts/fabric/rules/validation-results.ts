/** A request for state values of routers and the controller. */
export interface InspectionRequest {
  /** A pattern of RE2 for ids and names of routers, and for the id of the controller. */
  readonly appRegex: string
  readonly requestedValues: readonly string[]
}

/** The values of the routers and the controller that answered in time. */
export interface InspectionResult {
  /** Each begins with the id of its router or terminator. */
  readonly errors: readonly string[]
  /** Texts, mostly JSON. */
  readonly values: readonly { readonly appId: string; readonly name: string; readonly value: string }[]
}

/** Validations of the state of routers, one after the other. */
type RouterValidation =
  | 'circuits'
  | 'links'
  | 'sdk-terminators'
  | 'ert-terminators'
  | 'identity-connections'
  | 'data-model'

/** The expected number of a host's terminators in the request; 0 for no expectation. */
export interface ExpectedCounts {
  /** A filter for the identities of `perHost`. Empty for all identities that are not administrators. */
  readonly hosts: string
  readonly perHost: number
  /** For each service with a terminator of the host. */
  readonly perHostAndService: number
}

/** A request to compare the state of routers with the controller's. */
export type ValidationRequest =
  | {
      readonly what: RouterValidation
      /** A filter for the routers. */
      readonly filter: string
      /** For the data model: true to compare this process's copy with the store too. */
      readonly withController: boolean
    }
  | {
      readonly what: 'terminators'
      /** A filter for the terminators. */
      readonly filter: string
      /** Deletes terminators that their routers do not have. */
      readonly fix: boolean
      readonly expected: ExpectedCounts
    }
  /** Asks whether the controller reaches the routers that it dials. */
  | { readonly what: 'controller-dialers' }

interface AboutRouter {
  readonly routerId: string
  readonly routerName: string
  /** The reason why the router did not answer; undefined if it answered. */
  readonly problem: string | undefined
}

/** The places that do not know a circuit that others know. */
export interface CircuitState {
  readonly circuitId: string
  readonly missingInCtrl: boolean
  readonly missingInForwarder: boolean
  readonly missingInEdge: boolean
  readonly missingInSdk: boolean
  readonly destinations: ReadonlyMap<string, string>
}

export type LinkSideState = 'unknown' | 'established' | 'pending' | 'dialing'

/** A link as a router and the controller know it. */
export interface LinkState {
  readonly linkId: string
  readonly ctrlState: LinkSideState
  readonly routerState: LinkSideState
  readonly destConnected: boolean
  readonly isValid: boolean
  readonly destRouterId: string
  readonly dialed: boolean
  readonly messages: readonly string[]
}

export type TerminatorSideState = 'valid' | 'unknown' | 'unknown-binding' | 'unknown-terminator' | 'bad-state'

/** A terminator as a router and the controller know it. */
export interface HostedTerminatorState {
  readonly terminatorId: string
  readonly ctrlState: TerminatorSideState
  readonly routerState: string
  readonly isValid: boolean
  readonly operationActive: boolean
  readonly createTime: string
  readonly lastAttempt: string
}

/** A host with an unexpected number of terminators. */
export interface HostCount {
  readonly identityId: string
  /** Empty for a count over all services. */
  readonly serviceId: string
  readonly message: string
}

/** A stored terminator, and its state at its router. */
export interface TerminatorState {
  readonly terminatorId: string
  readonly serviceId: string
  readonly serviceName: string
  readonly routerId: string
  readonly routerName: string
  readonly binding: string
  readonly address: string
  readonly hostId: string
  /** RFC 3339. */
  readonly createDate: string
  readonly state: TerminatorSideState
  readonly fixed: boolean
  readonly detail: string
}

/** One result of a validation. */
export type Validated =
  | (AboutRouter & { readonly what: 'circuits'; readonly circuits: ReadonlyMap<string, CircuitState> })
  | (AboutRouter & { readonly what: 'links'; readonly links: readonly LinkState[] })
  | (AboutRouter & {
      readonly what: 'sdk-terminators' | 'ert-terminators'
      readonly terminators: readonly HostedTerminatorState[]
    })
  | {
      readonly what: 'identity-connections' | 'data-model' | 'controller-dialers'
      readonly componentType: 'router' | 'controller'
      readonly componentId: string
      readonly componentName: string
      readonly success: boolean
      readonly errors: readonly string[]
    }
  | ({ readonly what: 'terminators' } & TerminatorState)
  | ({ readonly what: 'host-count' } & HostCount)
