/** The fabric API: the data plane as this process knows it, and its parts. The exports are its rows; only exported rows are served. */
export { circuitOperations } from './fabric/circuits.rows.ts'
export { clusterOperations, fabricDatabase } from './fabric/cluster.rows.ts'
export {
  fabricRouterChanges,
  fabricServiceChanges,
  fabricTerminatorChanges,
} from './fabric/fabric-changes.rows.ts'
export { fabricRouterOperations } from './fabric/fabric-routers.rows.ts'
export { fabricServices, fabricTerminators } from './fabric/fabric-terminators.rows.ts'
export { inspectionOperation } from './fabric/inspections.rows.ts'
export { linkOperations } from './fabric/links.rows.ts'
export { operatorChannel } from './fabric/operators.rows.ts'
