/** The messages between a controller and its routers, and the rules of the fabric: for the adapters that put them on the wire. */

export { canonicalOsType, MFA_GRACE_SECONDS, normaliseHex } from './facts/access/posture/rules/index.ts'
export type * from './facts/fabric/messages/index.ts'
export type { LinkReport, ModelDifference, Validated, ValidationRequest } from './facts/fabric/rules/index.ts'
export {
  CONTROLLER_CAPABILITY,
  ROUTER_CAPABILITY,
  TOLD_TO_CONTROLLERS,
  TOLD_TO_ENDPOINTS,
} from './facts/routers/capabilities.rules.ts'
export { CONTROLLER_VERSION, softwareOf, softwareText } from './facts/routers/versions.rules.ts'
