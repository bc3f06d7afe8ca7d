export { explainFailure } from './check-failure.ts'
export type { DomainCheck, DomainResponse } from './checks/domain.ts'
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
} from './checks/index.ts'
export type { MacCheck, MacResponse } from './checks/mac.ts'
export type { EndpointStateResponse } from './checks/mfa.ts'
export {
  type OperatingSystem,
  type OsCheck,
  type OsResponse,
  storedOperatingSystems,
} from './checks/os.ts'
export { type CheckedProcess, type ProcessCheck, storedProcess } from './checks/process.ts'
export { type ProcessMultiCheck, type ProcessSemantic, storedProcesses } from './checks/process-multi.ts'
export { normaliseHex } from './data/hex.ts'
export { canonicalOsType, OS_TYPES, type OsType } from './data/os-type.ts'
export type { SessionPosture } from './data/posture-data.ts'
export { clearMfa, recordMfaPass, recordSdkInfo, sessionPosture } from './data/session-posture.ts'
export { type EndpointFacts, type EndpointProcess, postureResponses } from './endpoint-facts.ts'
export { evaluateCheck, isPostureKnown, missingPosture, nextDeadline } from './evaluate-check.ts'
export {
  type CheckedPolicy,
  evaluatePolicies,
  firstPassing,
  type PolicyDecision,
  type PolicyFailure,
} from './evaluate-policies.ts'
export { MISSING_KINDS, type MissingKind, type MissingPosture } from './kind/missing-posture.ts'
export type { PostureCheckMember } from './kind/posture-check-kind.ts'
export {
  type CheckedMultiProcess,
  MAX_REPORTED_PROCESSES,
  type ProcessReports,
  type ProcessResponse,
  type ReportedProcess,
} from './kind/processes.ts'
export { storedHexList } from './kind/stored-form.ts'
export { isLegacyEndpoint } from './mfa/legacy-endpoint.ts'
export type { MfaCheck } from './mfa/pass.ts'
export { normaliseTimeout, timeoutRemaining } from './mfa/timeout.ts'
export { nextPolicyDeadline } from './policy-deadline.ts'
export { POSTURE_CHECK_TYPES } from './posture-check-types.ts'
export { postureDataView } from './posture-data-view.ts'
export { postureQuery, queryUpdatedAt } from './posture-query.ts'
export { applyResponses } from './posture-response.ts'
export { mayBeginGrace, type ServiceTimeout, serviceTimeouts } from './service-timeouts.ts'
export { parseVersionRange } from './versions/version-range.ts'
