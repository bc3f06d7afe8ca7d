import { ids } from '../domain/filter/index.ts'
import { nextDeadline, nextPolicyDeadline } from '../domain/posture/index.ts'
import type { ReadTransaction } from '../ports/storage.ts'
import { services } from '../resources/services.ts'
import type { Caller } from './call.ts'
import type { EngineContext } from './context.ts'
import { type Detail, renderDetails } from './details/render.ts'
import { serviceMembers } from './details/service-members.ts'
import { policyFacts, postureDataOf } from './posture-facts.ts'
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

/** Looks at the service list with the eyes of an API session: the list itself, rendered as the client API renders it. */
export async function viewServices(context: EngineContext, tx: ReadTransaction, caller: Caller): Promise<ServiceView> {
  const now = context.clock.now()
  const identityId = caller.identity.id
  const index = await context.access.at(tx)
  const { items } = await tx.collection(services).find({ where: ids(reachableServices(index, identityId)) })
  const details = await renderDetails(context, tx, { caller }, services, items, serviceMembers)
  const selecting = index.policiesSelecting('service-policies', 'identities', identityId)
  const policies = [...(await policyFacts(tx, index, selecting)).values()]
  const data = await postureDataOf(tx, identityId)
  const endOf = new Map(
    policies
      .flatMap(({ checks }) => checks)
      .map((check) => [check.id, nextDeadline(check, data, caller.apiSession.id, now)]),
  )
  const steady = details.map((detail) => ({ ...detail, postureQueries: withoutTicking(detail.postureQueries, endOf) }))
  return {
    digest: context.digest.sha256(JSON.stringify(steady)),
    revision: tx.revision,
    until: nextPolicyDeadline(policies, data, caller.apiSession.id, now),
  }
}

/** The queries with the instant at which a timeout ends in place of the seconds that remain until then. */
function withoutTicking(policyQueries: unknown, endOf: ReadonlyMap<string, number | undefined>): unknown {
  return listOf(policyQueries).map((policy) => ({
    ...policy,
    postureQueries: listOf(policy.postureQueries).map(({ timeoutAt: _, timeoutRemaining, ...query }) => {
      const isTicking = typeof timeoutRemaining === 'number' && timeoutRemaining > 0
      return { ...query, timeoutRemaining: isTicking ? endOf.get(String(query.id)) : timeoutRemaining }
    }),
  }))
}

function listOf(value: unknown): readonly Detail[] {
  return Array.isArray(value) ? value : []
}
