/**
 * The names of what the engine keeps and answers: records, whose instants are epoch milliseconds. What it is asked for is
 * asked in the words of the API: `ServiceCreate`, `ServicePatch` and their like. All of them follow from the declarations.
 */
import type { ApiSessions } from './api-sessions.ts'
import type { AuthPolicies } from './auth-policies.ts'
import type { Authenticators } from './authenticators.ts'
import type { Cas } from './cas.ts'
import type { ConfigTypes } from './config-types.ts'
import type { Configs } from './configs.ts'
import type { EdgeRouters } from './edge-routers.ts'
import type { Enrollments } from './enrollments.ts'
import type { ExternalJwtSigners } from './external-jwt-signers.ts'
import type { Identities } from './identities.ts'
import type { EdgeRouterPolicies, ServiceEdgeRouterPolicies, ServicePolicies } from './policies.ts'
import type { PostureChecks } from './posture-checks.ts'
import type { RecordOf } from './resource.ts'
import type { Revocations } from './revocations.ts'
import type { Services } from './services.ts'
import type { Sessions } from './sessions.ts'
import type { Terminators } from './terminators.ts'
import type { TransitRouters } from './transit-routers.ts'
import type { Flat } from './wire-types.ts'

export type {
  AuthPolicyCreate,
  AuthPolicyPatch,
  AuthPolicyReplace,
  CaCreate,
  CaPatch,
  CaReplace,
  ConfigCreate,
  ConfigPatch,
  ConfigReplace,
  ConfigTypeCreate,
  ConfigTypePatch,
  ConfigTypeReplace,
  EdgeRouterCreate,
  EdgeRouterPatch,
  EdgeRouterPolicyCreate,
  EdgeRouterPolicyPatch,
  EdgeRouterPolicyReplace,
  EdgeRouterReplace,
  ExternalJwtSignerCreate,
  ExternalJwtSignerPatch,
  ExternalJwtSignerReplace,
  IdentityCreate,
  IdentityPatch,
  IdentityReplace,
  PostureCheckCreate,
  PostureCheckPatch,
  PostureCheckReplace,
  ServiceCreate,
  ServiceEdgeRouterPolicyCreate,
  ServiceEdgeRouterPolicyPatch,
  ServiceEdgeRouterPolicyReplace,
  ServicePatch,
  ServicePolicyCreate,
  ServicePolicyPatch,
  ServicePolicyReplace,
  ServiceReplace,
  TerminatorCreate,
  TerminatorPatch,
  TerminatorReplace,
  TransitRouterCreate,
  TransitRouterPatch,
  TransitRouterReplace,
} from './wire-names.ts'

export type ApiSession = Flat<RecordOf<ApiSessions>>
export type Authenticator = Flat<RecordOf<Authenticators>>
export type AuthPolicy = Flat<RecordOf<AuthPolicies>>
export type Ca = Flat<RecordOf<Cas>>
export type Config = Flat<RecordOf<Configs>>
export type ConfigType = Flat<RecordOf<ConfigTypes>>
export type EdgeRouter = Flat<RecordOf<EdgeRouters>>
export type EdgeRouterPolicy = Flat<RecordOf<EdgeRouterPolicies>>
export type Enrollment = Flat<RecordOf<Enrollments>>
export type ExternalJwtSigner = Flat<RecordOf<ExternalJwtSigners>>
export type Identity = Flat<RecordOf<Identities>>
export type PostureCheck = Flat<RecordOf<PostureChecks>>
export type Revocation = Flat<RecordOf<Revocations>>
export type Service = Flat<RecordOf<Services>>
export type ServiceEdgeRouterPolicy = Flat<RecordOf<ServiceEdgeRouterPolicies>>
export type ServicePolicy = Flat<RecordOf<ServicePolicies>>
export type Session = Flat<RecordOf<Sessions>>
export type Terminator = Flat<RecordOf<Terminators>>
export type TransitRouter = Flat<RecordOf<TransitRouters>>
