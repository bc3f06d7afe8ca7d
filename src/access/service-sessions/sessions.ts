import { z } from 'zod'
import { jsonBytes } from '../../base/bytes.ts'
import { ControllerError, invalidField, notFound } from '../../base/errors.ts'
import { type Call, type Caller, callerOf } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { judgeToken } from '../../credentials/signing-keys.ts'
import { decideAccess } from '../../facts/access/decision.rules.ts'
import { type FailedRequest, failedServiceRequests } from '../../facts/access/posture/posture-data.resource.ts'
import type { PolicyFailure } from '../../facts/access/posture/rules/index.ts'
import { type SessionCreate, SessionCreation, sessions } from '../../facts/access/session.resource.ts'
import { revocations } from '../../facts/login/revocation.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import { readId, readRequest, readValue } from '../../kernel/declaration/read-body.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { equals, ids } from '../../kernel/filter/index.ts'
import type { Claims } from '../../ports/credentials.ts'
import type { WriteTransaction } from '../../ports/record-storage.ts'
import { deleteEntity } from '../../records/deletion.ts'
import { NEVER } from '../../records/due-records.ts'
import { keepOwnerQuota } from '../../records/owner-quota.ts'
import { newRecord } from '../../records/read-records.ts'
import { factsFor, failuresOf } from '../decision.ts'

type Session = RecordOf<typeof sessions>
type ServiceRecord = RecordOf<typeof services>
type Outcome =
  | { readonly session: Session; readonly isKept: boolean }
  | { readonly refusedBy: readonly PolicyFailure[] }

type SessionRequest = z.output<typeof SessionCreation>

/** Seconds for which a session token claims to be valid; in fact it ends with its API session. */
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
    const { session, isKept } = outcome
    const token = await this.#sign(session, caller)
    if (!isKept) this.#tellIssued(session)
    return { session, token }
  }

  /**
   * Refuses a session token that is invalid for the service or the caller's API session.
   *
   * @throws {ControllerError} UNAUTHORIZED when the token is invalid for the service or the API session.
   */
  async requireToken(call: Call, serviceId: string, token: string): Promise<void> {
    readId(serviceId, 'serviceId')
    return requireSessionToken(this.#context, callerOf(call), serviceId, readValue('token', z.string(), token))
  }

  /**
   * Ends a session of the caller's identity.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id, or a session of another identity.
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
    const isJudgedByRouters = this.#isJudgedByRouters(caller)
    const pair = { identityId: caller.identity.id, apiSessionId: caller.apiSession.id, serviceId }
    const asked = { posture: isJudgedByRouters ? 'aside' : 'reported', routers: true } as const
    const [facts] = await factsFor(this.#context, tx, [pair], asked)
    const service = await tx.collection(services).get(serviceId)
    if (service === undefined || facts === undefined || facts.grants.length === 0) throw notFound('service', serviceId)
    if (type === 'Invalid') throw invalidField('type', 'invalid session type', type)
    const decision = decideAccess(type, facts, now)
    if (decision.reason === 'only-other-type') throw invalidField('ServiceId', 'service not found', serviceId)
    if (decision.reason === 'posture-failing') {
      const refusedBy = await failuresOf(tx, type, facts, now)
      await this.#record(tx, caller, service, type, refusedBy)
      return { refusedBy }
    }
    if (decision.verdict === 'refused') throw new ControllerError('NO_EDGE_ROUTERS_AVAILABLE')
    const question = { ...pair, type }
    if (isJudgedByRouters) {
      const facts = { ...question, tags, servicePolicies: [], dueAt: NEVER }
      return { session: newRecord(this.#context.random.uuid(), now, facts), isKept: false }
    }
    const { items } = await tx.collection(sessions).find({ where: equals('apiSessionId', caller.apiSession.id) })
    const existing = items.find((session) => session.serviceId === serviceId && session.type === type)
    const { policies: servicePolicies, until: dueAt = NEVER } = decision
    if (existing !== undefined) {
      if (dueAt < existing.dueAt) await tx.collection(sessions).update({ ...existing, dueAt })
      return { session: existing, isKept: true }
    }
    const session = newRecord(this.#context.random.id(), now, { ...question, tags, servicePolicies, dueAt })
    await keepOwnerQuota(this.#context, tx, sessions, session)
    await tx.collection(sessions).insert(session)
    return { session, isKept: true }
  }

  /**
   * Whether edge routers judge the policies and posture of the caller's session, at its beginning and later, by its
   * tokens. Posture is then reported to them, and this controller keeps no such session.
   */
  #isJudgedByRouters({ accessToken }: Caller): boolean {
    return this.#context.dataPlane.controlAddresses.length > 0 && accessToken !== undefined
  }

  #tellIssued({ id: sessionId, createdAt: at, apiSessionId, identityId, serviceId, type }: Session): void {
    this.#context.events.emit('service-token.issued', { sessionId, apiSessionId, identityId, serviceId, type, at })
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

