/**
 * The types of the wire: entities as clients read them, and the bodies that create, replace and patch them. They follow from the
 * declarations. An entity whose members depend on one of its members is a union.
 */
import type { z } from 'zod'
import type { EntityRef, JsonObject as Json, Links, NamedRole } from '../../kernel/declaration/fields.ts'
import type { SimulatedChanges } from '../access/access-questions.resource.ts'
import type { AccessRequests } from '../access/access-request.resource.ts'
import type { EdgeRouterPolicies, ServiceEdgeRouterPolicies, ServicePolicies } from '../access/policy.resource.ts'
import type { PostureCheckTypeId } from '../access/posture/checks/index.ts'
import type {
  PostureChecks,
  PostureCheckTypes,
  PostureResponse as Response,
} from '../access/posture/posture-check.resource.ts'
import type { POSTURE_CHECK_FIELDS } from '../access/posture/posture-check-fields.resource.ts'
import type { Sessions } from '../access/session.resource.ts'
import type { UndoPlan as Undo } from '../audit/change-undo.rules.ts'
import type { IdentityTypes } from '../authority/permissions.resource.ts'
import type { Configs, ConfigTypes, ServiceConfigs } from '../configs/config.resource.ts'
import type { AuthPolicies } from '../credentials/auth-policy.resource.ts'
import type { Authenticators } from '../credentials/authenticator.resource.ts'
import type { ExternalJwtSigners } from '../credentials/signers/external-jwt-signer.resource.ts'
import type { Cas } from '../enrollment/ca.resource.ts'
import type { Enrollments } from '../enrollment/enrollment.resource.ts'
import type { Identities } from '../identities/identity.resource.ts'
import type { ApiSessionCertificates, ApiSessions } from '../login/api-session.resource.ts'
import type { Mfas } from '../login/mfa.resource.ts'
import type { Revocations } from '../login/revocation.resource.ts'
import type { PkiStatusData } from '../pki/pki-requests.resource.ts'
import type { EdgeRouters } from '../routers/edge-router.resource.ts'
import type { TransitRouters } from '../routers/transit-router.resource.ts'
import type { Services } from '../services/service.resource.ts'
import type { Terminators } from '../services/terminator.resource.ts'
import type { Webhooks } from '../webhooks/webhook.resource.ts'
import type { CreateForm, Flat, PatchForm, ReplaceForm, ShownForm, Wire } from './wire-types.ts'

type Having<T, K extends keyof T> = { readonly [P in K]-?: NonNullable<T[P]> }

type AnyAuthenticator = ShownForm<Authenticators['definition']>
type CertificateMember = Exclude<Authenticators['definition']['quirks']['mayBeAbsent'][number], 'username'>
type CommonAuthenticator = Omit<AnyAuthenticator, CertificateMember | 'username' | 'method'>

/** A username and password, or a client certificate, by `method`. */
export type Authenticator = PasswordAuthenticator | CertificateAuthenticator
export type PasswordAuthenticator = Flat<
  CommonAuthenticator & { readonly method: 'updb' } & Having<AnyAuthenticator, 'username'>
>
/** `extendRequestedAt` is absent unless the holder is asked to extend the certificate. */
export type CertificateAuthenticator = Flat<
  CommonAuthenticator & { readonly method: 'cert' } & Having<
      AnyAuthenticator,
      Exclude<CertificateMember, 'extendRequestedAt'>
    > &
    Pick<AnyAuthenticator, 'extendRequestedAt'>
>

type CheckType = PostureCheckTypeId
type MembersOf<T extends CheckType> = (typeof POSTURE_CHECK_FIELDS)[T]['members']
type MemberOf<T extends CheckType> = keyof MembersOf<T>
/** The required members of a posture check of a type: members without a default. */
type NeededMember<T extends CheckType> = {
  readonly [M in MemberOf<T>]: null extends Wire<MembersOf<T>[M]> ? M : never
}[MemberOf<T>]
type OtherMember<T extends CheckType> = Exclude<MemberOf<T>, NeededMember<T>>
type TypedMember = { readonly [T in CheckType]: MemberOf<T> }[CheckType]

type Shown = ShownForm<PostureChecks['definition']>
type Create = CreateForm<PostureChecks['definition']>
type Replace = ReplaceForm<PostureChecks['definition']>
type Patch = PatchForm<PostureChecks['definition']>

type Common<Form> = Omit<Form, TypedMember | 'typeId'>
type WithType<T extends CheckType> = { readonly typeId: T }
type Needed<Form, M> = Having<Form, Extract<M, keyof Form>>
type Given<Form, M> = Pick<Form, Extract<M, keyof Form>>

type ShownOf<T extends CheckType> = Flat<Common<Shown> & WithType<T> & Needed<Shown, MemberOf<T>>>
type CreateOf<T extends CheckType> = Flat<
  Common<Create> & WithType<T> & Needed<Create, NeededMember<T>> & Given<Create, OtherMember<T>>
