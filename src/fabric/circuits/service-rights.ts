import { factsFor } from '../../access/decision.ts'
import { grouped } from '../../base/collections.ts'
import type { EngineContext } from '../../context/context.ts'
import { isMissingBetweenRequests } from '../../credentials/api-session-validity.ts'
import { type Decision, decideAccess, type PartyFacts, type PartyLack } from '../../facts/access/decision.rules.ts'
import type { AccessType } from '../../facts/access/index/index.ts'
import { emptyPostureData } from '../../facts/access/posture/rules/index.ts'
import { sessions } from '../../facts/access/session.resource.ts'
import { enabledAt, isDisabled } from '../../facts/authority/authority.rules.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { apiSessions } from '../../facts/login/api-session.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { ApiSessions } from '../../login/api-sessions.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'

/** The party for which traffic enters or leaves the network. */
export interface Party {
  readonly identityId: string
  /** The API session behind it; undefined for a router for its own host, and where it was not kept. */
  readonly apiSessionId: string | undefined
  /** The stored service session; undefined where the API session or the router alone identifies the party. */
  readonly sessionId: string | undefined
}

/** A party with the action and the service that it claims. */
export interface ServiceClaim extends Party {
  readonly type: AccessType
  readonly serviceId: string
  readonly routerId: string
  /**
   * Its posture, as clients report it to this controller, must pass. For a bearer session a capable router judges the reports that clients
   * send to it, until a check passed here.
   */
  readonly mustPass: boolean
}

/** The decisions about claims, by the claims that were asked about. */
export type JudgedClaims = ReadonlyMap<ServiceClaim, Decision>

type Found<T> = ReadonlyMap<string, T>

/** The records that claims name. */
interface Named {
  readonly services: Found<object>
  readonly identities: Found<RecordOf<typeof identities>>
  readonly apiSessions: Found<RecordOf<typeof apiSessions>>
  readonly sessions: Found<RecordOf<typeof sessions>>
}

/** The lack of an API session, if any, and when (epoch ms) it is over by itself. */
type SessionValidity = Pick<PartyFacts, 'lack' | 'endsAt'>

/** The most claims whose facts are read at a time: the facts of a whole network would fill the memory. */
const CLAIMS_AT_ONCE = 500

/**
 * Decides whether an identity may dial or bind a service at an edge router now. The identity must exist and be enabled. Its API session must
 * be fully authenticated, and its service session must exist. A policy whose posture checks pass must grant the service, and identity and
 * service may use the router. New circuits, running circuits and terminators are judged here, by the same decision as the APIs.
 */
export class ServiceRights {
  readonly #context: EngineContext
  readonly #apiSessions: ApiSessions

  constructor(context: EngineContext, apiSessions: ApiSessions) {
    this.#context = context
    this.#apiSessions = apiSessions
  }

