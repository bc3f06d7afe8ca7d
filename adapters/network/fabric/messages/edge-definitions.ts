import {
  BOOL,
  BYTES,
  COUNT,
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

export const PRECEDENCE = enumeration('default', 'required', 'failed')

export const ServerHello = message({ version: field(1, TEXT), data: mapOf(2, TEXT, TEXT) })

const Address = message({
  value: field(10, TEXT),
  protocol: field(20, TEXT),
  hostname: field(30, TEXT),
  port: field(40, INTEGER),
})

export const ClientHello = message({
  version: field(1, TEXT),
  hostname: field(2, TEXT),
  protocols: repeated(3, TEXT),
  protocolPorts: repeated(5, TEXT),
  listeners: repeated(10, message({ advertise: optional(20, Address) })),
})

const ApiSession = message({
  token: field(1, TEXT),
  certFingerprints: repeated(2, TEXT),
  id: field(3, TEXT),
  identityId: field(4, TEXT),
})

export const ApiSessionsAdded = message({ isFullState: field(1, BOOL), apiSessions: repeated(2, ApiSession) })
export const ApiSessions = message({ apiSessions: repeated(1, ApiSession) })
export const TokensAndIds = message({ tokens: repeated(1, TEXT), ids: repeated(2, TEXT) })
export const Tokens = message({ tokens: repeated(1, TEXT) })
export const Reason = message({ reason: field(1, TEXT) })

/** The oldest form of a request for a circuit; the newer ones consist of headers. */
export const CreateCircuit = message({
  sessionToken: field(1, TEXT),
  terminatorInstanceId: field(3, TEXT),
  peerData: mapOf(4, COUNT, BYTES),
  apiSessionToken: field(5, TEXT),
})

export const CreateTunnelCircuit = message({
  serviceName: field(1, TEXT),
  terminatorInstanceId: field(2, TEXT),
  peerData: mapOf(3, COUNT, BYTES),
})

export const CircuitCreated = message({
  circuitId: field(1, TEXT),
  address: field(2, TEXT),
  peerData: mapOf(3, COUNT, BYTES),
  tags: mapOf(4, TEXT, TEXT),
})

export const CreateTerminator = message({
  address: field(1, TEXT),
  sessionToken: field(2, TEXT),
  peerData: mapOf(4, COUNT, BYTES),
  cost: field(5, COUNT),
  precedence: field(6, PRECEDENCE),
  instanceId: field(7, TEXT),
  instanceSecret: field(8, BYTES),
  apiSessionToken: field(9, TEXT),
})

export const CreateTunnelTerminator = message({
  serviceId: field(1, TEXT),
  address: field(2, TEXT),
  peerData: mapOf(3, COUNT, BYTES),
  cost: field(4, COUNT),
  precedence: field(5, PRECEDENCE),
  instanceId: field(6, TEXT),
  instanceSecret: field(7, BYTES),
  startTime: field(8, INT64),
})

const RESULT = enumeration('success', 'id-conflict', 'other', 'busy', 'invalid-session')

export const TerminatorCreated = message({
  terminatorId: field(1, TEXT),
  result: field(2, RESULT),
  msg: field(3, TEXT),
  errorCode: field(4, COUNT),
  retryHint: field(5, COUNT),
})

export const TunnelTerminatorCreated = message({
  terminatorId: field(1, TEXT),
  startTime: field(2, INT64),
  result: field(3, RESULT),
  msg: field(4, TEXT),
  errorCode: field(5, COUNT),
  retryHint: field(6, COUNT),
})

export const UpdateEdgeTerminator = message({
  terminatorId: field(3, TEXT),
  cost: field(4, COUNT),
  precedence: field(5, PRECEDENCE),
  updatePrecedence: field(6, BOOL),
  updateCost: field(7, BOOL),
})

export const UpdateTunnelTerminator = message({
  terminatorId: field(1, TEXT),
  cost: field(2, COUNT),
  precedence: field(3, PRECEDENCE),
  updatePrecedence: field(4, BOOL),
  updateCost: field(5, BOOL),
})

export const RemoveEdgeTerminator = message({ terminatorId: field(3, TEXT) })

export const ConnectEvents = message({
  events: repeated(1, message({ identityId: field(1, TEXT), isConnected: field(2, BOOL) })),
  fullState: field(2, BOOL),
})

export const ExtendCertificates = message({
  clientCertCsr: field(1, TEXT),
  serverCertCsr: field(2, TEXT),
  /** The router must confirm new certificates before they are in force. */
  requireVerification: field(3, BOOL),
})
export const Certificates = message({ clientCertPem: field(1, TEXT), serverCertPem: field(2, TEXT) })
/** Of this package alone. */
export const RenewCertificates = message({ authorityKeyId: field(1, TEXT) })
export const ConfirmCertificate = message({ clientCertPem: field(1, TEXT) })
export const CodedError = message({ code: field(1, TEXT), message: field(2, TEXT) })
