export { FAULT_REPORT_MS, ForwardFaults, MOST_WAITING_FAULTS } from './forward-faults.ts'
export { ForwardingTable } from './forwarding-table.ts'
