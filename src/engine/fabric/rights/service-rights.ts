import type { AccessIndex, AccessType } from '../../../domain/access-index/index.ts'
import { ids } from '../../../domain/filter/index.ts'
import { isDisabled } from '../../../domain/identity.ts'
import { emptyPostureData, type PostureData } from '../../../domain/posture/index.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import { services } from '../../../resources/services/services.ts'
import { decideByPosture } from '../../access/service-access.ts'
import type { EngineContext } from '../../context/context.ts'
import { isMissingBetweenRequests } from '../../credentials/api-session-standing.ts'
import type { ApiSessions } from '../../login/api-sessions.ts'
import { postureDataOf } from '../../posture/posture-of.ts'

/** On whose behalf traffic enters or leaves the network. */
export interface Party {
  readonly identityId: string
  /** The API session behind it; undefined for a router for its own host, and where it was not kept. */
  readonly apiSessionId: string | undefined
  /** The stored service session; undefined where the API session itself, or the router, says who asks. */
  readonly sessionId: string | undefined
}

/** What a party wants to do, where. */
export interface ServiceClaim extends Party {
  readonly type: AccessType
  readonly serviceId: string
  readonly routerId: string
  /**
   * Its posture, as clients report it to this controller, must pass. Of a session that is made of tokens the router judges
   * what clients report there, where it can, until something passed here.
   */
  readonly mustPass: boolean
}

/** What somebody lacks who may not. `router` is one that is not to be used, `any-router` that there is none to be used. */
export type Lack =
  | 'service'
  | 'identity'
  | 'tunneler'
  | 'api-session'
  | 'factor'
  | 'session'
  | 'policy'
  | 'posture'
  | 'router'
  | 'any-router'

/** Whether a claim is right now, and until when (epoch ms) unless something changes; `byReports` where posture carries it. */
export type ServiceRight =
  | { readonly lack: undefined; readonly until: number | undefined; readonly byReports: boolean }
  | { readonly lack: Lack }

type Found<T> = ReadonlyMap<string, T>

interface Facts {
  readonly index: AccessIndex
  readonly services: Found<object>
  readonly identities: Found<RecordOf<typeof identities>>
  readonly apiSessions: Found<RecordOf<typeof apiSessions>>
  readonly sessions: Found<RecordOf<typeof sessions>>
}

/** Answers claims by the facts of one snapshot; those that were named when it was made. */
export type ClaimJudge = (claim: ServiceClaim) => Promise<ServiceRight>

/** The API session of a party, or what is wrong with it. */
type SessionStanding = { readonly lack: Lack | undefined; readonly endsAt: number | undefined }

/**
 * Decides who may dial or bind a service now: the identity is there and not disabled, its API session is underway and fully
 * authenticated, its service session is there, a policy whose posture checks pass grants it, and both may use the router.
 * New circuits, running ones and terminators are judged here, and by what the APIs ask of a caller.
 */
export class ServiceRights {
  readonly #context: EngineContext
  readonly #apiSessions: ApiSessions

  constructor(context: EngineContext, apiSessions: ApiSessions) {
    this.#context = context
    this.#apiSessions = apiSessions
  }

  /** Judges one claim. */
  async judge(tx: ReadTransaction, claim: ServiceClaim): Promise<ServiceRight> {
    return (await this.judgeOf(tx, [claim]))(claim)
  }

  /** Reads what claims are judged by, in a few questions however many they are. Many that ask the same share the answer. */
  async judgeOf(tx: ReadTransaction, claims: readonly ServiceClaim[]): Promise<ClaimJudge> {
    const facts = await this.#factsFor(tx, claims)
    const standings = new Map<string, Promise<SessionStanding>>()
    const answers = new Map<string, Promise<ServiceRight>>()
    return (claim) => {
      const { type, identityId, apiSessionId, sessionId, serviceId, routerId, mustPass } = claim
      const key = JSON.stringify([type, identityId, apiSessionId, sessionId, serviceId, routerId, mustPass])
      const known = answers.get(key) ?? this.#decide(tx, claim, facts, standings)
      answers.set(key, known)
      return known
    }
  }

