/** Whom to ask for values of their state, and for which. */
export interface InspectionRequest {
  /** A pattern of RE2 for ids and names of routers, and for the id of the controller. */
  readonly appRegex: string
  readonly requestedValues: readonly string[]
}

/** The values of routers and of the controller that answered in time. */
export interface InspectionResult {
  /** Each begins with the id of the router or terminator that it is about. */
  readonly errors: readonly string[]
  /** Texts, JSON most of them. */
  readonly values: readonly { readonly appId: string; readonly name: string; readonly value: string }[]
}

/** Validations of what one router after the other has. */
type RouterValidation =
  | 'circuits'
  | 'links'
  | 'sdk-terminators'
  | 'ert-terminators'
  | 'identity-connections'
  | 'data-model'

/** How many of the terminators that are asked for a host is to have; 0 where that is not asked. */
export interface ExpectedCounts {
  /** In the language of lists; the identities that `perHost` is about. Empty for everybody who is no administrator. */
  readonly hosts: string
  readonly perHost: number
  /** Of each service that a host has at all. */
  readonly perHostAndService: number
}

/** A question whether routers have what the controller has. */
export type ValidationRequest =
  | {
      readonly what: RouterValidation
      /** In the language of lists; which routers are asked. */
      readonly filter: string
      /** For the data model: also whether what this process keeps is what the store holds. */
      readonly withController: boolean
    }
  | {
      readonly what: 'terminators'
      /** In the language of lists; which terminators are asked for. */
      readonly filter: string
      /** Deletes those that their routers do not have. */
      readonly fix: boolean
      readonly expected: ExpectedCounts
    }
  /** Does the controller reach the routers that it dials? */
  | { readonly what: 'controller-dialers' }

interface AboutRouter {
  readonly routerId: string
  readonly routerName: string
  /** Why the router could not be asked; undefined where it answered. */
  readonly problem: string | undefined
}

/** Where a circuit is not known that is known elsewhere. */
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

/** A host that has another number of terminators than was expected. */
export interface HostCount {
  readonly identityId: string
  /** Empty where those of all services were counted. */
  readonly serviceId: string
  readonly message: string
}

/** A stored terminator, and whether its router has it. */
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
