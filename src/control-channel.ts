/** The messages between a controller and its routers, and the rules of the fabric: for the adapters that put them on the wire. */

export type * from './facts/fabric/messages/index.ts'
export {
  canonicalOsType,
  JUDGED_BY_CONTROLLER,
  type LinkReport,
  MFA_GRACE_SECONDS,
  type ModelDifference,
  normaliseHex,
  POSTURE_CHECKS,
  RENEWS_WHEN_ASKED,
  ROUTER_CAPABILITIES,
  SESSIONLESS_DIALS,
  TAKES_POSTURE,
  type Validated,
  type ValidationRequest,
} from './facts/fabric/rules/index.ts'
