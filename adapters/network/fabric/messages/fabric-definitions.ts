import {
  BOOL,
  BYTES,
  COUNT,
  DOUBLE,
  enumeration,
  field,
  INT64,
  INTEGER,
  mapOf,
  message,
  optional,
  repeated,
  TEXT,
} from '../../channel/protobuf/index.ts'
import { PRECEDENCE } from './edge-definitions.ts'

const Listener = message({
  address: field(1, TEXT),
  protocol: field(2, TEXT),
  groups: repeated(4, TEXT),
  localBinding: field(5, TEXT),
})

export const Listeners = message({ listeners: repeated(1, Listener) })

export const Fault = message({
  subject: field(1, enumeration('ingress', 'egress', 'link', 'forward', 'forward-of-unknown-owner', 'duplicate-link')),
  id: field(2, TEXT),
  iteration: field(3, COUNT),
  // Of this package alone: others pass it over.
  isUnstarted: optional(100, BOOL),
})

const Forward = message({
  srcAddress: field(1, TEXT),
  dstAddress: field(2, TEXT),
  dstType: field(3, enumeration('start', 'end', 'link')),
})

const Egress = message({
  binding: field(1, TEXT),
  address: field(2, TEXT),
  destination: field(3, TEXT),
  peerData: mapOf(4, COUNT, BYTES),
})

export const Route = message({
  circuitId: field(1, TEXT),
  attempt: field(2, COUNT),
  egress: optional(3, Egress),
  forwards: repeated(4, Forward),
  /** Nanoseconds. */
  timeout: field(6, COUNT),
  tags: mapOf(7, TEXT, TEXT),
})

export const Unroute = message({ circuitId: field(1, TEXT), now: field(2, BOOL) })

export const CircuitConfirmation = message({
  circuitIds: repeated(1, TEXT),
  /** Nanoseconds. */
  idleTimes: mapOf(2, TEXT, INTEGER),
})

const LinkConnection = message({ type: field(1, TEXT), localAddr: field(2, TEXT), remoteAddr: field(3, TEXT) })
const LinkConnectionState = message({ stateIteration: field(1, COUNT), conns: repeated(2, LinkConnection) })

export const RouterLinks = message({
  links: repeated(
    1,
    message({
      id: field(1, TEXT),
      destRouterId: field(2, TEXT),
      linkProtocol: field(3, TEXT),
      dialAddress: field(5, TEXT),
      iteration: field(6, COUNT),
      connState: optional(7, LinkConnectionState),
    }),
  ),
  fullRefresh: field(2, BOOL),
})

export const LinkStateUpdate = message({
  linkId: field(1, TEXT),
  linkIteration: field(2, COUNT),
  connState: optional(3, LinkConnectionState),
})

export const VerifyRouter = message({ routerId: field(1, TEXT), fingerprints: repeated(2, TEXT) })

export const PeerStateChanges = message({
  changes: repeated(
    1,
    message({
      id: field(1, TEXT),
      version: field(2, TEXT),
      state: field(3, enumeration('healthy', 'unhealthy', 'removed')),
      listeners: repeated(4, Listener),
    }),
  ),
})

export const UpdateControllerAddresses = message({
  addresses: repeated(1, TEXT),
  index: field(2, COUNT),
  isLeader: field(3, BOOL),
  controllers: repeated(
    4,
    message({
      id: field(1, TEXT),
      endpoints: repeated(2, message({ address: field(1, TEXT), groups: repeated(2, TEXT) })),
    }),
  ),
})

export const RouterInterfaces = message({
  interfaces: repeated(
    1,
    message({
      name: field(1, TEXT),
      hardwareAddress: field(2, TEXT),
      mtu: field(3, INTEGER),
      index: field(4, INTEGER),
      flags: field(5, COUNT),
      addresses: repeated(6, TEXT),
    }),
  ),
})

/** The part of a router's metrics that is read: the mean of each histogram, by its name, and the usage of circuits. */
export const Metrics = message({
  /** The router that measured. */
  sourceId: field(2, TEXT),
  /** When it was sent, by the clock of the router. */
  timestamp: optional(3, message({ seconds: field(1, INTEGER), nanos: field(2, INTEGER) })),
  histograms: mapOf(8, TEXT, message({ mean: field(3, DOUBLE) })),
  usageCounters: repeated(
    11,
    message({
      /** Seconds, as the next. */
      intervalStart: field(1, COUNT),
      intervalLength: field(2, COUNT),
      buckets: mapOf(3, TEXT, message({ values: mapOf(1, TEXT, COUNT) })),
    }),
  ),
})

export const Alerts = message({
  alerts: repeated(1, message({ severity: field(4, TEXT), message: field(5, TEXT), details: repeated(6, TEXT) })),
})

export const InspectRequest = message({ values: repeated(1, TEXT) })
export const InspectResponse = message({
  success: field(1, BOOL),
  errors: repeated(2, TEXT),
  values: repeated(3, message({ name: field(1, TEXT), value: field(2, TEXT) })),
})

export const TraceChannels = message({
  isOn: field(1, BOOL),
  named: field(2, enumeration('none', 'matching', 'other', 'all')),
  routerPattern: field(3, TEXT),
  channelPattern: field(4, TEXT),
})
export const ChannelTrace = message({
  atNs: field(1, INT64),
  owner: field(2, TEXT),
  channel: field(3, TEXT),
  isReceived: field(4, BOOL),
  contentType: field(5, INTEGER),
  sequence: field(6, INTEGER),
  replyFor: field(7, INTEGER),
  length: field(8, INTEGER),
  meaning: field(9, TEXT),
})

export const TerminatorId = message({ terminatorId: field(1, TEXT) })
export const UpdateTerminator = message({
  terminatorId: field(1, TEXT),
  updatePrecedence: field(2, BOOL),
  updateCost: field(3, BOOL),
  precedence: field(4, PRECEDENCE),
  cost: field(5, COUNT),
})
export const TerminatorIds = message({ terminatorIds: repeated(1, TEXT) })

export const ValidateTerminators = message({
  terminators: repeated(
    1,
    message({ id: field(1, TEXT), binding: field(2, TEXT), address: field(3, TEXT), marker: field(4, COUNT) }),
  ),
  fixInvalid: field(2, BOOL),
  postCreate: field(3, BOOL),
})

export const TerminatorStates = message({
  states: mapOf(1, TEXT, message({ valid: field(1, BOOL), detail: field(3, TEXT) })),
})
