import { z } from 'zod'
import type { AccessIndex } from '../../../domain/access-index/index.ts'
import { ControllerError, invalidField, notFound } from '../../../domain/errors.ts'
import { equals } from '../../../domain/filter/index.ts'
import type { PolicyFailure } from '../../../domain/posture/index.ts'
import type { WriteTransaction } from '../../../ports/storage.ts'
import { type SessionCreate, SessionCreation } from '../../../resources/access/session-requests.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { readId, readRequest, readValue } from '../../../resources/requests/read-body.ts'
import { services } from '../../../resources/services/services.ts'
import { type Call, type Caller, callerOf } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { postureDataOf } from '../../posture/posture-of.ts'
import { deleteEntity } from '../../records/deletion.ts'
import { NEVER } from '../../records/due-records.ts'
import { newRecord } from '../../records/new-record.ts'
import { makeRoom } from '../../records/room.ts'
import { decideByPosture, isReachable } from '../service-access.ts'
import { recordFailedRequest } from './failed-requests.ts'
import { requireSessionToken } from './session-tokens.ts'

type Session = RecordOf<typeof sessions>
type ServiceRecord = RecordOf<typeof services>
type Outcome = { readonly session: Session } | { readonly refusedBy: readonly PolicyFailure[] }

type SessionRequest = z.output<typeof SessionCreation>

/** Seconds for which a session token says it is good; the API session bounds it in fact. */
const TOKEN_LIFETIME_SECONDS = 365 * 24 * 60 * 60

/** Service sessions: the right of one API session to dial or bind one service. */
export class Sessions {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Gives the caller a session for a service, the same one as long as it lasts.
   *
   * @throws {ControllerError} NOT_FOUND when the caller may not reach the service at all.
   * @throws {ControllerError} COULD_NOT_VALIDATE (`ServiceId`) when it may reach it in the other direction only.
   * @throws {ControllerError} INVALID_POSTURE when no service policy passes; recorded as a failed service request.
   * @throws {ControllerError} NO_EDGE_ROUTERS_AVAILABLE when there is no edge router that both may use.
   */
  async create(call: Call, wanted: SessionCreate): Promise<{ readonly session: Session; readonly token: string }> {
    const request = readRequest(SessionCreation, wanted)
    const caller = callerOf(call)
    const outcome = await this.#context.writes.run(call, (tx) => this.#decide(tx, caller, request))
    if ('refusedBy' in outcome) throw this.#refusal(caller, request, outcome.refusedBy)
    return { session: outcome.session, token: await this.#sign(outcome.session, caller) }
  }

  /**
   * Refuses a session token that is not good for the service and the caller's API session.
   *
   * @throws {ControllerError} UNAUTHORIZED when the token is not good for the service and the API session.
   */
  async requireToken(call: Call, serviceId: string, token: string): Promise<void> {
    readId(serviceId, 'serviceId')
    return requireSessionToken(this.#context, callerOf(call), serviceId, readValue('token', z.string(), token))
  }

  /**
   * Ends a session of the caller's identity.
   *
   * @throws {ControllerError} NOT_FOUND when there is none of the id, or it is somebody else's.
   */
  async deleteOwn(call: Call, id: string): Promise<void> {
    readId(id)
    const { identity } = callerOf(call)
    await this.#context.writes.run(call, async (tx) => {
      const session = await tx.collection(sessions).get(id)
      if (session?.identityId !== identity.id) throw notFound('session', id)
      await deleteEntity(tx, sessions, id)
    })
  }

