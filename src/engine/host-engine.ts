import type { ExplainOptions } from '../access/explain.ts'
import type { SimulatedCircumstances, SimulationPage, SimulationResult } from '../access/simulation/audience-changes.ts'
import type { SimulatedChange } from '../access/simulation/resolve-changes.ts'
import type { TrustAnchor } from '../authority/trust.ts'
import type { Call, Caller } from '../context/call.ts'
import type { AccessApproval, AccessRefusal, AccessRequestCreate } from '../facts/access/access-request.resource.ts'
import type { Explanation } from '../facts/access/explain/index.ts'
import type { PostureResponse, ServiceTimeout } from '../facts/access/posture/rules/index.ts'
import type { SessionCreate } from '../facts/access/session.resource.ts'
import type { AttributeGrant } from '../facts/authority/authority.rules.ts'
import type { AuthenticatorCreate } from '../facts/credentials/authenticator.resource.ts'
import type { EnrollmentCreate } from '../facts/enrollment/enrollment.resource.ts'
import type { AttributeGrantCreate } from '../facts/identities/attribute-grant.resource.ts'
import type { DirectorySearch } from '../facts/network/host-directory.ts'
import type * as wire from '../facts/resources/wire-names.ts'
import type { DeliveryReport, DeliverySelectionRequest } from '../facts/webhooks/delivery-questions.resource.ts'
import type { Trace } from '../identities/traces.ts'
import type { NetworkFinding } from '../insight/reach/network-findings.ts'
import type { PasswordReset, PasswordResetReport } from '../login/administrator-recovery.ts'
import type { ClientInfo } from '../login/api-session-start.ts'
import type { HostEntities, HostEntityServices, HostReader } from './host-entities.ts'

/** A new password of an authenticator, with its username. */
interface PasswordReplacement {
  /** 4 to 100 characters, unique in the network. */
  readonly username: string
  /** 5 to 100 characters, as the auth policy asks for. */
  readonly password: string
  readonly tags?: Readonly<Record<string, unknown>>
}

/** When an enrollment ends. */
interface Expiry {
  /** RFC 3339. Default: as long from now as the controller's enrollment tokens are valid. */
  readonly expiresAt?: string
}

/** A config of an identity for a service. */
interface ServiceConfigPair {
  readonly serviceId: string
  readonly configId: string
}

/** Identities, and whether they may act at all. */
interface HostIdentities
  extends HostEntities<wire.Identity, wire.IdentityCreate, wire.IdentityReplace, wire.IdentityPatch> {
  /** Disables an identity for some minutes; for 0 or less, until it is enabled. */
  disable(call: Call, id: string, request: { readonly durationMinutes: number }): Promise<void>
  enable(call: Call, id: string): Promise<void>
  /** Gives an identity a role attribute until an instant; answers the grant. Grants add up. */
  grantAttribute(call: Call, id: string, request: AttributeGrantCreate): Promise<AttributeGrant>
  /** Ends a grant before its time. */
  endAttributeGrant(call: Call, id: string, grantId: string): Promise<void>
  /** Takes the second factor of an identity away. */
  removeMfa(call: Call, id: string): Promise<void>
  /** Gives an identity configs of its own for services, in place of those of the services. */
  associateServiceConfigs(call: Call, id: string, pairs: readonly ServiceConfigPair[]): Promise<void>
  removeServiceConfigs(call: Call, id: string, pairs: readonly ServiceConfigPair[]): Promise<void>
}

/** Edge routers, and their enrollment. */
interface HostEdgeRouters
  extends HostEntities<wire.EdgeRouter, wire.EdgeRouterCreate, wire.EdgeRouterReplace, wire.EdgeRouterPatch> {
  /** Takes the certificate from an edge router and invites it to enroll anew. */
  reEnroll(call: Call, id: string): Promise<void>
}

/** Webhooks with their secrets, and their failed deliveries. */
interface HostWebhooks extends HostEntities<wire.Webhook, wire.WebhookCreate, wire.WebhookReplace, wire.WebhookPatch> {
  /** Makes a new secret and answers it, this once; the previous one signs as well for a day. */
  rotateSecret(call: Call, id: string): Promise<{ readonly secret: string }>
  /** The deliveries of a webhook: its place in the trail, waiting events, and its dead letters. */
  deliveries(call: Call, id: string): Promise<DeliveryReport>
  /** Sends dead letters again, some or all; answers how many. */
  resend(call: Call, id: string, request?: DeliverySelectionRequest): Promise<{ readonly count: number }>
  /** Drops dead letters, some or all; answers how many. */
  drop(call: Call, id: string, request?: DeliverySelectionRequest): Promise<{ readonly count: number }>
}

