import { notFound } from '../base/errors.ts'
import type { EngineContext } from '../context/context.ts'
import type { WireTexts } from '../context/wire-texts.ts'
import { indexedScope, type Scope } from '../entities/entity-reader.ts'
import { decideAccess } from '../facts/access/decision.rules.ts'
import type { AccessIndex, AccessType, OrderedIds } from '../facts/access/index/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import type { EntityRef } from '../kernel/declaration/fields.ts'
import { readId } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { RouterPresence } from '../ports/router-presence.ts'
import { entityRef } from '../records/render.ts'
import { factsFor, reachableServices } from './decision.ts'
import { edgeRoutersFor } from './service-sessions/session-members.ts'

/** The services that policies let identities reach, posture aside. */
export class Access {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Narrows a list to the ids, ascending and of one kind, that the access index answers. */
  related(answer: (index: AccessIndex) => OrderedIds): Scope {
    return indexedScope(this.#context.access, answer)
  }

  /** Narrows a list of services to the services that an identity may dial or bind. */
  servicesOf(identityId: string): Scope {
    readId(identityId, 'identityId')
    return this.related((index) => reachableServices(index, identityId))
  }

  /** Narrows a list of edge routers to the routers that an identity may use. */
  edgeRoutersOf(identityId: string): (tx: ReadTransaction) => Promise<ReturnType<typeof ids>> {
    readId(identityId, 'identityId')
    return async (tx) => ids((await this.#context.access.at(tx)).edgeRoutersOfIdentity(identityId))
  }

  /** Reports whether an identity may dial or bind a service. */
  reachableBy(identityId: string): (tx: ReadTransaction, service: { readonly id: string }) => Promise<boolean> {
    readId(identityId, 'identityId')
    return async (tx, { id: serviceId }) => {
      const [facts] = await factsFor(this.#context, tx, [{ identityId, serviceId }], { posture: 'aside' })
      return facts !== undefined && facts.grants.length > 0
    }
  }

  /** The edge routers that both an identity and a service may use, at most 25, online ones first. */
  async edgeRoutersBetween(identityId: string, serviceId: string) {
    readId(identityId, 'identityId')
    readId(serviceId, 'serviceId')
    return this.#context.storage.read((tx) => edgeRoutersFor(this.#context, tx, identityId, serviceId))
  }

  /**
   * Why an identity can or cannot use a service.
   *
   * @throws {ControllerError} NOT_FOUND when the identity or the service is unknown.
   */
  async advice(identityId: string, serviceId: string) {
    readId(identityId, 'identityId')
    readId(serviceId, 'serviceId')
    return policyAdvice(this.#context, identityId, serviceId)
  }
}

type EdgeRouter = RecordOf<typeof edgeRouters>
/** An edge router that both may use, as a reference. */
type CommonRouter = EntityRef & { readonly isOnline: boolean }

/**
 * Why an identity can or cannot use a service: the access that policies allow, and the edge routers that both may use.
 * Posture counts for nothing here. Error: `NOT_FOUND` for the identity or the service.
 */
function policyAdvice(context: EngineContext, identityId: string, serviceId: string) {
  const now = context.clock.now()
  return context.storage.read(async (tx) => {
    const identity = await tx.collection(identities).get(identityId)
    if (identity === undefined) throw notFound('identity', identityId)
    const service = await tx.collection(services).get(serviceId)
    if (service === undefined) throw notFound('service', serviceId)
    const presence = await context.presence.at(tx)
    const asked = { posture: 'aside', routers: true } as const
    const [facts] = await factsFor(context, tx, [{ identityId, serviceId }], asked)
    const may = (type: AccessType) => facts !== undefined && decideAccess(type, facts, now).policies.length > 0
    const { ofIdentity = 0, ofService = 0, common: routerIds = [] } = facts?.routers ?? {}
    const { items: common } = await tx.collection(edgeRouters).find({ where: ids(routerIds) })
    const advice = {
      identityId,
      identity: entityRef(identities, identity),
      serviceId,
      service: entityRef(services, service),
      isDialAllowed: may('Dial'),
      isBindAllowed: may('Bind'),
      identityRouterCount: ofIdentity,
      serviceRouterCount: ofService,
    }
    const commonRouters = common.map((router) => commonRouter(context.texts, presence, router))
    const isNull = commonRouters.length === 0 && context.settings.profile.showsEmptyAsDeployed
    return context.texts.composed(advice, isNull ? NO_ROUTERS : { commonRouters })
  })
}

// Types and documents describe the default answer; deployed controllers write null.
const NO_ROUTERS = { commonRouters: null } as unknown as { readonly commonRouters: CommonRouter[] }

function commonRouter(texts: WireTexts, presence: RouterPresence, router: EdgeRouter): CommonRouter {
  const isOnline = presence.connectionOf(router.id) !== undefined
  return texts.made(isOnline ? 'online' : 'offline', router, () =>
    texts.keep({ ...entityRef(edgeRouters, router), isOnline }),
  )
}