  async #factsFor(tx: ReadTransaction, claims: readonly ServiceClaim[]): Promise<Facts> {
    const named = (of: (claim: ServiceClaim) => string | undefined) =>
      ids(new Set(claims.flatMap((one) => of(one) ?? [])))
    const people = await tx.collection(identities).find({ where: named(({ identityId }) => identityId) })
    const where = {
      apiSession: named(({ apiSessionId }) => apiSessionId),
      session: named(({ sessionId }) => sessionId),
    }
    return {
      index: await this.#context.access.at(tx),
      services: byId((await tx.collection(services).find({ where: named(({ serviceId }) => serviceId) })).items),
      identities: byId(people.items),
      apiSessions: byId((await tx.collection(apiSessions).find({ where: where.apiSession })).items),
      sessions: byId((await tx.collection(sessions).find({ where: where.session })).items),
    }
  }

  async #decide(
    tx: ReadTransaction,
    claim: ServiceClaim,
    facts: Facts,
    standings: Map<string, Promise<SessionStanding>>,
  ): Promise<ServiceRight> {
    const { identityId, apiSessionId, serviceId, routerId, type } = claim
    const { index } = facts
    const identity = facts.identities.get(identityId)
    if (isTunneler(claim) && identity?.typeId !== 'Router') return { lack: 'tunneler' }
    if (!facts.services.has(serviceId)) return { lack: 'service' }
    if (identity === undefined || isDisabled(identity, this.#context.clock.now())) return { lack: 'identity' }
    const standing = standings.get(apiSessionId ?? '') ?? this.#standingOf(tx, claim, facts)
    standings.set(apiSessionId ?? '', standing)
    const { lack, endsAt } = await standing
    if (lack !== undefined) return { lack }
    if (!hasServiceSession(claim, facts)) return { lack: 'session' }
    if (!index.allows(identityId, serviceId, type)) return { lack: 'policy' }
    const meetings = index.commonEdgeRouters(identityId, serviceId)
    if (!meetings.includes(routerId)) return { lack: meetings.length === 0 ? 'any-router' : 'router' }
    const right = await this.#byPosture(tx, claim, index)
    return right.lack === undefined ? { ...right, until: earlier(right.until, endsAt) } : right
  }

  /** Whether the API session of a claim is underway, of the identity, and fully authenticated. */
  async #standingOf(tx: ReadTransaction, claim: ServiceClaim, facts: Facts): Promise<SessionStanding> {
    const { apiSessionId, identityId } = claim
    if (apiSessionId === undefined) return { lack: undefined, endsAt: undefined }
    const session = facts.apiSessions.get(apiSessionId)
    if (session?.identityId !== identityId) return { lack: 'api-session', endsAt: undefined }
    const { standing, dueAt } = await this.#apiSessions.standing(tx, session)
    if (standing.is !== 'underway') return { lack: 'api-session', endsAt: dueAt }
    return {
      lack: (await isMissingBetweenRequests(this.#context, tx, session, standing)) ? 'factor' : undefined,
      endsAt: dueAt,
    }
  }

  /** Decides among the policies that grant the claim by their posture checks; a router for its own host has no posture. */
  async #byPosture(tx: ReadTransaction, claim: ServiceClaim, index: AccessIndex): Promise<ServiceRight> {
    const { identityId, apiSessionId, sessionId, mustPass } = claim
    const decide = (data: PostureData) => {
      const question = { ...claim, apiSessionId: apiSessionId ?? '' }
      return decideByPosture(this.#context, tx, index, question, data, this.#context.clock.now())
    }
    const asked = await decide(emptyPostureData())
    if ('policyIds' in asked) return { lack: undefined, until: undefined, byReports: false }
    if (isTunneler(claim)) return { lack: 'policy' }
    // Who hosted before it was kept by which session is judged by its router.
    if (apiSessionId === undefined) return { lack: undefined, until: undefined, byReports: false }
    const passed = await decide(await postureDataOf(tx, identityId, apiSessionId))
    if ('policyIds' in passed) return { lack: undefined, until: passed.until, byReports: true }
    const isUpToRouter = sessionId === undefined && !mustPass
    return isUpToRouter ? { lack: undefined, until: undefined, byReports: false } : { lack: 'posture' }
  }
}

/** A router dials or hosts for its own host, under the identity that has its id. */
export function isTunneler({ apiSessionId, identityId, routerId }: ServiceClaim): boolean {
  return apiSessionId === undefined && identityId === routerId
}

/** The earlier of two instants, of which either may be none. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function hasServiceSession({ sessionId, apiSessionId, serviceId, type }: ServiceClaim, facts: Facts): boolean {
  if (sessionId === undefined) return true
  const session = facts.sessions.get(sessionId)
  return session?.apiSessionId === apiSessionId && session?.serviceId === serviceId && session?.type === type
}

function byId<T extends { readonly id: string }>(records: readonly T[]): Found<T> {
  return new Map(records.map((record) => [record.id, record]))
}
