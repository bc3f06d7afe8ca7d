export { type CheckFailure, explainFailure, type ProcessValue } from './check-failure.ts'
export { POSTURE_CHECK_TYPES, type PostureCheckType } from './check-types.ts'
export { evaluateCheck, nextDeadline } from './evaluate-check.ts'
export { type CheckedPolicy, evaluatePolicies, type PolicyDecision, type PolicyFailure } from './evaluate-policies.ts'
export { includesAnyHex, normaliseHex } from './hex.ts'
export { isLegacyEndpoint } from './legacy-endpoint.ts'
export { isTimeoutElapsed } from './mfa-check.ts'
export type { MfaFailure, MfaValues } from './mfa-failure.ts'
export { NO_TIMEOUT, normaliseTimeout, timeoutRemaining } from './mfa-timeout.ts'
export { canonicalOsType, OS_TYPES, type OsType } from './os-type.ts'
export { nextPolicyDeadline } from './policy-deadline.ts'
export type {
  CheckedMultiProcess,
  CheckedProcess,
  DomainCheck,
  MacCheck,
  MfaCheck,
  OperatingSystem,
  OsCheck,
  PostureCheck,
  ProcessCheck,
  ProcessMultiCheck,
  ProcessSemantic,
} from './posture-check.ts'
export {
  emptyPostureData,
  type PostureData,
  type ReportedDomain,
  type ReportedMac,
  type ReportedOs,
  type ReportedProcess,
  type SdkInfo,
  type SessionMfa,
  type SessionPosture,
} from './posture-data.ts'
export {
  type PostureDataView,
  type ProcessView,
  postureDataView,
  type SessionPostureView,
} from './posture-data-view.ts'
export { type PostureQuery, postureQuery, type QueriedProcess, queryUpdatedAt } from './posture-query.ts'
export {
  applyResponses,
  type DomainResponse,
  type EndpointStateResponse,
  MAX_REPORTED_PROCESSES,
  type MacResponse,
  type OsResponse,
  type PostureResponse,
  type ProcessResponse,
} from './posture-response.ts'
export { processAtPath, processReport } from './process-check.ts'
export { type CheckedService, type ServiceTimeout, serviceTimeouts } from './service-timeouts.ts'
export { clearMfa, forgetSession, recordMfaPass, recordSdkInfo, sessionPosture } from './session-posture.ts'
export {
  type StoredForm,
  storedHexList,
  storedOperatingSystems,
  storedProcess,
  storedProcesses,
} from './stored-form.ts'
export { type ParsedVersionRange, parseVersionRange, type VersionRange } from './version-range.ts'
