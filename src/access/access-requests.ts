import { ControllerError, invalidField, notFound } from '../base/errors.ts'
import { tooLarge } from '../base/limits.ts'
import { instantText } from '../base/time.ts'
import { logFailure } from '../context/background-failure.ts'
import { type Call, callerOf, isAdminCall, knownCaller, may, mayRead, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import {
  type AccessApproval,
  AccessApprovalRequest,
  type AccessRefusal,
  AccessRefusalRequest,
  type AccessRequestCreate,
  AccessRequestCreation,
  type AccessRequests,
  accessRequests,
} from '../facts/access/access-request.resource.ts'
import { KEPT_DECIDED, OPEN_MS, policyOfGrant, stateAt } from '../facts/access/access-request.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, type Filter, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { deleteEntity } from '../records/deletion.ts'
import { dueRecords, NEVER } from '../records/due-records.ts'
import { findOne, newRecord } from '../records/read-records.ts'
import { entityRef } from '../records/render.ts'
import { ResourceService } from '../records/resource-service.ts'
import { servicePolicyBehaviour } from './policies.ts'

type AccessRequest = RecordOf<typeof accessRequests>
type Decision = Pick<AccessRequest, 'state'> & Partial<Pick<AccessRequest, 'note' | 'until' | 'policyId'>>

/** The service that a request found is shown to callers that may decide it. Its requester would learn which names exist otherwise. */
export const accessRequestBehaviour: Behaviour<AccessRequests> = {
  resource: accessRequests,

  async members(_context, tx, call, records) {
    if (!seesEveryRequest(call)) {
      return records.map(() => ({ serviceFound: null, decidedBy: null, policyId: null }))
    }
    const where = ids(new Set(records.flatMap(({ serviceId }) => serviceId ?? [])))
    const found = new Map((await tx.collection(services).find({ where })).items.map((one) => [one.id, one]))
    return records.map(({ serviceId, decidedBy, policyId }) => {
      const service = serviceId === null ? undefined : found.get(serviceId)
      return { serviceFound: service === undefined ? null : entityRef(services, service), decidedBy, policyId }
    })
  },
}

/** The right to make a service policy is the right to decide a request. */
export const TO_DECIDE = { entity: 'service-policy', action: 'create' } as const

/** Reports whether a call may see the requests of every identity: where it may decide them, or read the policies that they become. */
export function seesEveryRequest(call: Call): boolean {
  return mayRead(call, TO_DECIDE.entity) || may(call, TO_DECIDE)
}

/** Requests of identities for access that ends by itself, and the decisions about them. */
export class AccessRequestService {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Asks for access of the caller's identity to a service. The rule of the host is asked at once; without its decision the request is open
   * for a day. The answer does not depend on whether there is such a service.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when a member is invalid, or there are as many open requests as the limits allow.
   */
  async create(call: Call, wanted: AccessRequestCreate): Promise<AccessRequest> {
    const { service: named, ...asked } = readRequest(AccessRequestCreation, wanted)
    const { identity } = callerOf(call)
    const { id: identityId, name: identityName } = identity
    const { request, found } = await this.#context.writes.run(call, async (tx) => {
      await this.#keepWithinLimits(tx, identityId)
      const service = (await tx.collection(services).get(named)) ?? (await findOne(tx, services, 'name', named))
      const now = this.#context.clock.now()
      const record = newRecord(this.#context.random.id(), now, {
        ...{ identityId, service: named, serviceId: service?.id ?? null, ...asked },
        ...{ state: 'open' as const, expiresAt: now + OPEN_MS, dueAt: now + OPEN_MS },
        ...{ decidedAt: null, decidedBy: null, note: null, until: null, policyId: null },
      })
      await tx.collection(accessRequests).insert(record)
      return { request: record, found: service }
    })
    const service = found?.name ?? named
    const { id: requestId, serviceId, type, durationMs, reason } = request
    const { remoteAddress } = call
    const facts = { requestId, identityId, identityName, service, type, durationMs, reason, remoteAddress }
    const decided = await this.#context.host.decidesGrant({ ...facts, serviceId: serviceId ?? undefined })
    if (decided === undefined) return request
    try {
      if (decided.decision === 'refuse') return await this.refuse(SYSTEM_CALL, requestId, decided)
      return await this.approve(SYSTEM_CALL, requestId, decided)
    } catch (error) {
      const message = 'the decision of the host could not be carried out: the access request stays open'
      logFailure(this.#context.logger, message, error, { request: requestId })
      return request
    }
  }

  /**
   * Approves an open request: makes the service policy that `portcullis grant` would make, in the same write. The access begins now.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown request; it is deleted with its identity.
   * @throws {ControllerError} ENTITY_CAN_NOT_BE_UPDATED when the request is not open any more.
   * @throws {ControllerError} UNAUTHORIZED for the request of the caller itself, unless the caller is an administrator.
   * @throws {ControllerError} COULD_NOT_VALIDATE (`service`) when there is no such service, (`durationMs`) for a longer time than was
   *   asked for.
   */
  async approve(call: Call, id: string, approval: AccessApproval = {}): Promise<AccessRequest> {
    readId(id)
    const { durationMs, note = null, postureCheckRoles } = readRequest(AccessApprovalRequest, approval)
    return this.#context.writes.together(async (tx, writes) => {
      const request = await this.#openOne(tx, id)
      if (knownCaller(call)?.identity.id === request.identityId && !isAdminCall(call)) {
        const message = 'an identity may not approve its own request: another identity or an administrator may'
        throw new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message })
      }
      const lastsMs = durationMs ?? request.durationMs
      if (lastsMs > request.durationMs) {
        throw invalidField('durationMs', `no more than the ${request.durationMs} ms that were asked for`, lastsMs)
      }
      const identity = await tx.collection(identities).get(request.identityId)
      if (identity === undefined) throw notFound('identity', request.identityId)
      const service = request.serviceId === null ? undefined : await tx.collection(services).get(request.serviceId)
      if (service === undefined) {
        throw invalidField('service', 'there is no service of the name or id that was asked for', request.service)
      }
      const until = this.#context.clock.now() + lastsMs
      const grant = policyOfGrant({
        ...{ who: identity.name, what: service.name, type: request.type, reason: request.reason, requestId: id },
        ...{ identityRole: `@${identity.id}`, serviceRole: `@${service.id}`, postureCheckRoles },
        until: instantText(until),
      })
      const policies = new ResourceService({ ...this.#context, writes }, servicePolicyBehaviour)
      const { id: policyId } = await policies.create(call, grant)
      return writes.run(call, (inner) => this.#decide(inner, call, id, { state: 'approved', note, until, policyId }))
    })
  }

  /**
   * Refuses an open request.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown request.
   * @throws {ControllerError} ENTITY_CAN_NOT_BE_UPDATED when the request is not open any more.
   */
  async refuse(call: Call, id: string, refusal: AccessRefusal = {}): Promise<AccessRequest> {
    readId(id)
    const { note = null } = readRequest(AccessRefusalRequest, refusal)
    return this.#context.writes.run(call, (tx) => this.#decide(tx, call, id, { state: 'refused', note }))
  }

  /**
   * Withdraws an open request of the caller's identity.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown request, or a request of another identity.
   * @throws {ControllerError} ENTITY_CAN_NOT_BE_UPDATED when the request is not open any more.
   */
  async withdraw(call: Call, id: string): Promise<AccessRequest> {
    readId(id)
    const { identity } = callerOf(call)
    return this.#context.writes.run(call, async (tx) => {
      const request = await tx.collection(accessRequests).get(id)
      if (request?.identityId !== identity.id) throw notFound(accessRequests.definition.singular, id)
      return this.#decide(tx, call, id, { state: 'withdrawn' })
    })
  }

  async #openOne(tx: ReadTransaction, id: string): Promise<AccessRequest> {
    const request = await tx.collection(accessRequests).get(id)
    if (request === undefined) throw notFound(accessRequests.definition.singular, id)
    const state = stateAt(request, this.#context.clock.now())
    if (state === 'open') return request
    const message = `access request ${id} is ${state}: only an open request can be changed`
    throw new ControllerError('ENTITY_CAN_NOT_BE_UPDATED', { code: 'UNHANDLED', message })
  }

  async #decide(tx: WriteTransaction, call: Call, id: string, decision: Decision): Promise<AccessRequest> {
    const request = await this.#openOne(tx, id)
    const now = this.#context.clock.now()
    const decidedBy = knownCaller(call)?.identity.name ?? null
    const decided = { ...request, ...decision, decidedAt: now, decidedBy, dueAt: NEVER, updatedAt: now }
    await tx.collection(accessRequests).update(decided)
    return decided
  }

  /** Refuses a request beyond the limits, and deletes the oldest decided requests of its identity. */
  async #keepWithinLimits(tx: WriteTransaction, identityId: string): Promise<void> {
    const { openAccessRequests, openAccessRequestsPerIdentity } = this.#context.settings.limits
    const open = equals('state', 'open')
    const all = await count(tx, open)
    if (all >= openAccessRequests)
      throw tooLarge('service', `${all} open requests`, openAccessRequests, 'openAccessRequests')
    const own = await count(tx, both(open, equals('identityId', identityId)))
    if (own >= openAccessRequestsPerIdentity)
      throw tooLarge('service', `${own} open requests`, openAccessRequestsPerIdentity, 'openAccessRequestsPerIdentity')
    const where = both({ kind: 'not', of: open }, equals('identityId', identityId))
    const orderBy = [{ field: 'createdAt', kind: 'instant', direction: 'desc' }] as const
    const page = { ...(where && { where }), orderBy, offset: KEPT_DECIDED - 1 }
    for (const id of await tx.collection(accessRequests).findIds(page)) await deleteEntity(tx, accessRequests, id)
  }
}

async function count(tx: ReadTransaction, where: Filter | undefined): Promise<number> {
  return (await tx.collection(accessRequests).find({ ...(where && { where }), limit: 0 })).totalCount
}

/** Ends the open requests whose time is over, whichever process made them; answers when the next is due (epoch ms). */
export async function expireAccessRequests({ storage, clock, writes }: EngineContext): Promise<number | undefined> {
  for (;;) {
    const due = await storage.read((tx) => dueRecords(tx, accessRequests, 'dueAt', clock.now()))
    if (due.ids.length === 0) return due.next
    await writes.run(SYSTEM_CALL, async (tx) => {
      const now = clock.now()
      for (const id of due.ids) {
        const request = await tx.collection(accessRequests).get(id)
        if (request === undefined || request.dueAt > now) continue
        // A decided request is never due, but in a store that is damaged: it would be found due again without end.
        const ended = request.state === 'open' ? { state: 'expired' as const, decidedAt: now } : {}
        await tx.collection(accessRequests).update({ ...request, ...ended, dueAt: NEVER, updatedAt: now })
      }
    })
  }
}