/** Requests for access that ends by itself. */
interface HostAccessRequests extends HostReader<wire.AccessRequest> {
  /** By a caller for itself. The rule of the host is asked at once. */
  create(call: Call, request: AccessRequestCreate): Promise<wire.AccessRequest>
  /** Makes the service policy that grants it, in the same write. */
  approve(call: Call, id: string, approval?: AccessApproval): Promise<wire.AccessRequest>
  refuse(call: Call, id: string, refusal?: AccessRefusal): Promise<wire.AccessRequest>
  /** By the identity that made it. */
  withdraw(call: Call, id: string): Promise<wire.AccessRequest>
}

/** The sessions of callers. */
interface HostApiSessions extends HostReader<wire.ApiSession> {
  /** Ends an API session with its service sessions. */
  delete(call: Call, id: string): Promise<void>
}

/** The proofs of identities: usernames with passwords, and client certificates. */
interface HostAuthenticators extends HostReader<wire.Authenticator> {
  create(call: Call, request: AuthenticatorCreate): Promise<wire.Authenticator>
  replace(call: Call, id: string, request: PasswordReplacement): Promise<wire.Authenticator>
  patch(call: Call, id: string, request: Partial<PasswordReplacement>): Promise<wire.Authenticator>
  delete(call: Call, id: string): Promise<void>
  /** Takes an authenticator away and invites its identity to enroll again; answers the enrollment. */
  revertToEnrollment(call: Call, id: string, request: Expiry): Promise<wire.Enrollment>
  /** Asks the holder of a certificate to extend it, with a new key where `rollKeys` says so. */
  requestExtension(call: Call, id: string, request?: { readonly rollKeys?: boolean }): Promise<void>
}

/** Invitations to enroll. */
interface HostEnrollments extends HostReader<wire.Enrollment> {
  create(call: Call, request: EnrollmentCreate): Promise<wire.Enrollment>
  /** Gives an enrollment a new token; the old one is void. */
  refresh(call: Call, id: string, request: Expiry): Promise<void>
  delete(call: Call, id: string): Promise<void>
}

/** Tokens that are void before their time. */
interface HostRevocations extends HostReader<wire.Revocation> {
  /** Revokes a token, all tokens of an identity, or those of an API session. */
  create(
    call: Call,
    request: {
      readonly id: string
      readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION'
      readonly tags?: Readonly<Record<string, unknown>>
    },
  ): Promise<wire.Revocation>
}

/** Service sessions: the right of an API session to dial or bind a service. */
interface HostSessions extends HostReader<wire.Session> {
  /** By a caller for itself. */
  create(call: Call, request: SessionCreate): Promise<{ readonly session: wire.Session; readonly token: string }>
  delete(call: Call, id: string): Promise<void>
  /** Ends a session of the caller's identity. */
  deleteOwn(call: Call, id: string): Promise<void>
}

/**
 * The controller without its wire, for the host that runs it. Each member but `host` is a subject, and each of its methods takes a
 * {@link Call}: the method is refused where the same operation of the APIs would be. An anonymous call may do what a request without
 * credentials may; a caller, what its session and its permissions open; the system, everything. Entities are answered as the APIs show
 * them, with instants in RFC 3339. A method that answers the entity that it wrote takes the right to read it as well.
 * `HostAuthorization` is not asked: that is for requests.
 *
 * @throws {ControllerError} UNAUTHORIZED when the call lacks the right, or its session or its rights are gone by now.
 * @throws {ControllerError} COULD_NOT_VALIDATE when a request does not match its schema, or a limit is reached;
 *   `details.field` names the member.
 * @throws {ControllerError} COULD_NOT_PARSE_BODY when a member is of another type.
 * @throws {ControllerError} REQUEST_ENTITY_TOO_LARGE when a request is longer in bytes than the APIs take.
 *
 * @example
 * const { id, createdAt } = await controller.engine.services.create(SYSTEM_CALL, { name: 'web' })
 * const { items } = await controller.engine.services.list(SYSTEM_CALL, { filter: 'name contains "web"' })
 */
