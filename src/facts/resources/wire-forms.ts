import type {
  ApiSession,
  ApiSessionCertificate,
  Authenticator,
  AuthPolicy,
  AuthPolicyCreate,
  AuthPolicyPatch,
  AuthPolicyReplace,
  Ca,
  CaCreate,
  CaPatch,
  CaReplace,
  Config,
  ConfigCreate,
  ConfigPatch,
  ConfigReplace,
  ConfigType,
  ConfigTypeCreate,
  ConfigTypePatch,
  ConfigTypeReplace,
  EdgeRouter,
  EdgeRouterCreate,
  EdgeRouterPatch,
  EdgeRouterPolicy,
  EdgeRouterPolicyCreate,
  EdgeRouterPolicyPatch,
  EdgeRouterPolicyReplace,
  EdgeRouterReplace,
  Enrollment,
  ExternalJwtSigner,
  ExternalJwtSignerCreate,
  ExternalJwtSignerPatch,
  ExternalJwtSignerReplace,
  Identity,
  IdentityCreate,
  IdentityPatch,
  IdentityReplace,
  IdentityType,
  Mfa,
  PostureCheck,
  PostureCheckCreate,
  PostureCheckPatch,
  PostureCheckReplace,
  PostureCheckType,
  Revocation,
  Service,
  ServiceConfig,
  ServiceCreate,
  ServiceEdgeRouterPolicy,
  ServiceEdgeRouterPolicyCreate,
  ServiceEdgeRouterPolicyPatch,
  ServiceEdgeRouterPolicyReplace,
  ServicePatch,
  ServicePolicy,
  ServicePolicyCreate,
  ServicePolicyPatch,
  ServicePolicyReplace,
  ServiceReplace,
  Session,
  Terminator,
  TerminatorCreate,
  TerminatorPatch,
  TerminatorReplace,
  TransitRouter,
  TransitRouterCreate,
  TransitRouterPatch,
  TransitRouterReplace,
} from './wire-names.ts'
import type { Serializable } from './wire-types.ts'

/** As much of a resource as its forms are found by. Comparing it with all of a resource would cost each project a second. */
interface Named {
  readonly definition: { readonly name: string }
}

/** The forms of a resource that travel. */
interface Forms<Shown, Create = never, Replace = never, Patch = never> {
  readonly shown: Shown
  readonly create: Create
  readonly replace: Replace
  readonly patch: Patch
}

/** The forms of each resource that travel, by the name of the resource. */
interface FormsByName {
  readonly 'api-session-certificates': Forms<ApiSessionCertificate>
  readonly 'api-sessions': Forms<ApiSession>
  readonly 'auth-policies': Forms<AuthPolicy, AuthPolicyCreate, AuthPolicyReplace, AuthPolicyPatch>
  readonly authenticators: Forms<Authenticator>
  readonly cas: Forms<Ca, CaCreate, CaReplace, CaPatch>
  readonly 'config-types': Forms<ConfigType, ConfigTypeCreate, ConfigTypeReplace, ConfigTypePatch>
  readonly configs: Forms<Config, ConfigCreate, ConfigReplace, ConfigPatch>
  readonly 'edge-router-policies': Forms<
    EdgeRouterPolicy,
    EdgeRouterPolicyCreate,
    EdgeRouterPolicyReplace,
    EdgeRouterPolicyPatch
  >
  readonly 'edge-routers': Forms<EdgeRouter, EdgeRouterCreate, EdgeRouterReplace, EdgeRouterPatch>
  readonly enrollments: Forms<Enrollment>
  readonly 'external-jwt-signers': Forms<
    ExternalJwtSigner,
    ExternalJwtSignerCreate,
    ExternalJwtSignerReplace,
    ExternalJwtSignerPatch
  >
  readonly identities: Forms<Identity, IdentityCreate, IdentityReplace, IdentityPatch>
  readonly 'identity-types': Forms<IdentityType>
  readonly mfas: Forms<Mfa>
  readonly 'posture-check-types': Forms<PostureCheckType>
  readonly 'posture-checks': Forms<PostureCheck, PostureCheckCreate, PostureCheckReplace, PostureCheckPatch>
  readonly revocations: Forms<Revocation>
  readonly 'service-configs': Forms<ServiceConfig>
  readonly 'service-edge-router-policies': Forms<
    ServiceEdgeRouterPolicy,
    ServiceEdgeRouterPolicyCreate,
    ServiceEdgeRouterPolicyReplace,
    ServiceEdgeRouterPolicyPatch
  >
  readonly 'service-policies': Forms<ServicePolicy, ServicePolicyCreate, ServicePolicyReplace, ServicePolicyPatch>
  readonly services: Forms<Service, ServiceCreate, ServiceReplace, ServicePatch>
  readonly sessions: Forms<Session>
  readonly terminators: Forms<Terminator, TerminatorCreate, TerminatorReplace, TerminatorPatch>
  readonly 'transit-routers': Forms<TransitRouter, TransitRouterCreate, TransitRouterReplace, TransitRouterPatch>
}

type FormOf<R extends Named, Form extends keyof Forms<unknown>> = R['definition']['name'] extends keyof FormsByName
  ? FormsByName[R['definition']['name']][Form]
  : Readonly<Record<string, unknown>>

/** The wire form of an entity of a resource. */
export type ShownOf<R extends Named> = FormOf<R, 'shown'>
/** The body by which a client creates an entity of a resource. */
export type CreateBodyOf<R extends Named> = FormOf<R, 'create'>
/** The body by which a client replaces an entity of a resource. */
export type ReplaceBodyOf<R extends Named> = FormOf<R, 'replace'>
/** The body by which a client changes an entity of a resource. */
export type PatchBodyOf<R extends Named> = FormOf<R, 'patch'>

/** The wire form of an entity before it is written: instants are Date objects. */
export type DetailOf<R extends Named> = Serializable<ShownOf<R>>
