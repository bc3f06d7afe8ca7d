export { EarlyMessages, EXPECTED_LIMITS, UNLAID_LIMITS } from './early-messages.ts'
export {
  ForwardFaults,
  ForwardingTable,
  type ToldCircuit,
} from './forwarding-table.ts'
