import { EDGE_ERROR, type EdgeRefusal } from '../../../../src/facts/data-plane/edge/edge-refusal.ts'
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
import type { ConnectedController } from '../state/controllers.ts'
import type { RouterModel } from '../state/router-model.ts'
import { claimsOf, verifiedClaims } from './edge-admission.ts'
import type { EdgeClient } from './endpoint.ts'

/** Bytes of a report that are read: a thousand processes fit. */
const MOST_REPORT_BYTES = 524_288

/** The parts of a router that posture is judged by. */
interface PostureParts {
  readonly model: Pick<RouterModel, 'grantsOf' | 'signingKey'>
  controller(): Pick<ConnectedController, 'judgesPosture'> | undefined
  /** Epoch ms. */
  readonly now: () => number
}

type Judged = Pick<EdgeClient, 'session' | 'isBearer' | 'token'>

/**
 * The posture of bearer sessions, which some controllers leave to routers: endpoints report it over their edge channels, and it is
 * judged by the policies of the data model at every dial and bind, and again whenever it, or the model, changes.
 */
export class EdgePosture {
  readonly #parts: PostureParts
  /** By API session. */
  readonly #known = new Map<string, PostureData>()
  #isAsked = false

  constructor(parts: PostureParts) {
    this.#parts = parts
  }

  /** Whether endpoints are to report here, by the controller that connected last. */
  get isAsked(): boolean {
    return this.#isAsked
  }

  connected({ judgesPosture }: Pick<ConnectedController, 'judgesPosture'>): void {
    this.#isAsked = !judgesPosture
  }

  /** Takes what an endpoint reports; what cannot be read changes nothing. */
  async take({ session, isBearer }: Judged, message: Frame): Promise<void> {
    const bytes = bodyOf(message)
    if (!isBearer || !this.isAsked || bytes.length > MOST_REPORT_BYTES) return
    let reports: ReturnType<typeof readReports>
    try {
      reports = readReports(bytes)
    } catch {
      return
    }
    for (const { facts, at, totpToken } of reports) {
      const { now } = this.#parts
      if (totpToken === undefined) this.#report(session.id, facts, Math.min(at ?? now(), now()))
      else this.#passed(session.id, await this.#confirmedAt(session, totpToken))
    }
  }

  /** An API session has no channel here any more. */
  forget(sessionId: string): void {
    this.#known.delete(sessionId)
  }

  /**
   * Why a client may not use a service; undefined where nothing stands in its way here. Without a controller there is nobody to let it
   * in either, and of stored sessions the controller judges the posture itself.
   */
  refusal(client: Judged, serviceId: string, type: 'Dial' | 'Bind'): EdgeRefusal | undefined {
    const { session, isBearer, token } = client
    const controller = this.#parts.controller()
    if (!isBearer || controller === undefined || controller.judgesPosture || serviceId === '') return undefined
    const grants = this.#parts.model.grantsOf(session.identityId, serviceId, type)
    if (grants.some(({ checks }) => checks.length === 0)) return undefined
    if (grants.length === 0) {
      return { text: 'no policy grants the service', code: EDGE_ERROR['access-denied'], hint: 'not-retriable' }
    }
    // Who logged in with a second factor needs no further token for it.
    this.#passed(session.id, loginFactorAt(token))
    const data = this.#known.get(session.id) ?? emptyPostureData()
    const decision = evaluatePolicies(grants, data, session.id, this.#parts.now())
    if (decision.granted) return undefined
    const failing = new Set(decision.failures.flatMap(({ checks }) => checks.map((check) => check.postureCheckName)))
    const text = `posture checks fail: ${[...failing].join(', ')}`
    return { text, code: EDGE_ERROR['posture-check-failed'], hint: 'default' }
  }

  #report(sessionId: string, facts: EndpointFacts, at: number): void {
    const known = this.#known.get(sessionId) ?? emptyPostureData()
    const isEvent = facts.isWoken === true || facts.isUnlocked === true
    // A second factor answers everything before it, also what is reported once more.
    if (isEvent && at <= passedAt(known, sessionId)) return
    this.#known.set(sessionId, applyResponses(known, sessionId, postureResponses(facts), at))
  }

  #passed(sessionId: string, at: number | undefined): void {
    const known = this.#known.get(sessionId) ?? emptyPostureData()
    if (at === undefined || at <= passedAt(known, sessionId)) return
    this.#known.set(sessionId, recordMfaPass(known, sessionId, Math.min(at, this.#parts.now())))
  }

  /** When a controller confirmed the second factor of a session, epoch ms; undefined for a token of another one, or of nobody. */
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