>
/** The type is fixed at creation, but may be sent again. */
type ReplaceOf<T extends CheckType> = Flat<
  Common<Replace> & Partial<WithType<T>> & Needed<Replace, NeededMember<T>> & Given<Replace, OtherMember<T>>
>
type PatchOf<T extends CheckType> = Flat<Common<Patch> & WithType<T> & Given<Patch, MemberOf<T>>>

/** A rule on the state of an endpoint; `typeId` determines its members. */
export type PostureCheck = { readonly [T in CheckType]: ShownOf<T> }[CheckType]
/** A posture check of one type, with only the members of that type. */
export type PostureCheckOf<T extends PostureCheck['typeId']> = Extract<PostureCheck, { readonly typeId: T }>
export type PostureCheckCreate = { readonly [T in CheckType]: CreateOf<T> }[CheckType]
export type PostureCheckReplace = { readonly [T in CheckType]: ReplaceOf<T> }[CheckType]
export type PostureCheckPatch = { readonly [T in CheckType]: PatchOf<T> }[CheckType]

/** The addresses of an entity's collections, by name, relative to the base of the API. */
export type EntityLinks = z.input<typeof Links>
/** A reference to an entity. */
export type EntityReference = z.input<typeof EntityRef>
/** An entity by its id and its name. */
export type NamedEntity = { readonly id: string; readonly name: string }
/** An entity of a report about the past. Its name is null if unknown. */
export type ReportedEntity = { readonly id: string; readonly name: string | null }
/** A role of a policy, with its name for people. */
export type RoleName = z.input<typeof NamedRole>

export type AccessRequest = ShownForm<AccessRequests['definition']>
export type ApiSession = ShownForm<ApiSessions['definition']>
/** An API session as its holder sees it. */
export type CurrentApiSession = Flat<
  ApiSession & {
    /** The seconds without use after which the session ends. */
    readonly expirationSeconds: number
    /** The instant at which it ends without further use, RFC 3339. */
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

export type Webhook = ShownForm<Webhooks['definition']>
export type WebhookCreate = CreateForm<Webhooks['definition']>
export type WebhookReplace = ReplaceForm<Webhooks['definition']>
export type WebhookPatch = PatchForm<Webhooks['definition']>

/** Policies grant `Dial` or `Bind`; `Invalid` only occurs in answers. */
type Granting<T> = { readonly [K in keyof T]: K extends 'type' ? Exclude<T[K], 'Invalid'> : T[K] }
export type ServicePolicy = ShownForm<ServicePolicies['definition']>
export type ServicePolicyCreate = Flat<Granting<CreateForm<ServicePolicies['definition']>>>
export type ServicePolicyReplace = Flat<Granting<ReplaceForm<ServicePolicies['definition']>>>
export type ServicePolicyPatch = Flat<Granting<PatchForm<ServicePolicies['definition']>>>

/** The plan to undo a change. */
export type UndoPlan = Undo

/** Values by name, as JSON has them: tags, and bodies whose members depend on the kind of an entity. */
export type JsonObject = z.input<typeof Json>
/** A missing proof for the full authentication of an API session. */
export type AuthQuery = ApiSession['authQueries'][number]
/** The methods by which an auth policy lets identities authenticate. */
export type AuthPolicyPrimary = AuthPolicy['primary']
/** The location of an identity's external id in a third-party certificate. */
export type ExternalIdClaim = NonNullable<CaCreate['externalIdClaim']>
/** The environment of a client, as it reports it. */
export type EnvInfo = Identity['envInfo']
/** The SDK of a client, as it reports it. */
export type SdkInfo = Identity['sdkInfo']
/** A network interface of a host, as a router or a client reports it. */
export type NetworkInterface = NonNullable<Identity['interfaces']>[number]
/** A report of an endpoint about its posture. */
export type PostureResponse = z.input<typeof Response>
/** A simulated change, as the body of the request that would make it. */
export type SimulatedChange = z.input<typeof SimulatedChanges>[number]
/** An operating system with the versions that a posture check permits. */
export type CheckedOperatingSystem = PostureCheckOf<'OS'>['operatingSystems'][number]
/** A process that a posture check of the type PROCESS demands. */
export type CheckedProcess = PostureCheckOf<'PROCESS'>['process']
/** A process that a posture check of the type PROCESS_MULTI demands. */
export type CheckedMultiProcess = PostureCheckOf<'PROCESS_MULTI'>['processes'][number]
/** The keys of a network, and the progress of a change of them. */
export type PkiStatus = z.input<typeof PkiStatusData>
/** Identities and routers whose certificates need attention. */
export type PkiHolders = PkiStatus['due']['ended']
