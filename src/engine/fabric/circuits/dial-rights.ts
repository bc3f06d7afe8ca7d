import { judgesPosture } from '../../../domain/fabric/index.ts'
import { emptyPostureData } from '../../../domain/posture/index.ts'
import type { CircuitRequest, TunnelCircuitRequest } from '../../../ports/fabric/index.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { services } from '../../../resources/services/services.ts'
import { decideByPosture } from '../../access/service-access.ts'
import type { EngineContext } from '../../context/context.ts'
import { postureDataOf } from '../../posture/posture-of.ts'
import { findOne } from '../../records/find-one.ts'
import type { ConnectedRouter } from '../routers/connected-routers.ts'
import { RouterRefusal } from '../routers/refusal.ts'
import { type PresentedApiSession, requireApiSession, requireSession } from '../sessions/presented-tokens.ts'
import type { CircuitClient } from './circuit.ts'

type Service = RecordOf<typeof services>

/** Who may have which circuit, as of a revision of the store. */
export interface DialRight {
  readonly client: CircuitClient
  readonly service: Service
  readonly revision: number
}

/**
 * The right of an SDK to a circuit from a router, by the tokens that it presented there. Throws {@link RouterRefusal}: the
 * tokens are no good, the session is not for dialing, or the identity and the service may not meet at the router.
 */
export async function dialRight(
  context: EngineContext,
  { id: routerId, capabilities }: Pick<ConnectedRouter, 'id' | 'capabilities'>,
  { apiSessionToken, sessionToken, identityId, serviceId }: CircuitRequest,
): Promise<DialRight> {
  const apiSession = await requireApiSession(context, apiSessionToken)
  if (sessionToken === undefined && apiSession.identityId !== identityId) {
    throw new RouterRefusal('invalid-api-session', 'api session of another identity')
  }
  const session =
    sessionToken === undefined ? undefined : await requireSession(context, apiSession, sessionToken, 'Dial')
  return context.storage.read(async (tx) => {
    const service = await tx.collection(services).get(session?.serviceId ?? serviceId)
    if (service === undefined) throw new RouterRefusal('invalid-service', 'invalid service')
    const index = await context.access.at(tx)
    if (!index.allows(apiSession.identityId, service.id, 'Dial')) {
      throw new RouterRefusal('invalid-service', 'no policy lets the identity dial the service')
    }
    await requireRouter(context, tx, routerId, apiSession.identityId, service.id, 'invalid-edge-router')
    const mustPass = session?.storedId === undefined && !judgesPosture(capabilities)
    if (mustPass) await requirePosture(context, tx, apiSession, service.id, 'Dial')
    const client = {
      identityId: apiSession.identityId,
      apiSessionId: apiSession.id,
      sessionId: session?.storedId,
      mustPass,
    }
    return { client, service, revision: tx.revision }
  })
}

/**
 * The right of a router to a circuit for its own host. Its identity has no posture, so that a policy with posture checks
 * grants it nothing. Throws {@link RouterRefusal}.
 */
export async function tunnelDialRight(
  context: EngineContext,
  routerId: string,
  { serviceName }: TunnelCircuitRequest,
): Promise<DialRight> {
  return context.storage.read(async (tx) => {
    await requireTunneler(tx, routerId)
    const service = await findOne(tx, services, 'name', serviceName)
    if (service === undefined) throw new RouterRefusal('invalid-service', 'invalid service')
    await requireRouterRight(context, tx, routerId, service.id, 'Dial')
    const client = { identityId: routerId, apiSessionId: undefined, sessionId: undefined }
    return { client, service, revision: tx.revision }
  })
}

/** The identity of a router may dial or bind a service. Throws {@link RouterRefusal}. */
export async function requireRouterRight(
  context: EngineContext,
  tx: ReadTransaction,
  routerId: string,
  serviceId: string,
  type: 'Dial' | 'Bind',
): Promise<void> {
  const index = await context.access.at(tx)
  const question = { identityId: routerId, apiSessionId: '', serviceId, type }
  const decision = await decideByPosture(context, tx, index, question, emptyPostureData(), context.clock.now())
  if ('refusedBy' in decision)
    throw new RouterRefusal('invalid-service', `no policy lets the router ${type.toLowerCase()} the service`)
  await requireRouter(context, tx, routerId, routerId, serviceId, 'access-denied')
}

/**
 * The posture of a bearer session passes, by what this controller knows of it: older routers take such sessions and judge
 * nothing. Throws {@link RouterRefusal}.
 */
export async function requirePosture(
  context: EngineContext,
  tx: ReadTransaction,
  { id: apiSessionId, identityId }: Pick<PresentedApiSession, 'id' | 'identityId'>,
  serviceId: string,
  type: 'Dial' | 'Bind',
): Promise<void> {
  const index = await context.access.at(tx)
  const data = await postureDataOf(tx, identityId, apiSessionId)
  const question = { identityId, apiSessionId, serviceId, type }
  const decision = await decideByPosture(context, tx, index, question, data, context.clock.now())
  if ('policyIds' in decision) return
  throw new RouterRefusal('invalid-service', 'no policy whose posture checks pass lets the identity in')
}

/** The router hosts and dials for itself. */
export async function requireTunneler(tx: ReadTransaction, routerId: string): Promise<RecordOf<typeof identities>> {
  const identity = await tx.collection(identities).get(routerId)
  if (identity?.typeId !== 'Router') throw new RouterRefusal('tunneling-not-enabled', 'tunneling not enabled')
  return identity
}

/** The identity and the service may both use the router. */
export async function requireRouter(
  context: EngineContext,
  tx: ReadTransaction,
  routerId: string,
  identityId: string,
  serviceId: string,
  code: 'invalid-edge-router' | 'access-denied',
): Promise<void> {
  const index = await context.access.at(tx)
  if (index.commonEdgeRouters(identityId, serviceId).includes(routerId)) return
  throw new RouterRefusal(code, 'invalid edge router for session')
}
