export type { DomainCheck, DomainResponse } from '../checks/domain-check.ts'
export {
  type CheckFailure,
  emptyPostureData,
  kindOf,
  membersOf,
  POSTURE_CHECK_KINDS,
  POSTURE_CHECK_TYPE_IDS,
  type PostureCheck,
  type PostureCheckTypeId,
  type PostureData,
  type PostureDataView,
  type PostureResponse,
  RESPONSE_KINDS,
} from '../checks/index.ts'
export type { MacCheck, MacResponse } from '../checks/mac-check.ts'
export type { EndpointStateResponse } from '../checks/mfa-check.ts'
export {
  type OperatingSystem,
  type OsCheck,
  type OsResponse,
  storedOperatingSystems,
} from '../checks/os-check.ts'
export type { PostureCheckMember } from '../checks/posture-check-kind.ts'
export { MISSING_KINDS, type MissingKind, type MissingPosture, storedHexList } from '../checks/posture-check-kind.ts'
export type { SessionPosture } from '../checks/posture-data.ts'
export {
  canonicalOsType,
  clearMfa,
  normaliseHex,
  OS_TYPES,
  type OsType,
  recordMfaPass,
  recordSdkInfo,
  sessionPosture,
} from '../checks/posture-data.ts'
export { type CheckedProcess, type ProcessCheck, storedProcess } from '../checks/process-check.ts'
export { type ProcessMultiCheck, type ProcessSemantic, storedProcesses } from '../checks/process-multi-check.ts'
export {
  type CheckedMultiProcess,
  MAX_REPORTED_PROCESSES,
  type ProcessReports,
  type ProcessResponse,
  type ReportedProcess,
} from '../checks/reported-processes.ts'
export type { MfaCheck } from '../checks/second-factor.ts'
export { isLegacyEndpoint, MFA_GRACE_SECONDS, normaliseTimeout, timeoutRemaining } from '../checks/second-factor.ts'
export { parseVersionRange } from '../checks/version-range.ts'
export { type EndpointFacts, type EndpointProcess, postureResponses } from './endpoint-facts.ts'
export {
  type CheckedPolicy,
  evaluateCheck,
  evaluatePolicies,
  explainFailure,
  firstPassing,
  isPostureKnown,
  missingPosture,
  nextDeadline,
  nextPolicyDeadline,
  type PolicyDecision,
  type PolicyFailure,
} from './evaluate-policies.ts'
export {
  applyResponses,
  mayBeginGrace,
  POSTURE_CHECK_TYPES,
  postureDataView,
  postureQuery,
  queryUpdatedAt,
  type ServiceTimeout,
  serviceTimeouts,
} from './posture-questions.ts'
