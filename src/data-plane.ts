/**
 * The rules by which edge routers and endpoints carry circuits, for the adapters that put them on sockets. The rules are pure: they take
 * the time and the message that arrived. The turns of the event loop are for work of a router that concerns all its endpoints.
 */

export { ConnectionTable } from './facts/data-plane/edge/connection-table.ts'
export {
  EDGE_ERROR,
  type EdgeRefusal,
  HINT_NUMBERS,
  hostFailure,
  refusalJson,
  refusalText,
} from './facts/data-plane/edge/edge-refusal.ts'
export {
  isAccessToken,
  OF_THIS_PROCESS,
  type PresentableSession,
  type PresentedCertificate,
  sessionRefusal,
} from './facts/data-plane/edge/session-admission.ts'
export {
  EarlyMessages,
  EXPECTED_LIMITS,
  ForwardFaults,
  ForwardingTable,
  type ToldCircuit,
  UNLAID_LIMITS,
} from './facts/data-plane/forwarding/index.ts'
export {
  DEAD_LATENCY_NS,
  DUPLICATE_CLOSES_MS,
  duplicateOutcome,
  groupsMeet,
  linkKey,
  linkLiveness,
  peerFirstMs,
  redialDelayMs,
} from './facts/data-plane/forwarding/link-rules.ts'
export { PEER_DATA } from './facts/data-plane/peer-data-keys.ts'
export {
  meaningOf,
  pauseAfter,
  type RouterOffer,
  type RouterRefusal,
  renewAfter,
  routersToTry,
} from './facts/data-plane/sdk-dialing.ts'
export {
  type Acknowledgement,
  type CircuitSide,
  type EndReason,
  PAYLOAD_FLAG,
  PAYLOAD_ITEM,
  type Payload,
  type Reading,
  XgressEnd,
} from './facts/data-plane/xgress/index.ts'
export type { Chunk } from './facts/data-plane/xgress/payload.ts'
export { ROUTER_VERSION } from './facts/routers/versions.rules.ts'
export { createLoopTurns } from './platform/system-runtime.ts'
