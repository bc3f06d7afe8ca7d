/** Our own API, beyond both edge APIs. API sessions of both are valid here. The exports are its rows; only exported rows are served. */

export { accessRequestOperations } from './access/access-requests.rows.ts'
export { explainOperation } from './access/explain.rows.ts'
export { simulateOperation } from './access/simulate.rows.ts'
export { auditHeadOperation, auditOperation } from './audit/audit.rows.ts'
export { planUndoOperation, undoOperation } from './audit/undo.rows.ts'
export { listServiceConfigsOperation } from './configs/service-configs.rows.ts'
export { traceDialOperation } from './fabric/trace-dial.rows.ts'
export { attributeGrantOperations } from './identities/identities.rows.ts'
export { eventsOperation } from './insight/events.rows.ts'
export {
  accessMapMembersOperation,
  accessMapOperation,
  findingsOperation,
  reachOperation,
} from './insight/reach.rows.ts'
export { searchOperation } from './insight/search.rows.ts'
export { trafficOperations } from './insight/traffic.rows.ts'
export { listTrustOperation, setTrustOperation } from './network/trust.rows.ts'
export { validateModelOperation } from './network/validate-model.rows.ts'
export {
  changeAuthorityOperation,
  pkiOperation,
  pkiOutstandingOperation,
  rotateKeysOperation,
} from './pki/pki.rows.ts'
export { webhookDeliveryOperations, webhookEntities } from './webhooks/webhooks.rows.ts'
