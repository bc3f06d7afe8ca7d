import {
  BOOL,
  COUNT,
  enumeration,
  field,
  INTEGER,
  mapOf,
  message,
  repeated,
  TEXT,
} from '../../channel/protobuf/index.ts'

/** Content types of the frames of operators' channels, by the number on the wire. */
export const OPERATOR_CONTENT = {
  result: 2,
  streamEvents: 10040,
  event: 10041,
  togglePipeTraces: 10044,
  toggleCircuitTraces: 10045,
  streamTraces: 10046,
  trace: 10047,
  inspect: 10048,
  inspected: 10049,
  hostCount: 10121,
} as const

/** The content types of validations: of the request, of its first answer, and of each result. */
export const VALIDATION_CONTENT = {
  terminators: { request: 10100, begun: 10101, result: 10102 },
  links: { request: 10103, begun: 10104, result: 10105 },
  'sdk-terminators': { request: 10106, begun: 10107, result: 10108 },
  'data-model': { request: 10109, begun: 10110, result: 10111 },
  'identity-connections': { request: 10112, begun: 10113, result: 10114 },
  'ert-terminators': { request: 10115, begun: 10116, result: 10117 },
  circuits: { request: 10118, begun: 10119, result: 10120 },
  'controller-dialers': { request: 10122, begun: 10123, result: 10124 },
} as const

/** The header that names the kind of an event. */
export const EVENT_KIND = 10

export const StreamTraces = message({
  isFiltered: field(1, BOOL),
  filter: field(2, enumeration('exclude', 'include')),
  contentTypes: repeated(3, INTEGER),
})
export const Inspect = message({ appRegex: field(1, TEXT), requestedValues: repeated(2, TEXT) })
export const Inspected = message({
  success: field(1, BOOL),
  errors: repeated(2, TEXT),
  values: repeated(3, message({ appId: field(1, TEXT), name: field(2, TEXT), value: field(3, TEXT) })),
})

export const ValidateTerminators = message({
  terminatorsFilter: field(1, TEXT),
  fixInvalid: field(2, BOOL),
  identitiesFilter: field(3, TEXT),
  expectedPerSvcAndHost: field(4, COUNT),
  expectedPerHost: field(5, COUNT),
})
export const ValidateRouters = message({ filter: field(1, TEXT) })
export const ValidateModel = message({ routerFilter: field(1, TEXT), validateCtrl: field(2, BOOL) })
export const ValidationBegun = message({ success: field(1, BOOL), message: field(2, TEXT), count: field(3, COUNT) })

const TERMINATOR_STATE = enumeration('valid', 'unknown', 'unknown-binding', 'unknown-terminator', 'bad-state')
const LINK_STATE = enumeration('unknown', 'established', 'pending', 'dialing')

export const TerminatorDetail = message({
  terminatorId: field(1, TEXT),
  serviceId: field(2, TEXT),
  serviceName: field(3, TEXT),
  routerId: field(4, TEXT),
  routerName: field(5, TEXT),
  binding: field(6, TEXT),
  address: field(7, TEXT),
  hostId: field(8, TEXT),
  createDate: field(9, TEXT),
  state: field(10, TERMINATOR_STATE),
  fixed: field(11, BOOL),
  detail: field(12, TEXT),
})

export const HostCount = message({ identityId: field(1, TEXT), serviceId: field(2, TEXT), message: field(3, TEXT) })

const ABOUT_ROUTER = {
  routerId: field(1, TEXT),
  routerName: field(2, TEXT),
  validateSuccess: field(3, BOOL),
  message: field(4, TEXT),
}

export const LinkDetails = message({
  ...ABOUT_ROUTER,
  linkDetails: repeated(
    5,
    message({
      linkId: field(1, TEXT),
      ctrlState: field(2, LINK_STATE),
      routerState: field(3, LINK_STATE),
      destConnected: field(4, BOOL),
      isValid: field(5, BOOL),
      destRouterId: field(6, TEXT),
      dialed: field(7, BOOL),
      messages: repeated(8, TEXT),
    }),
  ),
})

export const HostedTerminatorDetails = message({
  ...ABOUT_ROUTER,
  details: repeated(
    5,
    message({
      terminatorId: field(1, TEXT),
      ctrlState: field(2, TERMINATOR_STATE),
      routerState: field(3, TEXT),
      isValid: field(4, BOOL),
      operationActive: field(5, BOOL),
      createTime: field(6, TEXT),
      lastAttempt: field(7, TEXT),
    }),
  ),
})

export const CircuitDetails = message({
  ...ABOUT_ROUTER,
  details: mapOf(
    5,
    TEXT,
    message({
      circuitId: field(1, TEXT),
      missingInCtrl: field(2, BOOL),
      missingInForwarder: field(3, BOOL),
      missingInEdge: field(4, BOOL),
      missingInSdk: field(5, BOOL),
      destinations: mapOf(6, TEXT, TEXT),
    }),
  ),
})

export const ComponentDetails = message({
  componentType: field(1, TEXT),
  componentId: field(2, TEXT),
  componentName: field(3, TEXT),
  validateSuccess: field(4, BOOL),
  errors: repeated(5, TEXT),
})

/** Details without the kind of the component: peers that know this message ask for dialers alone. */
export const DialerDetails = message({
  componentId: field(1, TEXT),
  componentName: field(2, TEXT),
  validateSuccess: field(3, BOOL),
  errors: repeated(4, TEXT),
})