export interface HostEngine extends HostEntityServices {
  readonly accessRequests: HostAccessRequests
  readonly apiSessions: HostApiSessions
  readonly authenticators: HostAuthenticators
  readonly edgeRouters: HostEdgeRouters
  readonly enrollments: HostEnrollments
  readonly identities: HostIdentities
  readonly revocations: HostRevocations
  readonly sessions: HostSessions
  readonly webhooks: HostWebhooks
  /** Questions about access, and about changes of it. */
  readonly access: {
    /**
     * Explains whether an identity may dial or bind a service, each by id or name: the verdict, everything it follows from,
     * and what may be done about it. Nothing is written.
     *
     * @throws {ControllerError} NOT_FOUND when an assumed change names an unknown id.
     *
     * @example
     * const explanation = await controller.engine.access.explain(SYSTEM_CALL, 'laptop', 'payroll', 'Dial')
     * console.log(explanationText(explanation))
     */
    explain(
      call: Call,
      identity: string,
      service: string,
      type: 'Dial' | 'Bind',
      options?: ExplainOptions,
    ): Promise<Explanation>
    /**
     * Answers which pairs of identity and service would gain or lose Dial or Bind by changes, in the words of the
     * resources' requests. Under `circumstances` posture counts too. Nothing is written.
     *
     * @throws {ControllerError} NOT_FOUND when a change names an unknown id.
     */
    simulate(
      call: Call,
      changes: readonly SimulatedChange[],
      page?: SimulationPage,
      circumstances?: SimulatedCircumstances,
    ): Promise<SimulationResult>
  }
  /** Logins: each redeems a proof of the identity, and begins an API session. */
  readonly authentication: {
    byPassword(call: Call, username: string, password: string, client?: ClientInfo): Promise<Caller>
    /** By the client certificate of the call. */
    byCertificate(call: Call, client?: ClientInfo): Promise<Caller>
    /** By a bearer token of the call, of an external signer. */
    byExternalJwt(call: Call, client?: ClientInfo): Promise<Caller>
  }
  /** The redemption of invitations, for devices that enroll by another way than HTTP. */
  readonly enrollment: {
    byOneTimeToken(call: Call, token: string, csrPem: string): Promise<{ readonly certificateChainPem: string }>
    /** By a certificate of a third-party CA in the call. */
    byClientCertificate(call: Call, token: string): Promise<void>
    byPassword(call: Call, token: string, password: string): Promise<{ readonly username: string }>
  }
  /** The reports of endpoints about themselves, by a caller for itself. */
  readonly posture: {
    submit(call: Call, responses: readonly PostureResponse[]): Promise<readonly ServiceTimeout[]>
  }
  /** Decides which certificate authorities and external signers may authenticate identities with rights. */
  readonly trustAnchors: {
    /** The trust anchors of the kinds that the caller may read. */
    list(call: Call): Promise<readonly TrustAnchor[]>
    trust(call: Call, id: string, mayAuthenticateAdmins: boolean): Promise<TrustAnchor>
  }
  /** The methods of the host alone: they take no call, and no caller gets them. */
  readonly host: HostMethods
}

/** The methods of the host alone, without a call: nobody's rights are asked. */
export interface HostMethods {
  /**
   * Begins an API session of an identity, which the host has authenticated by its own means. A person is named by `externalId` or `name`:
   * a person without an identity gets it where `directory.find` finds the person.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown identity.
   * @throws {ControllerError} INVALID_AUTH when it is disabled.
   *
   * @example
   * const caller = await controller.engine.host.startSession(identity.id)
   * const { items } = await controller.as(caller).services.list()
   */
  startSession(identity: string | DirectorySearch, client?: ClientInfo): Promise<Caller>
  /**
   * The holder of a token; `undefined` for a token that is unknown, expired, or of a disabled identity. Counts as use.
   *
   * @example
   * const caller = await controller.engine.host.resolve(token)
   */
  resolve(token: string, bearerTokens?: readonly string[]): Promise<Caller | undefined>
  /** Sets the password of an administrator so that it can log in. */
  resetAdminPassword(reset: PasswordReset): Promise<PasswordResetReport>
  /** Has the storage make a copy of itself, at most once a minute; answers where it lies, undefined where it cannot. */
  snapshot(): Promise<string | undefined>
  /** The trace of an identity at present, for a host's own data plane. */
  traceOf(identityId: string): Trace | undefined
  /** Finds oddities of the network: no administrator who can log in, policies that select nothing, services without routers. */
  findings(): Promise<readonly NetworkFinding[]>
  /**
   * Computes the first answers about reach ahead, in slices of a few milliseconds: `GET /findings`, `/access-map`, `/search` and `/reach`
   * then answer from memory. `withExplorer` of `portcullis/explorer` does it for its controller. Nothing is written.
   *
   * @example
   * const controller = await createController({ storage, address: 'controller.example.org:1280' })
   * await controller.engine.host.prepareReach()
   */
  prepareReach(): Promise<void>
}

type WithoutCall<T> = T extends (call: Call, ...given: infer Given) => infer Answer
  ? (...given: Given) => Answer
  : never

/**
 * The methods of {@link HostEngine} in one call, with the rights of its caller and without the methods of the host
 * alone. The rights of the caller are judged again with every method.
 *
 * @example
 * const { id } = await controller.as(caller).services.create({ name: 'web' })
 */
export type CallEngine = {
  readonly [P in Exclude<keyof HostEngine, 'host'>]: {
    readonly [M in keyof HostEngine[P]]: WithoutCall<HostEngine[P][M]>
  }
}