  /** Judges claims in one snapshot, with a few reads for any number of claims. Equal claims share the answer. */
  async judge(tx: ReadTransaction, claims: readonly ServiceClaim[]): Promise<JudgedClaims> {
    const alike = grouped(claims, keyOf)
    const distinct = [...alike.values()].flatMap(([claim]) => claim ?? [])
    const validities = new Map<string, SessionValidity>()
    const judged = new Map<ServiceClaim, Decision>()
    for (let first = 0; first < distinct.length; first += CLAIMS_AT_ONCE) {
      const some = distinct.slice(first, first + CLAIMS_AT_ONCE)
      for (const [position, decision] of (await this.#judgeSome(tx, some, validities)).entries()) {
        const claim = some[position]
        for (const same of (claim && alike.get(keyOf(claim))) ?? []) judged.set(same, decision)
      }
    }
    return judged
  }

  async #judgeSome(
    tx: ReadTransaction,
    claims: readonly ServiceClaim[],
    validities: Map<string, SessionValidity>,
  ): Promise<readonly Decision[]> {
    const named = await namedBy(tx, claims)
    const loaded = await factsFor(this.#context, tx, claims, { routers: true })
    const now = this.#context.clock.now()
    const turn = this.#context.turns.begin()
    const decisions: Decision[] = []
    for (const [position, claim] of claims.entries()) {
      const facts = loaded[position]
      if (facts === undefined) continue
      const identity = named.identities.get(claim.identityId)
      // A router for its own host has no posture.
      const posture = isTunneler(claim) ? { data: emptyPostureData(), apiSessionId: '' } : facts.posture
      const decision = decideAccess(
        claim.type,
        {
          ...facts,
          identity: identity && { isDisabled: isDisabled(identity, now), disabledUntil: enabledAt(identity) },
          hasService: named.services.has(claim.serviceId),
          posture,
          party: await this.#partyOf(tx, claim, named, validities),
        },
        now,
      )
      decisions.push(decision)
      await turn()
    }
    return decisions
  }

  async #partyOf(
    tx: ReadTransaction,
    claim: ServiceClaim,
    named: Named,
    validities: Map<string, SessionValidity>,
  ): Promise<PartyFacts> {
    const { routerId, identityId, apiSessionId, sessionId, mustPass } = claim
    const isTunnel = isTunneler(claim)
    const isBefore = apiSessionId === undefined && !isTunnel
    // A host from before its session was kept is judged by its router.
    const party = { routerId, endsAt: undefined, isJudgedThere: isBefore || (sessionId === undefined && !mustPass) }
    const identity = named.identities.get(identityId)
    if (isTunnel) return { ...party, lack: identity?.typeId === 'Router' ? undefined : 'not-a-tunneler' }
    const key = `${apiSessionId ?? ''} ${identityId}`
    const validity = validities.get(key) ?? (await this.#validityOf(tx, claim, named))
    validities.set(key, validity)
    const lack = validity.lack ?? (hasServiceSession(claim, named) ? undefined : 'service-session-over')
    return { ...party, ...validity, lack }
  }

  /** Whether the API session of a claim is underway, of the identity, and fully authenticated. */
  async #validityOf(
    tx: ReadTransaction,
    { apiSessionId, identityId }: ServiceClaim,
    { apiSessions }: Named,
  ): Promise<SessionValidity> {
    if (apiSessionId === undefined) return { lack: undefined, endsAt: undefined }
    const session = apiSessions.get(apiSessionId)
    if (session?.identityId !== identityId) return { lack: 'api-session-over', endsAt: undefined }
    const { validity: judged, dueAt } = await this.#apiSessions.validity(tx, session)
    if (judged.is !== 'underway') return { lack: 'api-session-over', endsAt: dueAt }
    const isMissing = await isMissingBetweenRequests(this.#context, tx, session, judged)
    const lack: PartyLack | undefined = isMissing ? 'factor-missing' : undefined
    return { lack, endsAt: dueAt }
  }
}

/** Reads the records that claims name, with one query for each kind. */
async function namedBy(tx: ReadTransaction, claims: readonly ServiceClaim[]): Promise<Named> {
  const where = (of: (claim: ServiceClaim) => string | undefined) =>
    ids(new Set(claims.flatMap((one) => of(one) ?? [])))
  return {
    services: byId((await tx.collection(services).find({ where: where(({ serviceId }) => serviceId) })).items),
    identities: byId((await tx.collection(identities).find({ where: where(({ identityId }) => identityId) })).items),
    apiSessions: byId((await tx.collection(apiSessions).find({ where: where((one) => one.apiSessionId) })).items),
    sessions: byId((await tx.collection(sessions).find({ where: where(({ sessionId }) => sessionId) })).items),
  }
}

/** The key of a claim: equal claims have the same key. */
function keyOf({ type, identityId, apiSessionId, sessionId, serviceId, routerId, mustPass }: ServiceClaim): string {
  return JSON.stringify([type, identityId, apiSessionId, sessionId, serviceId, routerId, mustPass])
}

/** A router dials or hosts for its own host, under the identity that has its id. */
export function isTunneler({ apiSessionId, identityId, routerId }: ServiceClaim): boolean {
  return apiSessionId === undefined && identityId === routerId
}

function hasServiceSession({ sessionId, apiSessionId, serviceId, type }: ServiceClaim, { sessions }: Named): boolean {
  if (sessionId === undefined) return true
  const session = sessions.get(sessionId)
  return session?.apiSessionId === apiSessionId && session?.serviceId === serviceId && session?.type === type
}

function byId<T extends { readonly id: string }>(records: readonly T[]): Found<T> {
  return new Map(records.map((record) => [record.id, record]))
}
