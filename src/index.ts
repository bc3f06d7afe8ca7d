/**
 * A zero-trust network controller: make one with {@link createController}, and mount its `fetch`.
 *
 * @module portcullis
 */

// biome-ignore-all assist/source/organizeImports: names stand by their use.

// To make a controller, and to settle what it does.
export { combineMetrics, createController } from './front-doors.ts'
export type { Controller, HostEvents } from './controller/controller.ts'
export type { AuditOptions, ControllerOptions, OpenIdOptions, WebhookOptions } from './controller/controller-options.ts'
export type { Compat, Leniency } from './base/compatibility.ts'
export type { Limits } from './base/limits.ts'
export type { RateLimitOptions } from './platform/rate-limits.ts'
export {
  createPkiMaterial,
  type PkiMaterial,
  type PkiSource,
  type ServerCertificateSource,
} from './platform/pki-material.ts'
export { VERSION } from './version.ts'

// To mount it, and to answer for its APIs.
export type { ConnectionInfo, ControllerFetch, PlainAnswer, PlainFetch, PlainRequest } from './http/exchange.ts'
export type {
  DirectoryChange,
  DirectoryEntry,
  DirectoryIdentity,
  DirectoryPerson,
  DirectorySearch,
  HostDirectory,
} from './facts/network/host-directory.ts'
export type { HostHooks } from './facts/network/host-rules.ts'
export type { AuthorizationRequest, AuthorizedCaller, HostAuthorization } from './http/pipeline/authorize.ts'
export type { CorsOptions } from './http/pipeline/cors.ts'
export { apiDocuments } from './front-doors.ts'
export type { ApiDocuments } from './apis/documents.ts'

// To call it in process. Requests and wire forms are types of `portcullis/client`.
export type { CallEngine, HostEngine, HostMethods } from './engine/host-engine.ts'
export type { HostEntities, HostReader, ListQuestion } from './engine/host-entities.ts'
export { type AnonymousCall, type Call, type Caller, SYSTEM_CALL, type SystemCall } from './context/call.ts'
export { ControllerError, type ErrorCode } from './base/errors.ts'
export type { Invitation, RouterInvitation } from './enrollment/invite.ts'

// To ask it about access.
export type { ExplainOptions } from './access/explain.ts'
export { type Explanation, explanationText, type Reason, type Suggestion } from './facts/access/explain/index.ts'
export type { SimulationPage, SimulationResult } from './access/simulation/audience-changes.ts'
export type { SimulatedChange } from './access/simulation/resolve-changes.ts'
export type { NetworkFinding } from './insight/reach/network-findings.ts'
export type { PostureResponse } from './facts/access/posture/rules/index.ts'

// To hear of it.
export { type ControllerEvents, EVENT_NAMES, type EventName, type SessionEnd } from './facts/network/events.ts'
export type { Instrument, Metrics, Reading, RequestSpan, Telemetry, TracedRequest } from './ports/telemetry.ts'

// For delivery that is certain.
export type { EventHandler, SubscriptionOptions } from './webhooks/event-deliveries.ts'
export type { EventMessage } from './webhooks/event-message.ts'
export type { DeliveryReport } from './facts/webhooks/delivery-questions.resource.ts'

// To read who did what.
export type { AuditEntry, AuditPage, AuditRequest } from './facts/audit/audit-questions.resource.ts'
export type { UnexplainedFinding } from './audit/audit-explanation.ts'
export type { AuditFinding, AuditTampering } from './audit/audit-verification.ts'
export type { UndoPlan } from './facts/audit/change-undo.rules.ts'

// To operate on its store without serving it.
export { openOperator } from './front-doors.ts'
export type { Operator, OperatorOptions } from './controller/operator.ts'
export type { PasswordReset, PasswordResetReport } from './login/administrator-recovery.ts'
export type { ImportedEntity, ImportOptions, ImportReport } from './network/database/network-import.ts'

// To give it what it is built on: storages are written with `portcullis/storage`, control channels with `portcullis/fabric`.
export type { FindQuery, Page, Storage } from './ports/record-storage.ts'
export type { PkiStatus } from './facts/pki/pki-requests.resource.ts'
export type { KeySigner, PasswordHasher, SignatureAlgorithm } from './ports/credentials.ts'
export type { Clock, JsonSchema, Logger, Random, RateLimiters, Scheduler, Taken } from './ports/runtime.ts'
export type { KeyStore } from './platform/sealed-key-store.ts'
export type { HeldKey } from './platform/x509/signing-key.ts'
export type {
  HostedPresence,
  IdentityConnections,
  RouterAdmission,
  RouterConnection,
  RouterHello,
  RouterPresence,
} from './ports/router-presence.ts'
export type { ControlPlane, ControlPlaneOptions } from './facts/fabric/messages/index.ts'
