import type * as wire from './wire-names.ts'
import type { Serializable } from './wire-types.ts'

/** The part of a resource by which its forms are found. Comparing with a whole resource would cost each project a second of compilation. */
interface Named {
  readonly definition: { readonly name: string }
}

/** The forms of a resource: its wire form, and the bodies of its requests. Resources without bodies offer no requests. */
interface Forms<Shown, Create = never, Replace = never, Patch = never> {
  readonly shown: Shown
  readonly create: Create
  readonly replace: Replace
  readonly patch: Patch
}

/**
 * The forms of each resource with a wire form, by its name. The methods of the host's engine follow from the rows that have bodies:
 * `services` is the member of 'services', `edgeRouters` of 'edge-routers'.
 */
export interface FormsByName {
  readonly 'access-requests': Forms<wire.AccessRequest>
  readonly 'api-session-certificates': Forms<wire.ApiSessionCertificate>
  readonly 'api-sessions': Forms<wire.ApiSession>
  readonly 'auth-policies': Forms<wire.AuthPolicy, wire.AuthPolicyCreate, wire.AuthPolicyReplace, wire.AuthPolicyPatch>
  readonly authenticators: Forms<wire.Authenticator>
  readonly cas: Forms<wire.Ca, wire.CaCreate, wire.CaReplace, wire.CaPatch>
  readonly 'config-types': Forms<wire.ConfigType, wire.ConfigTypeCreate, wire.ConfigTypeReplace, wire.ConfigTypePatch>
  readonly configs: Forms<wire.Config, wire.ConfigCreate, wire.ConfigReplace, wire.ConfigPatch>
  readonly 'edge-router-policies': Forms<
    wire.EdgeRouterPolicy,
    wire.EdgeRouterPolicyCreate,
    wire.EdgeRouterPolicyReplace,
    wire.EdgeRouterPolicyPatch
  >
  readonly 'edge-routers': Forms<wire.EdgeRouter, wire.EdgeRouterCreate, wire.EdgeRouterReplace, wire.EdgeRouterPatch>
  readonly enrollments: Forms<wire.Enrollment>
  readonly 'external-jwt-signers': Forms<
    wire.ExternalJwtSigner,
    wire.ExternalJwtSignerCreate,
    wire.ExternalJwtSignerReplace,
    wire.ExternalJwtSignerPatch
  >
  readonly identities: Forms<wire.Identity, wire.IdentityCreate, wire.IdentityReplace, wire.IdentityPatch>
  readonly 'identity-types': Forms<wire.IdentityType>
  readonly mfas: Forms<wire.Mfa>
  readonly 'posture-check-types': Forms<wire.PostureCheckType>
  readonly 'posture-checks': Forms<
    wire.PostureCheck,
    wire.PostureCheckCreate,
    wire.PostureCheckReplace,
    wire.PostureCheckPatch
  >
  readonly revocations: Forms<wire.Revocation>
  readonly 'service-configs': Forms<wire.ServiceConfig>
  readonly 'service-edge-router-policies': Forms<
    wire.ServiceEdgeRouterPolicy,
    wire.ServiceEdgeRouterPolicyCreate,
    wire.ServiceEdgeRouterPolicyReplace,
    wire.ServiceEdgeRouterPolicyPatch
  >
  readonly 'service-policies': Forms<
    wire.ServicePolicy,
    wire.ServicePolicyCreate,
    wire.ServicePolicyReplace,
    wire.ServicePolicyPatch
  >
  readonly services: Forms<wire.Service, wire.ServiceCreate, wire.ServiceReplace, wire.ServicePatch>
  readonly sessions: Forms<wire.Session>
  readonly terminators: Forms<wire.Terminator, wire.TerminatorCreate, wire.TerminatorReplace, wire.TerminatorPatch>
  readonly 'transit-routers': Forms<
    wire.TransitRouter,
    wire.TransitRouterCreate,
    wire.TransitRouterReplace,
    wire.TransitRouterPatch
  >
  readonly webhooks: Forms<wire.Webhook, wire.WebhookCreate, wire.WebhookReplace, wire.WebhookPatch>
}

/** The names of the resources whose entities requests can create. */
export type OfferedName = {
  [N in keyof FormsByName]: [FormsByName[N]['create']] extends [never] ? never : N
}[keyof FormsByName]

/** The member of the host's engine for the resource of a name: `edgeRouters` for 'edge-routers'. */
export type MemberName<N extends string> = N extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<MemberName<Rest>>}`
  : N

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
