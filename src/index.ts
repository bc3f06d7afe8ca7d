/**
 * A zero-trust network controller: make one with {@link createController}, and mount its `fetch`.
 *
 * @module portcullis
 */
export type { ControllerOptions } from './controller-options.ts'
export { type Controller, createController } from './create-controller.ts'
export type { Compat, Leniency } from './domain/compatibility.ts'
export { ControllerError, type ErrorCause, type ErrorCode } from './domain/errors.ts'
export { type Explanation, explanationText, type Reason, type Suggestion } from './domain/explain/index.ts'
export type * from './domain/fabric/index.ts'
export {
  type Comparison,
  compareBy,
  compareStrings,
  type FieldKind,
  type Filter,
  FilterError,
  type Literal,
  matches,
  type Operand,
  type OrderBy,
} from './domain/filter/index.ts'
export type { Limits } from './domain/limits.ts'
export { networkOf } from './domain/network-of.ts'
export {
  type EndpointFacts,
  type EndpointProcess,
  type PostureCheck,
  type PostureResponse,
  postureResponses,
} from './domain/posture/index.ts'
export type { ExplainOptions } from './engine/access/explanation/explain.ts'
export type { NetworkFinding } from './engine/access/network-findings.ts'
export type { SimulatedChange } from './engine/access/simulation/simulated-change.ts'
export type {
  ChangedPair,
  PairCounts,
  SimulatedCircumstances,
  SimulationPage,
  SimulationResult,
} from './engine/access/simulation/simulation-result.ts'
export {
  type AnonymousCall,
  type Call,
  type Caller,
  type CallerCall,
  type Circumstances,
  SYSTEM_CALL,
  type SystemCall,
} from './engine/context/call.ts'
export type { ImportedEntity } from './engine/database/import/imported-entity.ts'
export type { ImportedCounts, ImportOptions, ImportReport } from './engine/database/import/network-import.ts'
export { ControllerEngine } from './engine/engine.ts'
export type { EntityServices } from './engine/entity-services.ts'
export type { PasswordReset, PasswordResetReport } from './engine/login/recovery/administrator-recovery.ts'
export { type ApiDocuments, apiDocuments } from './http/documents.ts'
export type { ConnectionInfo } from './http/exchange/connection.ts'
export type { PlainAnswer, PlainFetch, PlainRequest } from './http/exchange/plain-exchange.ts'
export type { ControllerFetch } from './http/exchange/web-fetch.ts'
export type { CorsOptions } from './http/pipeline/cors.ts'
export type { AuthorizationRequest, HostAuthorization } from './http/pipeline/host-authorization.ts'
export type { OpenIdOptions } from './open-id-options.ts'
export { type Operator, type OperatorOptions, openOperator } from './operator.ts'
export { createPkiMaterial, type PkiMaterial } from './platform/pki-material.ts'
export type { PkiOpening, PkiSource, ServerCertificateSource } from './platform/pki-source.ts'
export type { Rate, RateLimit, RateLimitOptions } from './platform/rate-limiter/rate-limits.ts'
export type { HeldKey } from './platform/x509/keys/held-key.ts'
export type { Clock } from './ports/clock.ts'
export type { KeySigner, SignatureAlgorithm } from './ports/credentials/key-signer.ts'
export type { PasswordHasher } from './ports/credentials/password-hasher.ts'
export { type ControllerEvents, EVENT_NAMES, type EventName, type SessionEnd } from './ports/events.ts'
export type * from './ports/fabric/index.ts'
export type { JsonSchema, SchemaViolation } from './ports/json-schema.ts'
export type { LogFields, Logger } from './ports/logger.ts'
export type { Random } from './ports/random.ts'
export type { RateLimiter, RateLimiters, Taken } from './ports/rate-limiter.ts'
export type {
  DisconnectReason,
  HostedPresence,
  IdentityConnectionStatus,
  IdentityConnections,
  RouterAdmission,
  RouterConnection,
  RouterHello,
  RouterPresence,
  RouterVersion,
} from './ports/router-presence.ts'
export type { Scheduler } from './ports/scheduler.ts'
export * from './ports/storage.ts'
export type { Instrument, MetricAttributes, Metrics, Reading } from './ports/telemetry/metrics.ts'
export type { RequestSpan, Telemetry, TracedRequest } from './ports/telemetry/telemetry.ts'
export { RECORD_KINDS } from './resources/index.ts'
export type * from './resources/wire/record-names.ts'
export { VERSION } from './version.ts'
