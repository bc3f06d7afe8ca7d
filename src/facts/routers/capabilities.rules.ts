/** The controller judges posture, not the router. Software outside this package neither announces it nor reacts to it. */
const JUDGED_BY_CONTROLLER = 48

/** The capabilities of routers, by the numbers of their bits. Routers announce them to controllers and to endpoints. */
export const ROUTER_CAPABILITY = {
  /** Several sockets of a channel; of routers from 2.0 on. */
  multiChannel: 1,
  /** Dials without a service session. */
  sessionlessDials: 2,
  /** Changes of services are pushed to endpoints. */
  serviceSubscriptions: 4,
  /** Posture reports of endpoints; of routers from 2.1 on. */
  postureChecks: 5,
  /** Confirmation of an established bind. */
  bindSuccess: 6,
  /** The router judges nothing itself, and compares every part of the model. */
  judgedByController: JUDGED_BY_CONTROLLER,
  /** The router renews its key and certificates on a controller's request; of routers of this package. */
  renewsWhenAsked: 51,
} as const

/** The capabilities of controllers, by the numbers of their bits: those of deployed lines, and two of this package. */
export const CONTROLLER_CAPABILITY = {
  terminatorsV2: 1,
  /** One end of a link reports it. */
  linksOfOneEnd: 2,
  circuitsV2: 3,
  dataModel: 4,
  /** Several sockets of a channel; of controllers from 2.0 on. */
  multiChannel: 5,
  /** Service sessions are signed tokens. */
  signedSessions: 6,
  judgesForRouters: JUDGED_BY_CONTROLLER,
  /** The controller accepts posture reports that its routers forward. */
  takesPosture: 50,
} as const

/** The capabilities that routers of this package announce to endpoints. */
export const TOLD_TO_ENDPOINTS = [
  ROUTER_CAPABILITY.multiChannel,
  ROUTER_CAPABILITY.sessionlessDials,
  ROUTER_CAPABILITY.serviceSubscriptions,
  ROUTER_CAPABILITY.postureChecks,
  ROUTER_CAPABILITY.bindSuccess,
] as const

/** The capabilities that routers of this package announce to controllers. */
export const TOLD_TO_CONTROLLERS = [
  ...TOLD_TO_ENDPOINTS,
  ROUTER_CAPABILITY.judgedByController,
  ROUTER_CAPABILITY.renewsWhenAsked,
] as const

/** The names of router capabilities in the API, by number. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [ROUTER_CAPABILITY.multiChannel, 'MULTI_CHANNEL'],
  [ROUTER_CAPABILITY.sessionlessDials, 'CONNECT_V2'],
  [ROUTER_CAPABILITY.serviceSubscriptions, 'SERVICE_SUBSCRIPTIONS'],
  [ROUTER_CAPABILITY.postureChecks, 'POSTURE_CHECKS'],
  [ROUTER_CAPABILITY.bindSuccess, 'BIND_SUCCESS'],
])

/** All names of router capabilities, in the order of their numbers. */
export const ROUTER_CAPABILITY_NAMES: readonly string[] = [...NAMES.values()]

/** The names of router capabilities; capabilities without a name are left out. */
export function capabilityNames(numbers: readonly number[]): readonly string[] {
  return numbers.flatMap((number) => NAMES.get(number) ?? [])
}

/**
 * Reports whether a router judges the posture of bearer sessions, by its capabilities: routers of version 1.6 and routers of this package
 * do not.
 */
export function judgesPosture(capabilities: readonly number[]): boolean {
  if (capabilities.includes(ROUTER_CAPABILITY.judgedByController)) return false
  return [ROUTER_CAPABILITY.postureChecks, ROUTER_CAPABILITY.multiChannel].some((one) => capabilities.includes(one))
}
