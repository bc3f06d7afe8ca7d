/** Parts for the other end of a control channel: for routers that are played in tests. */

export { decodeMask, encodeMask } from '../channel/capability-mask.ts'
export { encodeFrame, type Frame, FrameReader } from '../channel/frame.ts'
export {
  boolHeader,
  bytesMapHeader,
  readBool,
  readBytesMap,
  readText,
  readUint32,
  textHeader,
  uint32Header,
} from '../channel/header-values.ts'
export { CONTENT_TYPE, HEADER } from './messages/content-types.ts'
export {
  ApiSessions,
  ApiSessionsAdded,
  Certificates,
  CircuitCreated,
  ClientHello,
  CodedError,
  ConfirmCertificate,
  ConnectEvents,
  CreateCircuit,
  CreateTerminator,
  CreateTunnelCircuit,
  CreateTunnelTerminator,
  ExtendCertificates,
  TerminatorCreated,
  TokensAndIds,
  UpdateTunnelTerminator,
} from './messages/edge-definitions.ts'
export {
  Alerts,
  CircuitConfirmation,
  Fault,
  InspectResponse,
  LinkStateUpdate,
  Listeners,
  Metrics,
  PeerStateChanges,
  Route,
  RouterInterfaces,
  RouterLinks,
  TerminatorId,
  TerminatorIds,
  Unroute,
  UpdateControllerAddresses,
  UpdateTerminator,
  VerifyRouter,
} from './messages/fabric-definitions.ts'
export type { WireMessage } from './messages/message-row.ts'
export { postureCheckOf, unknownCheck } from './messages/model-codec.ts'
export {
  ChangeSetEvents,
  ChangeSetFacts,
  ModelValidated,
  StateEvents,
  StateFacts,
  Subscribe,
  ValidateModel,
} from './messages/model-definitions.ts'
export { writeFromRouter } from './messages/rows-from-router.ts'
export { readToRouter } from './messages/rows-to-router.ts'
