import { notFound } from '../../domain/errors.ts'
import { ids } from '../../domain/filter/index.ts'
import type { RouterPresence } from '../../ports/router-presence.ts'
import type { EntityRef } from '../../resources/declaration/fields.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { services } from '../../resources/services/services.ts'
import type { EngineContext } from '../context/context.ts'
import { composed, keepText } from '../records/wire-form/json-text.ts'
import { entityRef } from '../records/wire-form/links.ts'

type EdgeRouter = RecordOf<typeof edgeRouters>
/** An edge router that both may use, as a reference. */
type CommonRouter = EntityRef & { readonly isOnline: boolean }

/**
 * Why an identity can or cannot use a service: what policies allow, and which edge routers both may use. Posture counts
 * for nothing here. Error: `NOT_FOUND` for the identity or the service.
 */
export function policyAdvice(context: EngineContext, identityId: string, serviceId: string) {
  return context.storage.read(async (tx) => {
    const identity = await tx.collection(identities).get(identityId)
    if (identity === undefined) throw notFound('identity', identityId)
    const service = await tx.collection(services).get(serviceId)
    if (service === undefined) throw notFound('service', serviceId)
    const presence = await context.presence.at(tx)
    const index = await context.access.at(tx)
    const types = index.accessTypes(identityId, serviceId)
    const routers = index.edgeRoutersBetween(identityId, serviceId)
    const { items: common } = await tx.collection(edgeRouters).find({ where: ids(routers.common) })
    const advice = {
      identityId,
      identity: entityRef(identities, identity),
      serviceId,
      service: entityRef(services, service),
      isDialAllowed: types.includes('Dial'),
      isBindAllowed: types.includes('Bind'),
      identityRouterCount: routers.ofIdentity,
      serviceRouterCount: routers.ofService,
    }
    const commonRouters = common.map((router) => commonRouter(presence, router))
    const isNull = commonRouters.length === 0 && context.settings.profile.showsEmptyAsDeployed
    return composed(advice, isNull ? NO_ROUTERS : { commonRouters })
  })
}

// Types and documents describe what is answered by default; deployed controllers write null.
const NO_ROUTERS = { commonRouters: null } as unknown as { readonly commonRouters: CommonRouter[] }

/** How edge routers are shown, online and offline. A change of a router makes a new record, so an entry never grows old. */
const SHOWN = { online: new WeakMap<EdgeRouter, CommonRouter>(), offline: new WeakMap<EdgeRouter, CommonRouter>() }

function commonRouter(presence: RouterPresence, router: EdgeRouter): CommonRouter {
  const isOnline = presence.connectionOf(router.id) !== undefined
  const forms = isOnline ? SHOWN.online : SHOWN.offline
  const known = forms.get(router)
  if (known !== undefined) return known
  const form = keepText({ ...entityRef(edgeRouters, router), isOnline })
  forms.set(router, form)
  return form
}
