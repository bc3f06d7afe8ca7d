export {
  type Acknowledgement,
  type CircuitSide,
  PAYLOAD_FLAG,
  PAYLOAD_ITEM,
  type Payload,
} from './payload.ts'
export { type EndReason, type Reading, XgressEnd } from './xgress-end.ts'
