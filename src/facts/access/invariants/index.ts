export { findViolation } from './find-violation.ts'
export type {
  EndpointPosture,
  Exceptions,
  GrantingPolicy,
  IdentityRouterPolicy,
  Invariant,
  PolicySet,
  PresentCheck,
  PresentEntity,
  ServiceRouterPolicy,
  Violation,
  Witness,
} from './invariant.ts'
export { violationText } from './invariant.ts'
