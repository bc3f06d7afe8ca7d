/**
 * The names of what travels: entities as clients read them, and what clients send to create, replace and patch them. They
 * follow from the declarations; where a member of an entity decides which others it has, its name stands for a union.
 */

import type { z } from 'zod'
import type { EdgeRouterPolicies, ServiceEdgeRouterPolicies, ServicePolicies } from '../access/policy.resource.ts'
import type { PostureCheckTypes } from '../access/posture/posture-check.resource.ts'
import type { Sessions } from '../access/sessions/session.resource.ts'
import type { IdentityTypes } from '../authority/permissions.resource.ts'
import type { Configs, ConfigTypes, ServiceConfigs } from '../configs/config.resource.ts'
import type { AuthPolicies } from '../credentials/auth-policy.resource.ts'
import type { ExternalJwtSigners } from '../credentials/signers/external-jwt-signer.resource.ts'
import type { Cas } from '../enrollment/ca.resource.ts'
import type { Enrollments } from '../enrollment/enrollment.resource.ts'
import type { Identities } from '../identities/identity.resource.ts'
import type { EntityRef, Links, NamedRole } from '../kernel/declaration/fields.ts'
import type { ApiSessionCertificates, ApiSessions } from '../login/api-session.resource.ts'
import type { Mfas } from '../login/mfa/mfa.resource.ts'
import type { Revocations } from '../login/revocation.resource.ts'
import type { EdgeRouters } from '../routers/edge-router.resource.ts'
import type { TransitRouters } from '../routers/transit-router.resource.ts'
import type { Services } from '../services/service.resource.ts'
import type { Terminators } from '../services/terminator.resource.ts'
import type { CreateForm, Flat, PatchForm, ReplaceForm, ShownForm } from './wire-types.ts'

export type * from './variants.ts'

/** Where the collections of an entity are, by name; relative to the base of the API. */
export type EntityLinks = z.input<typeof Links>
/** An entity as others name it. */
export type EntityReference = z.input<typeof EntityRef>
/** A role of a policy, with the name of what it means. */
export type RoleName = z.input<typeof NamedRole>

export type ApiSession = ShownForm<ApiSessions['definition']>
/** An API session as its holder sees it. */
export type CurrentApiSession = Flat<
  ApiSession & {
    /** The seconds without use after which the session ends. */
    readonly expirationSeconds: number
    /** When it ends without further use, RFC 3339. */
    readonly expiresAt: string
  }
>
export type ApiSessionCertificate = ShownForm<ApiSessionCertificates['definition']>
export type IdentityType = ShownForm<IdentityTypes['definition']>
export type Mfa = ShownForm<Mfas['definition']>
export type PostureCheckType = ShownForm<PostureCheckTypes['definition']>
export type Revocation = ShownForm<Revocations['definition']>
export type ServiceConfig = ShownForm<ServiceConfigs['definition']>
export type Session = ShownForm<Sessions['definition']>
export type Enrollment = ShownForm<Enrollments['definition']>

export type AuthPolicy = ShownForm<AuthPolicies['definition']>
export type AuthPolicyCreate = CreateForm<AuthPolicies['definition']>
export type AuthPolicyReplace = ReplaceForm<AuthPolicies['definition']>
export type AuthPolicyPatch = PatchForm<AuthPolicies['definition']>

export type Ca = ShownForm<Cas['definition']>
export type CaCreate = CreateForm<Cas['definition']>
export type CaReplace = ReplaceForm<Cas['definition']>
export type CaPatch = PatchForm<Cas['definition']>

export type Config = ShownForm<Configs['definition']>
export type ConfigCreate = CreateForm<Configs['definition']>
export type ConfigReplace = ReplaceForm<Configs['definition']>
export type ConfigPatch = PatchForm<Configs['definition']>

export type ConfigType = ShownForm<ConfigTypes['definition']>
export type ConfigTypeCreate = CreateForm<ConfigTypes['definition']>
export type ConfigTypeReplace = ReplaceForm<ConfigTypes['definition']>
export type ConfigTypePatch = PatchForm<ConfigTypes['definition']>

export type EdgeRouter = ShownForm<EdgeRouters['definition']>
export type EdgeRouterCreate = CreateForm<EdgeRouters['definition']>
export type EdgeRouterReplace = ReplaceForm<EdgeRouters['definition']>
export type EdgeRouterPatch = PatchForm<EdgeRouters['definition']>

export type EdgeRouterPolicy = ShownForm<EdgeRouterPolicies['definition']>
export type EdgeRouterPolicyCreate = CreateForm<EdgeRouterPolicies['definition']>
export type EdgeRouterPolicyReplace = ReplaceForm<EdgeRouterPolicies['definition']>
export type EdgeRouterPolicyPatch = PatchForm<EdgeRouterPolicies['definition']>

export type ExternalJwtSigner = ShownForm<ExternalJwtSigners['definition']>
export type ExternalJwtSignerCreate = CreateForm<ExternalJwtSigners['definition']>
export type ExternalJwtSignerReplace = ReplaceForm<ExternalJwtSigners['definition']>
export type ExternalJwtSignerPatch = PatchForm<ExternalJwtSigners['definition']>

export type Identity = ShownForm<Identities['definition']>
export type IdentityCreate = CreateForm<Identities['definition']>
export type IdentityReplace = ReplaceForm<Identities['definition']>
export type IdentityPatch = PatchForm<Identities['definition']>

export type Service = ShownForm<Services['definition']>
export type ServiceCreate = CreateForm<Services['definition']>
export type ServiceReplace = ReplaceForm<Services['definition']>
export type ServicePatch = PatchForm<Services['definition']>

export type ServiceEdgeRouterPolicy = ShownForm<ServiceEdgeRouterPolicies['definition']>
export type ServiceEdgeRouterPolicyCreate = CreateForm<ServiceEdgeRouterPolicies['definition']>
export type ServiceEdgeRouterPolicyReplace = ReplaceForm<ServiceEdgeRouterPolicies['definition']>
export type ServiceEdgeRouterPolicyPatch = PatchForm<ServiceEdgeRouterPolicies['definition']>

export type Terminator = ShownForm<Terminators['definition']>
export type TerminatorCreate = CreateForm<Terminators['definition']>
export type TerminatorReplace = ReplaceForm<Terminators['definition']>
export type TerminatorPatch = PatchForm<Terminators['definition']>

export type TransitRouter = ShownForm<TransitRouters['definition']>
export type TransitRouterCreate = CreateForm<TransitRouters['definition']>
export type TransitRouterReplace = ReplaceForm<TransitRouters['definition']>
export type TransitRouterPatch = PatchForm<TransitRouters['definition']>

/** Policies grant `Dial` or `Bind`; `Invalid` is a word for reading alone. */
type Granting<T> = { readonly [K in keyof T]: K extends 'type' ? Exclude<T[K], 'Invalid'> : T[K] }
export type ServicePolicy = ShownForm<ServicePolicies['definition']>
export type ServicePolicyCreate = Flat<Granting<CreateForm<ServicePolicies['definition']>>>
export type ServicePolicyReplace = Flat<Granting<ReplaceForm<ServicePolicies['definition']>>>
export type ServicePolicyPatch = Flat<Granting<PatchForm<ServicePolicies['definition']>>>
