import type { PostureKnown } from '../../../../src/control-channel.ts'
import { EDGE_ERROR, type EdgeRefusal } from '../../../../src/data-plane.ts'
import {
  applyResponses,
  type EndpointFacts,
  emptyPostureData,
  evaluatePolicies,
  type PostureData,
  postureResponses,
  recordMfaPass,
} from '../../../../src/policy.ts'
import { bodyOf } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readReports } from '../../channel/posture-messages.ts'
import { ProtobufError } from '../../channel/protobuf/index.ts'
import type { ConnectedController } from '../state/controllers.ts'
import type { RouterModel } from '../state/router-model.ts'
import { claimsOf, verifiedClaims } from './edge-admission.ts'
import type { EdgeClient } from './endpoint.ts'
import { HandedOnReports, type Reporter } from './handed-on-reports.ts'

/** Bytes of a report that are read: a thousand processes fit. */
const MOST_REPORT_BYTES = 524_288

/** The parts of a router that posture is judged by. */
interface PostureParts {
  readonly model: Pick<RouterModel, 'grantsOf' | 'signingKey'>
  controller(): ConnectedController | undefined
  /** Epoch ms. */
  readonly now: () => number
}

type Judged = Pick<EdgeClient, 'session' | 'isBearer' | 'token'>
type Judges = Pick<ConnectedController, 'judgesPosture' | 'takesPosture' | 'isOfOldLine'>

/**
 * The posture of endpoints, which report it over their edge channels. Some controllers leave the posture of bearer sessions to routers: it
 * is judged by the policies of the data model at every dial and bind, and again whenever it or the model changes. Other controllers judge
 * it themselves: they get the reports, and send the known posture.
 */
export class EdgePosture {
  readonly #parts: PostureParts
  /** By API session, where routers judge. */
  readonly #known = new Map<string, PostureData>()
  readonly #handedOn: HandedOnReports
  #judges: Judges | undefined

  constructor(parts: PostureParts) {
    this.#parts = parts
    this.#handedOn = new HandedOnReports(() => parts.controller())
  }

  /** Whether endpoints must report here, by the controller that connected last. */
  get isAsked(): boolean {
    return this.#judges !== undefined && (!this.#judges.judgesPosture || this.#judges.takesPosture === true)
  }

  /** Whether endpoints may dial without a service session, by the same controller. */
  get takesSessionlessDials(): boolean {
    return this.#judges?.isOfOldLine !== true
  }

  /** Whether the controllers leave judging to this router. */
  get isJudge(): boolean {
    return this.#judges?.judgesPosture === false
  }

  /** A controller is connected; resolves when it has every report that no controller has taken yet. */
  async connected(judges: Judges): Promise<void> {
    this.#judges = judges
    await this.#handedOn.connected()
  }

  /** Takes a report of an endpoint; a malformed report changes nothing. Resolves when it is judged. */
  async take(reporter: Reporter, message: Frame): Promise<void> {
    const { session, isBearer } = reporter.client
    const bytes = bodyOf(message)
    if (!isBearer || !this.isAsked || bytes.length > MOST_REPORT_BYTES) return
    let reports: ReturnType<typeof readReports>
    try {
      reports = readReports(bytes)
    } catch (error) {
      if (error instanceof ProtobufError) return
      throw error
    }
    const now = this.#parts.now()
    const timed = reports.map(({ facts, at = now, totpToken }) => ({ facts, at: Math.min(at, now), totpToken }))
    // A controller that judges posture itself knows a second factor before its token exists.
    if (!this.isJudge) return this.#handedOn.report(reporter, timed)
    for (const { facts, at, totpToken } of timed) {
      if (totpToken === undefined) this.#report(session.id, facts, at)
      else this.#passed(session.id, await this.#confirmedAt(session, totpToken))
    }
  }

  /** Resolves when all reports of an endpoint are judged. */
  async settled({ session }: Judged): Promise<void> {
    await this.#handedOn.settled(session.id)
  }

  /** Whether an endpoint reports faster than it is judged. */
  isBehind(sessionId: string): boolean {
    return this.#handedOn.isBehind(sessionId)
  }

