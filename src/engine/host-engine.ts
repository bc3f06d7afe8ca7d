import type { ExplainOptions } from '../access/explain.ts'
import type { NetworkFinding } from '../access/network-findings.ts'
import type { SimulatedCircumstances, SimulationPage, SimulationResult } from '../access/simulation/audience-changes.ts'
import type { SimulatedChange } from '../access/simulation/resolve-changes.ts'
import type { TrustAnchor } from '../authority/trust.ts'
import type { Call, Caller, SystemCall } from '../context/call.ts'
import type { Explanation } from '../facts/access/explain/index.ts'
import type { PostureResponse, ServiceTimeout } from '../facts/access/posture/rules/index.ts'
import type { SessionCreate } from '../facts/access/session.resource.ts'
import type { AuthenticatorCreate } from '../facts/credentials/authenticator.resource.ts'
import type { EnrollmentCreate } from '../facts/enrollment/enrollment.resource.ts'
import type * as records from '../facts/resources/record-names.ts'
import type { DeliveryReport, DeliverySelectionRequest } from '../facts/webhooks/delivery-questions.resource.ts'
import type { Trace } from '../identities/traces.ts'
import type { PasswordReset, PasswordResetReport } from '../login/administrator-recovery.ts'
import type { ClientInfo } from '../login/api-session-start.ts'
import type { HostEntityServices } from './host-entities.ts'

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

/**
 * The controller without its wire, for the host that runs it. A method that takes a {@link Call} is refused where the same operation of
 * the APIs would be: an anonymous call may do what a request without credentials may; a caller, what its session and its permissions
 * open; the system, everything. Methods without a call are the host's own. Instants are epoch milliseconds in records, and RFC 3339 in
 * requests and wire forms. `HostAuthorization` is not asked: that is for requests.
 *
 * @throws {ControllerError} UNAUTHORIZED when the call lacks the right, or its session or its rights are gone by now.
 * @throws {ControllerError} COULD_NOT_VALIDATE when a request does not match its schema, or a limit is reached;
 *   `details.field` names the member.
 * @throws {ControllerError} COULD_NOT_PARSE_BODY when a member is of another type.
 * @throws {ControllerError} REQUEST_ENTITY_TOO_LARGE when a request is longer in bytes than the APIs take.
 */
