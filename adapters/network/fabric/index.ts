/**
 * The control channel of routers.
 *
 * @module portcullis/fabric
 */
export type {
  AnnouncedApiSession,
  ApiSessionsAdded,
  CertificateConfirmation,
  ChannelRefusal,
  CircuitRequest,
  CircuitUsage,
  ControllerAddresses,
  EdgeListener,
  FaultSubject,
  FromRouter,
  Inspect,
  Inspected,
  InspectedValue,
  LinkListener,
  Misbehaviour,
  ModelChanges,
  ModelCodec,
  ModelEntity,
  ModelEntityType,
  ModelEvent,
  ModelState,
  ModelSubscription,
  OwnRouter,
  OwnRouterRequest,
  PeerChange,
  PeerData,
  PolicySide,
  RefusalCode,
  ReportedInterface,
  RetryHint,
  Route,
  RouterAlert,
  RouterChannel,
  RouterGreeting,
  RouterSession,
  RouterSoftware,
  SocketAdmission,
  TerminatorRequest,
  TerminatorUpdate,
  ToRouter,
  TunnelCircuitRequest,
  TunnelTerminatorRequest,
  ValidatedTerminator,
  ValidateModel,
  VerifiedSocket,
} from '../../../src/control-channel.ts'
export {
  CONTROL_PROTOCOL,
  type ControlListener,
  type ControlListenerOptions,
  type FabricController,
  type OpenControlListener,
  openControlListener,
} from './control-listener.ts'
export { openOperatorConnection } from './operators/operator-connection.ts'
export type { ProcessSocket } from './processes/process-connection.ts'
export type { HeartbeatTimes } from './router-group.ts'
export * as routerSide from './router-side.ts'
