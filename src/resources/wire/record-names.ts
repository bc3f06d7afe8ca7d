/**
 * The names of what the engine keeps and answers: records, whose instants are epoch milliseconds. What it is asked for is
 * asked in the words of the API: `ServiceCreate`, `ServicePatch` and their like. All of them follow from the declarations.
 */

import type { EdgeRouterPolicies, ServiceEdgeRouterPolicies, ServicePolicies } from '../access/policies.ts'
import type { Sessions } from '../access/sessions.ts'
import type { RecordOf } from '../declaration/resource.ts'
import type { Cas } from '../enrollment/cas.ts'
import type { Enrollments } from '../enrollment/enrollments.ts'
import type { Identities } from '../identities/identities.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { AuthPolicies } from '../login/auth-policies.ts'
import type { Authenticators } from '../login/authenticators.ts'
import type { ExternalJwtSigners } from '../login/external-jwt-signers.ts'
import type { Revocations } from '../login/revocations.ts'
import type { PostureChecks } from '../posture/posture-checks.ts'
import type { EdgeRouters } from '../routers/edge-routers.ts'
import type { Terminators } from '../routers/terminators.ts'
import type { TransitRouters } from '../routers/transit-routers.ts'
import type { ConfigTypes } from '../services/config-types.ts'
import type { Configs } from '../services/configs.ts'
import type { Services } from '../services/services.ts'
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
