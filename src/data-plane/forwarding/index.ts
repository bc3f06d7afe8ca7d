export { FAULT_REPORT_MS, ForwardFaults, MOST_WAITING_FAULTS } from './forward-faults.ts'
export { ForwardingTable, type ToldCircuit } from './forwarding-table.ts'