  async #decide(tx: WriteTransaction, caller: Caller, request: SessionRequest): Promise<Outcome> {
    const { serviceId, type, tags } = request
    const now = this.#context.clock.now()
    const index = await this.#context.access.at(tx)
    const service = await tx.collection(services).get(serviceId)
    if (service === undefined || !isReachable(index, caller.identity.id, serviceId)) {
      throw notFound('service', serviceId)
    }
    if (type === 'Invalid') throw invalidField('type', 'invalid session type', type)
    if (!index.allows(caller.identity.id, serviceId, type)) {
      throw invalidField('ServiceId', 'service not found', serviceId)
    }
    const question = { identityId: caller.identity.id, apiSessionId: caller.apiSession.id, serviceId, type }
    if (this.#isJudgedByRouters(caller)) {
      requireCommonRouter(index, question)
      return {
        session: newRecord(this.#context.random.uuid(), now, { ...question, tags, servicePolicies: [], dueAt: NEVER }),
      }
    }
    const data = await postureDataOf(tx, caller.identity.id, caller.apiSession.id)
    const decision = await decideByPosture(this.#context, tx, index, question, data, now)
    if ('refusedBy' in decision) {
      await this.#record(tx, caller, service, type, decision.refusedBy)
      return decision
    }
    requireCommonRouter(index, question)
    const { items } = await tx.collection(sessions).find({ where: equals('apiSessionId', caller.apiSession.id) })
    const existing = items.find((session) => session.serviceId === serviceId && session.type === type)
    const { policyIds: servicePolicies, until: dueAt = NEVER } = decision
    if (existing !== undefined) {
      if (dueAt < existing.dueAt) await tx.collection(sessions).update({ ...existing, dueAt })
      return { session: existing }
    }
    const session = newRecord(this.#context.random.id(), now, { ...question, tags, servicePolicies, dueAt })
    await makeRoom(this.#context, tx, sessions, session)
    await tx.collection(sessions).insert(session)
    return { session }
  }

  /**
   * Whether edge routers judge policies and posture of the caller's session, and go on to, by what its tokens say: posture
   * is reported to them, and such a session is not kept here.
   */
  #isJudgedByRouters({ accessToken }: Caller): boolean {
    return this.#context.dataPlane.controlAddresses.length > 0 && accessToken !== undefined
  }

  #record(
    tx: WriteTransaction,
    caller: Caller,
    service: ServiceRecord,
    type: 'Dial' | 'Bind',
    policyFailures: readonly PolicyFailure[],
  ): Promise<void> {
    const { id: serviceId, name: serviceName } = service
    const request = { apiSessionId: caller.apiSession.id, policyFailures, serviceId, serviceName, sessionType: type }
    return recordFailedRequest(this.#context, tx, caller.identity.id, request)
  }

  #refusal(caller: Caller, request: SessionRequest, failures: readonly PolicyFailure[]): ControllerError {
    const { serviceId, type } = request
    if (type !== 'Invalid') {
      const at = this.#context.clock.now()
      this.#context.events.emit('service.refused', { identityId: caller.identity.id, serviceId, type, at })
    }
    const policies = failures.map(({ policyId }) => policyId).join(' ')
    const checks = failures.map(({ policyId, checks }) => [
      policyId,
      checks.map((check) => ({ id: check.postureCheckId, typeId: check.postureCheckType, isPassing: false })),
    ])
    const message = `Failed to pass posture checks for service policies: [${policies}]`
    return new ControllerError('INVALID_POSTURE', { message, data: Object.fromEntries(checks) })
  }

  #sign(session: Session, { accessToken }: Caller): Promise<string> {
    const issuedAt = Math.floor(this.#context.clock.now() / 1000)
    return this.#context.tokens.sign({
      iss: `https://${this.#context.settings.address}`,
      sub: session.serviceId,
      aud: ['openziti'],
      iat: issuedAt,
      exp: issuedAt + TOKEN_LIFETIME_SECONDS,
      jti: session.id,
      z_asid: session.apiSessionId,
      z_iid: session.identityId,
      z_t: 's',
      z_st: session.type,
      z_leg: accessToken === undefined,
    })
  }
}

function requireCommonRouter(
  index: AccessIndex,
  { identityId, serviceId }: { readonly identityId: string; readonly serviceId: string },
): void {
  if (index.commonEdgeRouters(identityId, serviceId).length > 0) return
  throw new ControllerError('NO_EDGE_ROUTERS_AVAILABLE')
}