export interface HostEngine extends HostEntityServices {
  /** Sessions of callers. `startFor` is for the system alone: the host has authenticated the identity by its own means. */
  readonly apiSessions: {
    startFor(call: SystemCall, identityId: string, client?: ClientInfo): Promise<Caller>
    /** The holder of a token; `undefined` for a token that is unknown, expired, or of a disabled identity. Counts as use. */
    resolve(token: string, bearerTokens?: readonly string[]): Promise<Caller | undefined>
    /** Ends an API session with its service sessions. */
    end(call: Call, id: string): Promise<void>
  }
  /** Logins: each redeems a proof of the identity, and begins an API session. */
  readonly authentication: {
    byPassword(call: Call, username: string, password: string, client?: ClientInfo): Promise<Caller>
    /** By the client certificate of the call. */
    byCertificate(call: Call, client?: ClientInfo): Promise<Caller>
    /** By a bearer token of the call, of an external signer. */
    byExternalJwt(call: Call, client?: ClientInfo): Promise<Caller>
  }
  /** The proofs of identities: usernames with passwords, and client certificates. */
  readonly authenticators: {
    create(call: Call, request: AuthenticatorCreate): Promise<records.AuthenticatorRecord>
    replace(call: Call, id: string, request: PasswordReplacement): Promise<void>
    patch(call: Call, id: string, request: Partial<PasswordReplacement>): Promise<void>
    /** Takes an authenticator away and invites its identity to enroll again; answers the id of the enrollment. */
    revertToEnrollment(call: Call, id: string, request: Expiry): Promise<string>
    /** Asks the holder of a certificate to extend it, with a new key where `rollKeys` says so. */
    requestExtension(call: Call, id: string, request?: { readonly rollKeys?: boolean }): Promise<void>
  }
  /** Invitations to enroll. */
  readonly enrollments: {
    create(call: Call, request: EnrollmentCreate): Promise<records.EnrollmentRecord>
    /** Gives an enrollment a new token; the old one is void. */
    refresh(call: Call, id: string, request: Expiry): Promise<void>
    delete(call: Call, id: string): Promise<void>
  }
  /** The redemption of invitations, for devices that enroll by another way than HTTP. */
  readonly enrollment: {
    byOneTimeToken(call: Call, token: string, csrPem: string): Promise<{ readonly certificateChainPem: string }>
    /** By a certificate of a third-party CA in the call. */
    byClientCertificate(call: Call, token: string): Promise<void>
    byPassword(call: Call, token: string, password: string): Promise<{ readonly username: string }>
  }
  /** The enrollment of edge routers. */
  readonly routerEnrollment: {
    /** Takes the certificate from an edge router and invites it to enroll anew. */
    reEnroll(call: Call, id: string): Promise<void>
  }
  /** Whether identities may act at all. */
  readonly identityState: {
    /** Disables an identity for some minutes; for 0 or less, until it is enabled. */
    disable(call: Call, id: string, request: { readonly durationMinutes: number }): Promise<void>
    enable(call: Call, id: string): Promise<void>
  }
  /** Second factors of identities. */
  readonly mfa: {
    /** Takes the second factor of an identity away. */
    removeFrom(call: Call, identityId: string): Promise<void>
  }
  /** The reports of endpoints about themselves, by a caller for itself. */
  readonly posture: {
    submit(call: Call, responses: readonly PostureResponse[]): Promise<readonly ServiceTimeout[]>
  }
  readonly revocations: {
    /** Revokes a token, all tokens of an identity, or those of an API session. */
    create(
      call: Call,
      request: {
        readonly id: string
        readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION'
        readonly tags?: Readonly<Record<string, unknown>>
      },
    ): Promise<records.RevocationRecord>
  }
  /** The right of an API session to dial or bind a service, by a caller for itself. */
  readonly sessions: {
    create(
      call: Call,
      request: SessionCreate,
    ): Promise<{ readonly session: records.SessionRecord; readonly token: string }>
    deleteOwn(call: Call, id: string): Promise<void>
  }
  /** Configs of identities for services, instead of the services' own. */
  readonly serviceConfigs: {
    associate(call: Call, identityId: string, pairs: readonly ServiceConfigPair[]): Promise<void>
    remove(call: Call, identityId: string, pairs: readonly ServiceConfigPair[]): Promise<void>
  }
  /** Tracing of identities, for a host's own data plane. */
  readonly traces: {
    /** The trace of an identity at present. */
    of(identityId: string): Trace | undefined
  }
  /** Decides which certificate authorities and external signers may authenticate identities with rights. */
  readonly trustAnchors: {
    /** The trust anchors of the kinds that the caller may read. */
    list(call: Call): Promise<readonly TrustAnchor[]>
    trust(call: Call, id: string, mayAuthenticateAdmins: boolean): Promise<TrustAnchor>
  }
  readonly administratorRecovery: {
    /** Sets the password of an administrator so that it can log in. */
    resetPassword(call: SystemCall, reset: PasswordReset): Promise<PasswordResetReport>
  }
  readonly snapshots: {
    /** Has the storage make a copy of itself, at most once a minute; answers where it lies, undefined where it cannot. */
    create(): Promise<string | undefined>
  }
  /** The secrets of webhooks, and their failed deliveries. */
  readonly webhookDeliveries: {
    /** Makes a new secret and answers it, this once; the previous one signs as well for a day. */
    rotateSecret(call: Call, id: string): Promise<{ readonly secret: string }>
    /** The deliveries of a webhook: its place in the trail, waiting events, and its dead letters. For the host, without a call. */
    deliveries(id: string): Promise<DeliveryReport>
    /** Sends dead letters again, some or all; answers how many. */
    resend(call: Call, id: string, request?: DeliverySelectionRequest): Promise<{ readonly count: number }>
    /** Drops dead letters, some or all; answers how many. */
    drop(call: Call, id: string, request?: DeliverySelectionRequest): Promise<{ readonly count: number }>
  }
  /**
   * Explains whether an identity may dial or bind a service, each by id or name: the verdict, everything it follows from,
   * and what may be done about it. Nothing is written.
   *
   * @throws {ControllerError} NOT_FOUND when an assumed change names an unknown id.
   */
  explain(identity: string, service: string, type: 'Dial' | 'Bind', options?: ExplainOptions): Promise<Explanation>
  /** Finds oddities of the network: no administrator who can log in, policies that select nothing, services without routers. */
  findings(): Promise<readonly NetworkFinding[]>
  /**
   * Computes the first answers about reach ahead, in slices of a few milliseconds: `GET /findings`, `/access-map`, `/search` and `/reach`
   * then answer from memory. `withExplorer` of `portcullis/explorer` does it for its controller. Nothing is written.
   *
   * @example
   * const controller = await createController({ storage, address: 'controller.example.org:1280' })
   * await controller.engine.prepareReach()
   */
  prepareReach(): Promise<void>
  /**
   * Answers which pairs of identity and service would gain or lose Dial or Bind by changes, in the words of the
   * resources' requests. Under `circumstances` posture counts too. Nothing is written.
   *
   * @throws {ControllerError} NOT_FOUND when a change names an unknown id.
   */
  simulate(
    changes: readonly SimulatedChange[],
    page?: SimulationPage,
    circumstances?: SimulatedCircumstances,
  ): Promise<SimulationResult>
}

type OfHostAlone = 'administratorRecovery' | 'findings' | 'prepareReach' | 'snapshots' | 'traces'
type WithoutCall<T> = T extends (call: Call, ...given: infer Given) => infer Answer ? (...given: Given) => Answer : T
type TakesCall<T> = { [M in keyof T]: T[M] extends (call: Call, ...given: infer _) => unknown ? M : never }[keyof T]

/**
 * The methods of {@link HostEngine} in one call, with the rights of its caller and without the methods of the host
 * alone. The rights of the caller are judged again with every method.
 */
export type CallEngine = {
  readonly [P in Exclude<keyof HostEngine, OfHostAlone>]: HostEngine[P] extends (...given: never) => unknown
    ? HostEngine[P]
    : { readonly [M in TakesCall<HostEngine[P]>]: WithoutCall<HostEngine[P][M]> }
}