  /** The posture of an endpoint is known here from now on, even if the controller judges it. */
  async watch(reporter: Reporter): Promise<void> {
    if (!this.isJudge && !this.#handedOn.isWatched(reporter.client.session.id)) await this.#handedOn.refresh(reporter)
  }

  /** A controller sends the known posture of an endpoint. */
  known(message: PostureKnown): void {
    this.#handedOn.known(message)
  }

  /** An API session has no channel here any more. */
  forget(sessionId: string): void {
    this.#known.delete(sessionId)
    this.#handedOn.forget(sessionId)
  }

  /**
   * The reason for which a client may not use a service, before a controller is asked; undefined without an obstacle here. Without a
   * controller no dial can succeed anyway, and for stored sessions the controller judges the posture itself.
   */
  refusal(client: Judged, serviceId: string, type: 'Dial' | 'Bind'): EdgeRefusal | undefined {
    const controller = this.#parts.controller()
    if (controller === undefined || controller.judgesPosture) return undefined
    return this.standing(client, serviceId, type)
  }

  /**
   * The reason for which a client may not use a service, by the facts of this router, even if a controller decides; undefined if it may, or
   * if the facts are unknown.
   */
  standing(client: Judged, serviceId: string, type: 'Dial' | 'Bind'): EdgeRefusal | undefined {
    const { session, isBearer } = client
    if (!isBearer || serviceId === '') return undefined
    const grants = this.#parts.model.grantsOf(session.identityId, serviceId, type)
    if (grants.some(({ checks }) => checks.length === 0)) return undefined
    if (grants.length === 0) {
      return { text: 'no policy grants the service', code: EDGE_ERROR['access-denied'], hint: 'not-retriable' }
    }
    const data = this.dataOf(client)
    if (data === undefined) return undefined
    const decision = evaluatePolicies(grants, data, session.id, this.#parts.now())
    if (decision.granted) return undefined
    const failing = new Map(
      decision.failures.flatMap(({ checks }) =>
        checks.map(({ postureCheckId, postureCheckName }) => [postureCheckId, postureCheckName] as const),
      ),
    )
    const text = `posture checks fail: ${[...new Set(failing.values())].join(', ')}`
    return { text, code: EDGE_ERROR['posture-check-failed'], hint: 'default', failingChecks: [...failing.keys()] }
  }

  /**
   * The refusal of a controller that judges posture, with the checks that do not pass, if they are the reason. Undefined if all pass by
   * now: reports and requests of an endpoint may arrive by two sockets.
   */
  async explained(
    reporter: Reporter,
    { serviceId, type }: { readonly serviceId: string; readonly type: 'Dial' | 'Bind' },
    refusal: EdgeRefusal,
  ): Promise<EdgeRefusal | undefined> {
    const { client } = reporter
    if (this.isJudge || refusal.code !== EDGE_ERROR['invalid-service'] || !client.isBearer) return refusal
    await this.#handedOn.refresh(reporter)
    if (this.dataOf(client) === undefined) return refusal
    const found = this.standing(client, serviceId, type)
    return found === undefined || found.failingChecks !== undefined ? found : refusal
  }

  /** The posture of an endpoint; undefined where a controller knows it and was not asked. */
  dataOf({ session, token, isBearer }: Judged): PostureData | undefined {
    if (!this.isJudge) return this.#handedOn.dataOf(session.id)
    // A login with a second factor needs no further token for it.
    if (isBearer) this.#passed(session.id, loginFactorAt(token))
    return this.#known.get(session.id) ?? emptyPostureData()
  }

  #report(sessionId: string, facts: EndpointFacts, at: number): void {
    const known = this.#known.get(sessionId) ?? emptyPostureData()
    const isEvent = facts.isWoken === true || facts.isUnlocked === true
    // A second factor answers every earlier event, even if it is reported again.
    if (isEvent && at <= passedAt(known, sessionId)) return
    this.#known.set(sessionId, applyResponses(known, sessionId, postureResponses(facts), at))
  }

  #passed(sessionId: string, at: number | undefined): void {
    const known = this.#known.get(sessionId) ?? emptyPostureData()
    if (at === undefined || at <= passedAt(known, sessionId)) return
    this.#known.set(sessionId, recordMfaPass(known, sessionId, Math.min(at, this.#parts.now())))
  }

  /** When a controller confirmed the second factor of a session, epoch ms; undefined for a token of another session or an invalid token. */
  async #confirmedAt(session: EdgeClient['session'], token: string): Promise<number | undefined> {
    const claims = await verifiedClaims(this.#parts.model, token, this.#parts.now())
    if (typeof claims === 'string') return undefined
    const { z_t: type, z_asid: sessionId, iat } = claims
    return type === 't' && sessionId === session.id && typeof iat === 'number' ? iat * 1000 : undefined
  }
}

/** When a second factor was shown at the log-in of an access token, epoch ms. */
function loginFactorAt(token: string): number | undefined {
  const { amr, auth_time: at } = claimsOf(token)
  return Array.isArray(amr) && amr.includes('totp') && typeof at === 'number' ? at * 1000 : undefined
}

/** When a session showed its second factor last, epoch ms; 0 where it never did. */
function passedAt({ sessions }: PostureData, sessionId: string): number {
  return sessions.find(({ apiSessionId }) => apiSessionId === sessionId)?.mfa?.passedAt ?? 0
}
