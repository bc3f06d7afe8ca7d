import { ids } from '../domain/filter/index.ts'
import {
  nextDeadline,
  nextPolicyDeadline,
  type PostureData,
  postureQuery,
  queryUpdatedAt,
} from '../domain/posture/index.ts'
import type { ReadTransaction } from '../ports/storage.ts'
import { services } from '../resources/services.ts'
import type { Caller } from './call.ts'
import { configMaps } from './config-map.ts'
import type { EngineContext } from './context.ts'
import { renderDetails } from './details/render.ts'
import { permissionsOf } from './details/service-members.ts'
import { type PolicyFacts, policyFacts, postureDataOf } from './posture-facts.ts'
import { reachableServices } from './service-access.ts'

/** What an API session sees in its whole service list, apart from what merely ticks. */
export interface ServiceView {
  /** Equal for equal views. */
  readonly digest: string
  /** The store's revision that was looked at. */
  readonly revision: number
  /** The next instant (epoch ms) at which the view changes by itself; `undefined` when it does not. */
  readonly until: number | undefined
}

/**
 * Looks at the service list with the eyes of an API session. What services share is looked at once: a policy's queries
 * stand in the list at every service that it grants, and a check at every policy that asks for it.
 */
export async function viewServices(context: EngineContext, tx: ReadTransaction, caller: Caller): Promise<ServiceView> {
  const now = context.clock.now()
  const { identity, apiSession } = caller
  const index = await context.access.at(tx)
  const { items } = await tx.collection(services).find({ where: ids(reachableServices(index, identity.id)) })
  const shown = await renderDetails(context, tx, { caller }, services, items)
  const configs = await configMaps(tx, items, identity.id, apiSession.configTypes)
  const granting = items.map(({ id }) => index.grantingPolicies(identity.id, id))
  const policies = [...(await policyFacts(tx, index, [...new Set(granting.flat())])).values()]
  const data = await postureDataOf(tx, identity.id)
  const steady = {
    services: shown.map((service, position) => ({
      ...service,
      config: configs[position],
      permissions: permissionsOf(index, identity.id, String(service.id)),
      policies: granting[position],
    })),
    policies: policies.map(({ id, type, checks }) => ({ id, type, checks: checks.map((check) => check.id) })),
    queries: steadyQueries(policies, data, apiSession.id, now),
  }
  return {
    digest: context.digest.sha256(JSON.stringify(steady)),
    revision: tx.revision,
    until: nextPolicyDeadline(policies, data, apiSession.id, now),
  }
}

/** The posture query of each check, with the instant at which a timeout ends in place of the seconds until then. */
function steadyQueries(policies: readonly PolicyFacts[], data: PostureData, apiSessionId: string, now: number) {
  const checks = new Map(policies.flatMap(({ checkRecords }) => checkRecords.map((known) => [known.check.id, known])))
  return [...checks.values()].map(({ check, record: { id, createdAt, tags, updatedAt } }) => {
    const { timeoutAt: _, timeoutRemaining, ...query } = postureQuery(check, data, apiSessionId, now)
    const end = timeoutRemaining > 0 ? nextDeadline(check, data, apiSessionId, now) : timeoutRemaining
    return { ...query, id, createdAt, tags, updatedAt: queryUpdatedAt(check, data, apiSessionId, updatedAt), end }
  })
}
