export { EarlyMessages, EXPECTED_LIMITS, UNLAID_LIMITS } from './early-messages.ts'
export {
  FAULT_REPORT_MS,
  ForwardFaults,
  ForwardingTable,
  MOST_WAITING_FAULTS,
  type ToldCircuit,
} from './forwarding-table.ts'
