/**
 * The types of the records that the engine stores and answers, with instants in epoch milliseconds. Wire forms and requests have types of
 * their own (`wire-names.ts`). All types follow from the declarations.
 */

import type { RecordOf } from '../../kernel/declaration/resource.ts'
import type { EdgeRouterPolicies, ServiceEdgeRouterPolicies, ServicePolicies } from '../access/policy.resource.ts'
import type { PostureChecks } from '../access/posture/posture-check.resource.ts'
import type { Sessions } from '../access/session.resource.ts'
import type { Configs, ConfigTypes } from '../configs/config.resource.ts'
import type { AuthPolicies } from '../credentials/auth-policy.resource.ts'
import type { Authenticators } from '../credentials/authenticator.resource.ts'
import type { ExternalJwtSigners } from '../credentials/signers/external-jwt-signer.resource.ts'
import type { Cas } from '../enrollment/ca.resource.ts'
import type { Enrollments } from '../enrollment/enrollment.resource.ts'
import type { Identities } from '../identities/identity.resource.ts'
import type { ApiSessions } from '../login/api-session.resource.ts'
import type { Revocations } from '../login/revocation.resource.ts'
import type { EdgeRouters } from '../routers/edge-router.resource.ts'
import type { TransitRouters } from '../routers/transit-router.resource.ts'
import type { Services } from '../services/service.resource.ts'
import type { Terminators } from '../services/terminator.resource.ts'
import type { Webhooks } from '../webhooks/webhook.resource.ts'
import type { Flat } from './wire-types.ts'

export type ApiSessionRecord = Flat<RecordOf<ApiSessions>>
export type AuthenticatorRecord = Flat<RecordOf<Authenticators>>
export type AuthPolicyRecord = Flat<RecordOf<AuthPolicies>>
export type CaRecord = Flat<RecordOf<Cas>>
export type ConfigRecord = Flat<RecordOf<Configs>>
export type ConfigTypeRecord = Flat<RecordOf<ConfigTypes>>
export type EdgeRouterRecord = Flat<RecordOf<EdgeRouters>>
export type EdgeRouterPolicyRecord = Flat<RecordOf<EdgeRouterPolicies>>
export type EnrollmentRecord = Flat<RecordOf<Enrollments>>
export type ExternalJwtSignerRecord = Flat<RecordOf<ExternalJwtSigners>>
export type IdentityRecord = Flat<RecordOf<Identities>>
export type PostureCheckRecord = Flat<RecordOf<PostureChecks>>
export type RevocationRecord = Flat<RecordOf<Revocations>>
export type ServiceRecord = Flat<RecordOf<Services>>
export type ServiceEdgeRouterPolicyRecord = Flat<RecordOf<ServiceEdgeRouterPolicies>>
export type ServicePolicyRecord = Flat<RecordOf<ServicePolicies>>
export type SessionRecord = Flat<RecordOf<Sessions>>
export type TerminatorRecord = Flat<RecordOf<Terminators>>
export type TransitRouterRecord = Flat<RecordOf<TransitRouters>>
export type WebhookRecord = Flat<RecordOf<Webhooks>>
