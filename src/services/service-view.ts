import { factsFor, reachableServices } from '../access/decision.ts'
import type { CheckedGrant } from '../access/posture/posture-of.ts'
import { ALL_CONFIG_TYPES, type ConfigMap, configMaps } from '../configs/config-map.ts'
import type { Caller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { placeOf } from '../context/store-level.ts'
import {
  emptyPostureData,
  nextDeadline,
  nextPolicyDeadline,
  type PostureData,
  postureQuery,
  queryUpdatedAt,
} from '../facts/access/posture/rules/index.ts'
import { services } from '../facts/services/service.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { ids } from '../kernel/filter/index.ts'
import type { HistoryPoint, ReadTransaction } from '../ports/record-storage.ts'
import { ownDetail } from '../records/render.ts'

/** How many services are looked at without a pause. */
const CHUNK = 64

/** The services that an API session sees in its whole list, apart from fields that merely tick. */
export interface ServiceView {
  /** Equal for equal views. */
  readonly digest: string
  /** The place in the history of the store that was looked at. */
  readonly place: HistoryPoint
  /** The next instant (epoch ms) at which the view changes by itself; `undefined` when it does not. */
  readonly until: number | undefined
}

/**
 * Looks at the service list as an API session sees it. Facts that services share are looked at once: a policy's queries
 * stand in the list at every service that it grants, and a check at every policy that asks for it.
 */
export async function viewServices(context: EngineContext, tx: ReadTransaction, caller: Caller): Promise<ServiceView> {
  const now = context.clock.now()
  const { identity, apiSession } = caller
  const index = await context.access.at(tx)
  const turn = context.turns.begin()
  const { items } = await tx.collection(services).find({ where: ids(reachableServices(index, identity.id)) })
  await turn()
  // Clients name config types in each request for the list, so a change of any of their configs concerns them.
  const configs = await configMaps(tx, items, identity.id, [ALL_CONFIG_TYPES])
  await turn()
  const pairs = items.map(({ id: serviceId }) => ({ identityId: identity.id, serviceId, apiSessionId: apiSession.id }))
  const facts = await factsFor(context, tx, pairs)
  await turn()
  const granted = facts.map(({ grants }) => grants)
  const checked = [...new Set([...new Set(granted)].flat())]
  const data = facts[0]?.posture?.data ?? emptyPostureData()
  const hasChecks = index.hasAny('posture-checks')
  const steady = {
    services: await servicesDigest(context, items, configs),
    granted: positionsByText(granted, (grants) => shownOf(grants, hasChecks)),
    queries: steadyQueries(checked, data, apiSession.id, now),
  }
  return {
    digest: context.digest.sha256(JSON.stringify(steady)),
    place: placeOf(tx),
    until: nextPolicyDeadline(checked, data, apiSession.id, now),
  }
}

/** A digest of the members that the services show, and of their configs. */
async function servicesDigest(
  context: EngineContext,
  records: readonly RecordOf<typeof services>[],
  configs: readonly ConfigMap[],
): Promise<string> {
  const { digest, turns } = context
  const turn = turns.begin()
  let before = ''
  for (let from = 0; from < records.length; from += CHUNK) {
    const prints = records
      .slice(from, from + CHUNK)
      .map((record, at) => [
        fingerprint(context, ownDetail(context, services, record)),
        ...Object.entries(configs[from + at] ?? {}).map(([name, config]) => [name, fingerprint(context, config)]),
      ])
    before = digest.sha256(JSON.stringify([before, prints]))
    await turn()
  }
  return before
}

/** Groups services by the text of their grants: each text once, with the services (by position) that show it, as many show the same. */
function positionsByText(
  lists: readonly (readonly CheckedGrant[])[],
  textOf: (grants: readonly CheckedGrant[]) => string,
): readonly (readonly [string, readonly number[]])[] {
  const texts = new Map<readonly CheckedGrant[], string>()
  const positions = new Map<string, number[]>()
  for (const [position, list] of lists.entries()) {
    const text = texts.get(list) ?? textOf(list)
    texts.set(list, text)
    const known = positions.get(text)
    if (known === undefined) positions.set(text, [position])
    else known.push(position)
  }
  return [...positions]
}

/** Where posture checks exist, services show which policies ask for which of them; otherwise they show permissions alone. */
function shownOf(grants: readonly CheckedGrant[], hasChecks: boolean): string {
  const shown = ({ policyId, type, checks }: CheckedGrant) => ({ policyId, type, checks: checks.map(({ id }) => id) })
  return JSON.stringify(grants.map((grant) => (hasChecks ? shown(grant) : grant.type)))
}

/** The posture query of each check, with the instant at which a timeout ends in place of the seconds until then. */
function steadyQueries(grants: readonly CheckedGrant[], data: PostureData, apiSessionId: string, now: number) {
  const checks = new Map(grants.flatMap(({ checkRecords }) => checkRecords.map((known) => [known.check.id, known])))
  return [...checks.values()].map(({ check, record: { id, createdAt, tags, updatedAt } }) => {
    const { timeoutAt: _, timeoutRemaining, ...query } = postureQuery(check, data, apiSessionId, now)
    const end = timeoutRemaining > 0 ? nextDeadline(check, data, apiSessionId, now) : timeoutRemaining
    return { ...query, id, createdAt, tags, updatedAt: queryUpdatedAt(check, data, apiSessionId, updatedAt), end }
  })
}

/** Hexadecimal digits of a fingerprint: 128 bits. */
const LENGTH = 32

/**
 * Equal for objects with equal JSON text and, for all practical purposes, for no others. It is computed once for each
 * object, so the object must not change: a part of a stored record, or something that was made of one.
 */
function fingerprint({ digest, texts }: EngineContext, value: object): string {
  return texts.made('fingerprint', value, () => digest.sha256(JSON.stringify(value)).slice(0, LENGTH))
}
