import type { EngineContext } from '../../context/context.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { type Sessions, sessions } from '../../facts/access/session.resource.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import type { RouterPresence } from '../../ports/router-presence.ts'
import type { Behaviour } from '../../records/behaviour.ts'
import { type Detail, entityRef } from '../../records/render.ts'
import { presenceMembers } from '../../routers/connections.ts'

/** How many edge routers are offered for one session, connected ones first. */
const MAX_EDGE_ROUTERS = 25

/** Sessions show their edge routers and the policies that grant them. The stored token of a session is its id. */
export const sessionBehaviour: Behaviour<Sessions> = {
  resource: sessions,

  async members(context, tx, _call, records) {
    const policyIds = [...new Set(records.flatMap((session) => session.servicePolicies))]
    const { items } = await tx.collection(servicePolicies).find({ where: ids(policyIds) })
    const policies = new Map(items.map((policy) => [policy.id, policy]))
    const members: Detail[] = []
    for (const session of records) {
      members.push({
        edgeRouters: await edgeRoutersFor(context, tx, session.identityId, session.serviceId),
        servicePolicies: session.servicePolicies.flatMap((id) => {
          const policy = policies.get(id)
          return policy === undefined ? [] : [entityRef(servicePolicies, policy)]
        }),
        token: session.id,
      })
    }
    return members
  },
}

/** The edge routers that both the identity and the service may use by policy: online ones first, at most 25. */
export async function edgeRoutersFor(
  context: EngineContext,
  tx: ReadTransaction,
  identityId: string,
  serviceId: string,
) {
  const index = await context.access.at(tx)
  const common = index.commonEdgeRouters(identityId, serviceId)
  const { items } = await tx.collection(edgeRouters).find({ where: ids(common) })
  const presence = await context.presence.at(tx)
  const details = items.map((router) => sessionEdgeRouter(presence, router))
  return [...details.filter(({ isOnline }) => isOnline), ...details.filter(({ isOnline }) => !isOnline)].slice(
    0,
    MAX_EDGE_ROUTERS,
  )
}

function sessionEdgeRouter(presence: RouterPresence, router: RecordOf<typeof edgeRouters>) {
  const { id, name, cost, noTraversal, disabled, appData } = router
  const connection = presenceMembers(presence, id)
  return { appData, cost, disabled, name, noTraversal, ...connection, urls: connection.supportedProtocols }
}
