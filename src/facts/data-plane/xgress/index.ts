export {
  type Acknowledgement,
  type Chunk,
  type CircuitSide,
  PAYLOAD_FLAG,
  PAYLOAD_ITEM,
  type Payload,
} from './payload.ts'
export { CLOSE_WAIT_MS, type EndReason, LINGER_MS, type Reading, XgressEnd } from './xgress-end.ts'
