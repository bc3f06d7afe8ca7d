import { Access } from '../access/access.ts'
import { AccessRequestService } from '../access/access-requests.ts'
import { type ExplainOptions, explain } from '../access/explain.ts'
import { Posture } from '../access/posture/posture-reports.ts'
import { Sessions } from '../access/service-sessions/sessions.ts'
import type { SimulatedCircumstances, SimulationPage, SimulationResult } from '../access/simulation/audience-changes.ts'
import type { SimulatedChange } from '../access/simulation/resolve-changes.ts'
import { Simulation } from '../access/simulation/simulation.ts'
import { accessSince } from '../audit/access-since.ts'
import { AuditReading } from '../audit/audit-reading.ts'
import { AuditTrail } from '../audit/audit-trail.ts'
import { ChangeUndo } from '../audit/change-undo.ts'
import type { Call, Caller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { RequestRates } from '../credentials/login-rate-limits.ts'
import { CaEnrollment } from '../enrollment/ca-enrollment.ts'
import { CertificateAuthorities } from '../enrollment/certificate-authorities.ts'
import { CertificateExtension } from '../enrollment/certificate-extension.ts'
import { Enrollment } from '../enrollment/enrollment.ts'
import { Network } from '../enrollment/network-trust.ts'
import { TokenEnrollment } from '../enrollment/token-enrollment.ts'
import { type TracedDial, type TraceQuestion, traceDial } from '../fabric/circuits/trace-dial.ts'
import { DataPlaneService } from '../fabric/data-plane-entities.ts'
import type { Explanation } from '../facts/access/explain/index.ts'
import type { AccessType } from '../facts/access/index/index.ts'
import { Traces } from '../identities/traces.ts'
import { type NetworkFinding, networkFindings } from '../insight/reach/network-findings.ts'
import { NetworkGraphs } from '../insight/reach/network-graphs.ts'
import { Timelines } from '../insight/timeline/timelines.ts'
import { TrafficReading } from '../insight/traffic.ts'
import { AdministratorRecovery } from '../login/administrator-recovery.ts'
import { ApiSessions } from '../login/api-sessions.ts'
import { Authentication } from '../login/authentication.ts'
import { Revocations } from '../login/revocations.ts'
import { SessionCertificates } from '../login/session-certificates.ts'
import { ControllerSettingsService } from '../network/controller-settings.ts'
import { DataIntegrity } from '../network/database/data-integrity.ts'
import { Snapshots, StorageHealth } from '../network/database/database-snapshots.ts'
import { KeyRotation } from '../pki/key-rotation.ts'
import { ServiceUpdates } from '../services/service-updates.ts'
import { followTime } from './due-work.ts'
import { contextOf } from './entity-services.ts'
import { amendWrites, followWrites, guardWrites } from './followers.ts'
import { StoreEngine } from './store-engine.ts'

/**
 * The controller without its wire: the APIs call it, and a host may call it directly. Every method takes the {@link Call} it is made
 * in; authorization by operation belongs to the APIs. Instants are epoch milliseconds in records, and RFC 3339 in requests. Any method
 * that takes a request, reads for its caller, or writes may throw the codes below; each method names its further codes.
 *
 * @throws {ControllerError} COULD_NOT_VALIDATE when a request does not match its schema, or a limit is reached;
 *   `details.field` names the member.
 * @throws {ControllerError} COULD_NOT_PARSE_BODY when a member is of another type.
 * @throws {ControllerError} REQUEST_ENTITY_TOO_LARGE when a request is longer in bytes than the APIs take.
 * @throws {ControllerError} UNAUTHORIZED when the caller of the call lacks the right.
 * @throws {ControllerError} CAN_NOT_DELETE_REFERENCED_ENTITY when an entity that has to go is needed by an entity that stays.
 */
export class ControllerEngine extends StoreEngine {
  readonly #context = contextOf(this)
  readonly accessRequests = new AccessRequestService(this.#context)
  readonly administratorRecovery = new AdministratorRecovery(this.#context)
  /** The audit trail, as it is written. */
  readonly auditTrail = new AuditTrail(this.#context)
  /** The audit trail, to be read and verified. */
  readonly audit = new AuditReading(this.#context, this.auditTrail)
  /** Undoes changes that the audit trail records. */
  readonly changeUndo: ChangeUndo = new ChangeUndo(this.#context, this)
  readonly apiSessions = new ApiSessions(this.#context)
  readonly authentication = new Authentication<Caller>(this.#context, (call, who, start) =>
    this.apiSessions.start(call, who, start),
  )
  readonly caEnrollment = new CaEnrollment(this.#context)
  readonly certificateAuthorities = new CertificateAuthorities(this.#context)
  readonly enrollment = new Enrollment(this.#context)
  readonly certificateExtension = new CertificateExtension(this.#context)
  readonly sessionCertificates = new SessionCertificates(this.#context)
  readonly tokenEnrollment = new TokenEnrollment(this.#context)
  readonly controllerSettings = new ControllerSettingsService(this.#context)
  /** The keys of the network's own, as they change. */
  readonly keyRotation = new KeyRotation(this.#context)
  /** Epoch milliseconds. */
  readonly startedAt = this.#context.clock.now()
  readonly network = new Network(this.#context)
  /** Answers about the services that policies let identities reach. */
  readonly access = new Access(this.#context)
  readonly requestRates = new RequestRates(this.#context)
  readonly posture = new Posture(this.#context)
  readonly revocations = new Revocations(this.#context)
  readonly serviceUpdates = new ServiceUpdates(this.#context)
  readonly sessions = new Sessions(this.#context)
  readonly traces = new Traces(this.#context)
  readonly snapshots = new Snapshots(this.#context)
  readonly dataIntegrity = new DataIntegrity(this.#context)
  readonly storageHealth = new StorageHealth(this.#context)
  readonly dataPlane = new DataPlaneService(this.#context)
  /** The graphs of access, by groups and by names. */
  readonly graphs = new NetworkGraphs(this.#context)
  /** The events of this process, for callers with the right to read them. */
  readonly timelines = new Timelines(this.#context)
  /** Routers, links and circuits as they are now. */
  readonly traffic = new TrafficReading(this.#context)

  readonly #simulation = new Simulation(this.#context)

  constructor(context: EngineContext) {
    super(context)
    amendWrites(context, this.revocations)
    guardWrites(context)
    followWrites(context, this.apiSessions, this.revocations)
    followTime(context, this.apiSessions, this.revocations)
  }

  /**
   * Explains whether an identity may dial or bind a service, each by id or name: the verdict, everything it follows from, since
   * when policies grant it, and what may be done about it. Nothing is written.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when an option cannot be read.
   * @throws {ControllerError} NOT_FOUND when an assumed change names an unknown id.
   */
  async explain(
    identity: string,
    service: string,
    type: AccessType,
    options: ExplainOptions = {},
  ): Promise<Explanation> {
    const explanation = await explain(this.#context, identity, service, type, options)
    const isOfNow = options.at === undefined && (options.changes ?? []).length === 0
    return isOfNow ? { ...explanation, since: await accessSince(this.#context, explanation) } : explanation
  }

  /**
   * Follows the next dial of an identity to a service, with the rights of a call. Answers at once where no client could ask a router now.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown identity or service, and while the data plane is not open.
   * @throws {ControllerError} UNAUTHORIZED when the right of the call ended while it waited.
   */
  traceDial(call: Call, question: TraceQuestion): Promise<TracedDial> {
    return traceDial(this.#context, call, question)
  }

  /** Finds oddities of the network: no administrator who can log in, policies that select nothing, services without routers. */
  findings(): Promise<readonly NetworkFinding[]> {
    return networkFindings(this.#context, this.graphs)
  }

  /**
   * Computes the first answers about reach ahead, in slices of a few milliseconds: `GET /findings`, `/access-map`,
   * `/search` and `/reach` of the explorer's first view then answer from memory. Questions that come meanwhile wait for
   * it, as they would for their own answer. Nothing is written.
   */
  prepareReach(): Promise<void> {
    return this.graphs.prepare()
  }

  /**
   * Answers which pairs of identity and service would gain or lose Dial or Bind by changes, in the words of the resources' requests,
   * posture aside: counts with the first page, pairs page by page. Under `circumstances` posture counts too: access that passes now is
   * compared with access that would pass then, for some identities or for all, a hundred to a page. Nothing is written.
   *
   * @throws {ControllerError} NOT_FOUND when a change names an unknown id.
   * @throws {ControllerError} COULD_NOT_VALIDATE when a role list or a cursor is invalid, an id is taken, or there are
   *   more than 500 changes.
   */
  simulate(
    changes: readonly SimulatedChange[],
    page?: SimulationPage,
    circumstances?: SimulatedCircumstances,
  ): Promise<SimulationResult> {
    return this.#simulation.run(changes, page, circumstances)
  }
}
