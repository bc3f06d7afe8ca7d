import type { EngineContext } from '../context/context.ts'
import type { HostExplanation, RouterState, WireFacts } from '../facts/access/explain/index.ts'
import type { AccessIndex } from '../facts/access/index/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import type { services } from '../facts/services/service.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

/** How many identities that host a service, and routers of a host, are named. */
const MOST_HOSTS = 5

/** The names of edge routers, and whether each is online, by their ids. */
export async function routerStates(
  context: EngineContext,
  tx: ReadTransaction,
  routerIds: readonly string[],
): Promise<ReadonlyMap<string, RouterState>> {
  const { items } = await tx.collection(edgeRouters).find({ where: ids(new Set(routerIds)) })
  const presence = await context.presence.at(tx)
  return new Map(items.map(({ id, name }) => [id, { id, name, isOnline: presence.connectionOf(id) !== undefined }]))
}

/** The hosts of a service that an explanation names, and how many identities may host it. */
export async function hostsOf(tx: ReadTransaction, index: AccessIndex, serviceId: string): Promise<HostExplanation> {
  const where = equals('serviceId', serviceId)
  const { items, totalCount } = await tx.collection(terminators).find({ where, limit: MOST_HOSTS })
  const hosts = await tx.collection(identities).find({ where: ids(new Set(items.map(({ hostId }) => hostId))) })
  return {
    terminatorCount: totalCount,
    hosts: hosts.items.map(({ id, name }) => ({ id, name })),
    mayBindCount: index.audienceOf(serviceId, 'Bind').size,
  }
}

/** Reads the facts that the data plane of this process knows; undefined while it is not open. */
export async function wireOf(
  context: EngineContext,
  tx: ReadTransaction,
  identityId: string,
  service: RecordOf<typeof services>,
  online: readonly string[],
): Promise<WireFacts | undefined> {
  const { view } = context.dataPlane
  if (view === undefined) return undefined
  const { obstacle, hostRouterIds } = await view.reach(tx, service, online)
  const failure = view.lastFailure(identityId, service.id)
  const named = hostRouterIds.slice(0, MOST_HOSTS)
  const routers = await routerStates(context, tx, failure?.routerId ? [...named, failure.routerId] : named)
  const failed = failure?.routerId ? routers.get(failure.routerId) : undefined
  return {
    obstacle,
    hostRouters: named.flatMap((id) => routers.get(id) ?? []),
    lastFailure: failure
      ? {
          at: failure.at,
          reason: failure.reason,
          cause: failure.cause,
          router: failed ? { id: failed.id, name: failed.name } : null,
        }
      : null,
  }
}
