/**
 * Our own API: what neither edge API has. API sessions of both are good here. The exports are its rows; what is not
 * exported is not served.
 */
export { eventsOperation } from './events.ts'
export { explainOperation } from './explain.ts'
export { graphMembersOperation, graphOperation, matrixOperation, searchOperation } from './graph.ts'
export { listServiceConfigsOperation } from './service-configs.ts'
export { simulateOperation } from './simulate.ts'
export { listTrustOperation, setTrustOperation } from './trust.ts'
export { validateModelOperation } from './validate-model.ts'
