import type { EngineContext } from '../../context/context.ts'
import type { Decision, DecisionReason } from '../../facts/access/decision.rules.ts'
import type { CircuitRequest, RefusalCode, RetryHint, TunnelCircuitRequest } from '../../facts/fabric/messages/index.ts'
import { judgesPosture } from '../../facts/routers/capabilities.rules.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { findOne } from '../../records/read-records.ts'
import { shutOutAmong } from '../../routers/router-admission.ts'
import { RouterRefusal } from '../channels/channel-admission.ts'
import type { ConnectedRouter } from '../channels/connected-routers.ts'
import { requireApiSession, requireSession, verifyPresented } from './presented-tokens.ts'
import { isTunneler, type ServiceClaim, type ServiceRights } from './service-rights.ts'

type Service = RecordOf<typeof services>

/** A claim that holds as of a snapshot. */
export interface GrantedClaim {
  readonly claim: ServiceClaim
  readonly right: Decision
}

/** The right to a circuit, as of a snapshot. */
export interface DialRight extends GrantedClaim {
  readonly service: Service
}

/** The sources that rights are judged by. */
interface Rights {
  readonly context: EngineContext
  readonly rights: ServiceRights
}

/** Judges a dial in a snapshot. Throws {@link RouterRefusal}. */
export type AskRight = (tx: ReadTransaction) => Promise<DialRight>

/**
 * Asks for the right of an SDK to a circuit from a router, by the tokens that it presented there. The signatures are verified
 * at once, everything else in the snapshot that the answer is asked with.
 */
export async function dialRight(
  { context, rights }: Rights,
  router: Pick<ConnectedRouter, 'id' | 'capabilities'>,
  { apiSessionToken, sessionToken, identityId, serviceId }: CircuitRequest,
): Promise<AskRight> {
  const presented = await verifyPresented(context, apiSessionToken, sessionToken)
  return async (tx) => {
    const apiSession = await requireApiSession(context, tx, presented)
    if (sessionToken === undefined && apiSession.identityId !== identityId) {
      throw new RouterRefusal('invalid-api-session', 'api session of another identity')
    }
    const session =
      sessionToken === undefined ? undefined : await requireSession(context, tx, apiSession, presented, 'Dial')
    const service = await tx.collection(services).get(session?.serviceId ?? serviceId)
    if (service === undefined) throw new RouterRefusal('invalid-service', 'invalid service')
    const claim = claimOf(router, apiSession, { type: 'Dial', serviceId: service.id, sessionId: session?.storedId })
    return { ...(await granted(rights, tx, claim)), service }
  }
}

/** Asks for the right of a router to a circuit for its own host. */
export function tunnelDialRight({ rights }: Rights, routerId: string, { serviceName }: TunnelCircuitRequest): AskRight {
  return async (tx) => {
    const service = await findOne(tx, services, 'name', serviceName)
    const claim = ownClaim('Dial', routerId, service?.id ?? '')
    const right = await granted(rights, tx, claim)
    if (service === undefined) throw refusalOf('service-unknown', claim)
    return { ...right, service }
  }
}

/**
 * Makes the claim of a party that presented an API session at a router. For a router that cannot judge posture the controller judges it.
 */
export function claimOf(
  { id: routerId, capabilities }: Pick<ConnectedRouter, 'id' | 'capabilities'>,
  apiSession: { readonly id: string; readonly identityId: string },
  wanted: Pick<ServiceClaim, 'type' | 'serviceId' | 'sessionId'>,
): ServiceClaim {
  const { id: apiSessionId, identityId } = apiSession
  return { ...wanted, routerId, identityId, apiSessionId, mustPass: !judgesPosture(capabilities) }
}

/** Makes the claim of a router for its own host. */
export function ownClaim(type: ServiceClaim['type'], routerId: string, serviceId: string): ServiceClaim {
  return {
    type,
    routerId,
    serviceId,
    identityId: routerId,
    apiSessionId: undefined,
    sessionId: undefined,
    mustPass: true,
  }
}

/**
 * Grants a claim. Throws {@link RouterRefusal} where the claim does not hold, or where the router may no longer carry traffic: another
 * process may have disabled it, and this process disconnects it a moment later.
 */
export async function granted(rights: ServiceRights, tx: ReadTransaction, claim: ServiceClaim): Promise<GrantedClaim> {
  if ((await shutOutAmong(tx, [claim.routerId])).length > 0) {
    const code: RefusalCode = isTunneler(claim) ? 'access-denied' : 'invalid-edge-router'
    throw new RouterRefusal(code, 'the router is deleted, disabled or not enrolled', { claim })
  }
  const right = (await rights.judge(tx, [claim])).get(claim)
  if (right?.verdict !== 'allowed') throw refusalOf(right?.reason, claim)
  return { claim, right }
}

/** Turns the reason of a decision into the refusal that a router gets. The client must not try again where no router can help. */
function refusalOf(reason: DecisionReason | undefined, claim: ServiceClaim): RouterRefusal {
  const isOwn = isTunneler(claim)
  const refused = (code: RefusalCode, message: string, hint?: RetryHint) =>
    new RouterRefusal(code, message, hint === undefined ? { claim } : { claim, hint })
  const who = isOwn ? 'router' : 'identity'
  const router: RefusalCode = isOwn ? 'access-denied' : 'invalid-edge-router'
  const noPolicy = `no policy lets the ${who} ${claim.type.toLowerCase()} the service`
  switch (reason) {
    case 'service-unknown':
      return refused('invalid-service', 'invalid service')
    case 'not-a-tunneler':
      return refused('tunneling-not-enabled', 'tunneling not enabled')
    case 'identity-unknown':
    case 'identity-disabled':
      return isOwn
        ? refused('access-denied', 'the identity of the router is disabled', 'not-retriable')
        : refused('invalid-api-session', 'invalid api session')
    case 'api-session-over':
      return refused('invalid-api-session', 'invalid api session')
    case 'factor-missing':
      return refused('invalid-api-session', 'the api session is not fully authenticated')
    case 'service-session-over':
      return refused('invalid-session', 'invalid session')
    case 'posture-failing': {
      const failing = 'no policy whose posture checks pass lets the identity in'
      return refused('invalid-service', isOwn ? noPolicy : failing)
    }
    case 'other-edge-router':
      return refused(router, 'invalid edge router for session')
    case 'no-edge-router-for-identity':
    case 'no-edge-router-for-service':
    case 'no-common-edge-router':
      return refused(router, `no edge router may be used by the ${who} for the service`, 'not-retriable')
    default:
      return refused('invalid-service', noPolicy)
  }
}
