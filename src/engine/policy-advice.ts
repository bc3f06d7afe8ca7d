import { notFound } from '../domain/errors.ts'
import { ids } from '../domain/filter/index.ts'
import { edgeRouters } from '../resources/edge-routers.ts'
import { identities } from '../resources/identities.ts'
import { services } from '../resources/services.ts'
import type { EngineContext } from './context.ts'
import { entityRef } from './details/links.ts'

/**
 * Why an identity can or cannot use a service: what policies allow, and which edge routers both may use. Posture counts
 * for nothing here. Error: `NOT_FOUND` for the identity or the service (interface: Policy advice).
 */
export function policyAdvice(context: EngineContext, identityId: string, serviceId: string) {
  return context.storage.read(async (tx) => {
    const identity = await tx.collection(identities).get(identityId)
    if (identity === undefined) throw notFound('identity', identityId)
    const service = await tx.collection(services).get(serviceId)
    if (service === undefined) throw notFound('service', serviceId)
    const index = await context.access.at(tx)
    const common = await tx.collection(edgeRouters).find({ where: ids(index.commonEdgeRouters(identityId, serviceId)) })
    return {
      identityId,
      identity: entityRef(identities, identity),
      serviceId,
      service: entityRef(services, service),
      isDialAllowed: index.allows(identityId, serviceId, 'Dial'),
      isBindAllowed: index.allows(identityId, serviceId, 'Bind'),
      identityRouterCount: index.edgeRoutersOfIdentity(identityId).length,
      serviceRouterCount: index.edgeRoutersOfService(serviceId).length,
      commonRouters: common.items.map((router) => ({
        ...entityRef(edgeRouters, router),
        isOnline: context.presence.connectionOf(router.id) !== undefined,
      })),
    }
  })
}