/**
 * Refuses a session token that is not the controller's own, has expired, was revoked, belongs to another API session than the
 * caller's, is for another service, or whose session is over. Error: `UNAUTHORIZED`.
 */
async function requireSessionToken(
  context: EngineContext,
  caller: Caller,
  serviceId: string,
  token: string,
): Promise<void> {
  const now = context.clock.now()
  const judgement = await judgeToken(context, token, now)
  const claims = judgement.outcome === 'valid' ? judgement.claims : undefined
  const isOwn = claims?.z_asid === caller.apiSession.id && claims.z_iid === caller.identity.id
  if (claims?.z_t !== 's' || !isOwn || claims.sub !== serviceId) throw new ControllerError('UNAUTHORIZED')
  // Where routers judge a session that is made of tokens, this controller keeps no record of it.
  const isKept = claims.z_leg === true || context.dataPlane.controlAddresses.length === 0
  if (isKept && !(await isUnderway(context, claims))) throw new ControllerError('UNAUTHORIZED')
  const issuedFor = [claims.jti, claims.z_asid, claims.z_iid].filter((id) => typeof id === 'string')
  const { items, damaged } = await context.storage.read((tx) =>
    tx.collection(revocations).find({ where: ids(issuedFor) }),
  )
  // An unreadable revocation still counts.
  const isRevoked = damaged !== undefined || items.some(({ expiresAt }) => now < expiresAt)
  if (isRevoked) throw new ControllerError('UNAUTHORIZED')
}

/** Whether the session of a token still exists. */
async function isUnderway({ storage }: EngineContext, { jti, sub, z_asid, z_st }: Claims): Promise<boolean> {
  const session = typeof jti === 'string' ? await storage.read((tx) => tx.collection(sessions).get(jti)) : undefined
  return session?.apiSessionId === z_asid && session?.serviceId === sub && session?.type === z_st
}

/** How many failed service requests of an identity are kept. */
const KEPT_PER_IDENTITY = 50

/** Records a service request that posture refused, and deletes the oldest beyond {@link KEPT_PER_IDENTITY}. */
async function recordFailedRequest(
  { settings, random, clock }: EngineContext,
  tx: WriteTransaction,
  identityId: string,
  request: FailedRequest,
): Promise<void> {
  const collection = tx.collection(failedServiceRequests)
  const { items } = await collection.find({
    where: equals('identityId', identityId),
    orderBy: [{ field: 'when', kind: 'instant', direction: 'asc' }],
  })
  for (const { id } of items.slice(0, Math.max(0, items.length - KEPT_PER_IDENTITY + 1))) await collection.delete(id)
  const when = clock.now()
  const kept = withinBytes(request, settings.limits.failedRequestBytes)
  await collection.insert(newRecord(random.id(), when, { identityId, when, request: kept }))
}

/** The request with as many of the failed checks, in order, as fit into `most` bytes. */
function withinBytes(request: FailedRequest, most: number): FailedRequest {
  if (jsonBytes(request) <= most) return request
  const policyFailures: PolicyFailure[] = []
  let bytes = jsonBytes({ ...request, policyFailures })
  for (const failure of request.policyFailures) {
    const checks: PolicyFailure['checks'][number][] = []
    bytes += jsonBytes({ ...failure, checks }) + 1
    if (bytes > most) break
    for (const check of failure.checks) {
      const added = jsonBytes(check) + 1
      if (bytes + added > most) break
      checks.push(check)
      bytes += added
    }
    policyFailures.push({ ...failure, checks })
    if (checks.length < failure.checks.length) break
  }
  return { ...request, policyFailures }
}
