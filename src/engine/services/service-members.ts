import { type PostureData, postureQuery, queryUpdatedAt } from '../../domain/posture/index.ts'
import { instant } from '../../domain/time/instant.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import type { services } from '../../resources/services/services.ts'
import { configMaps } from '../configs/config-map.ts'
import { type Call, knownCaller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { type PolicyFacts, policyFacts } from '../posture/posture-facts.ts'
import { postureDataOf } from '../posture/posture-of.ts'
import { keepText } from '../records/wire-form/json-text.ts'
import { linksOf } from '../records/wire-form/links.ts'
import type { Detail } from '../records/wire-form/render.ts'

const ACCESS_TYPES = ['Bind', 'Dial'] as const

/**
 * What the caller (or the identity in whose place it looks) may do with services, which posture queries stand before it,
 * and the configs that it asked for, now or when it authenticated.
 */
export async function serviceMembers(
  context: EngineContext,
  tx: ReadTransaction,
  call: Call,
  records: readonly RecordOf<typeof services>[],
): Promise<readonly Detail[]> {
  const caller = knownCaller(call)
  if (caller === undefined) return records.map(() => ({ config: {}, permissions: ['Invalid'], postureQueries: [] }))
  const identityId = call.serviceView?.identityId ?? caller.identity.id
  const wanted = call.serviceView?.configTypes ?? caller.apiSession.configTypes
  const configs = await configMaps(tx, records, identityId, wanted)
  const index = await context.access.at(tx)
  const granting = index.grantingPoliciesOf(
    identityId,
    records.map(({ id }) => id),
  )
  const distinct = new Set(granting)
  const policies = await policyFacts(tx, index, [...new Set([...distinct].flat())])
  const data = await postureDataOf(tx, identityId, caller.apiSession.id)
  const now = context.clock.now()
  const queries = new Map(
    [...policies.values()].map((policy) => [policy.id, policyQueries(policy, data, caller.apiSession.id, now)]),
  )
  const members = new Map([...distinct].map((policyIds) => [policyIds, accessMembers(policyIds, queries)]))
  return records.map((_, position) => {
    return { config: configs[position] ?? {}, ...members.get(granting[position] ?? []) }
  })
}

/** What the service policies that grant the access make of it. */
function accessMembers(policyIds: readonly string[], queries: ReadonlyMap<string, PolicyQueries>): Detail {
  const found = policyIds.flatMap((id) => queries.get(id) ?? [])
  const permissions = orInvalid(ACCESS_TYPES.filter((wanted) => found.some(({ policyType }) => policyType === wanted)))
  const postureQueries = found.length > 0 ? found : permissions.map(noPostureQueries)
  return { permissions, postureQueries: keepText(postureQueries) }
}

function orInvalid(allowed: readonly string[]): readonly string[] {
  return allowed.length > 0 ? allowed : ['Invalid']
}

/** What a service policy asks of an identity's endpoint, and whether it is content. */
interface PolicyQueries extends Detail {
  readonly policyType: PolicyFacts['type']
}

function policyQueries(policy: PolicyFacts, data: PostureData, apiSessionId: string, now: number): PolicyQueries {
  const queries = policy.checkRecords.map(({ check, record }) => {
    const { timeoutAt, ...query } = postureQuery(check, data, apiSessionId, now)
    return {
      _links: linksOf(postureChecks, record),
      createdAt: instant(record.createdAt),
      id: record.id,
      tags: record.tags,
      updatedAt: instant(queryUpdatedAt(check, data, apiSessionId, record.updatedAt)),
      ...query,
      ...(timeoutAt === undefined ? {} : { timeoutAt: instant(timeoutAt) }),
    }
  })
  const isPassing = queries.every((query) => query.isPassing)
  return { isPassing, policyId: policy.id, policyType: policy.type, postureQueries: queries }
}

/** Old SDKs take "no entry" for failing, so a service without posture checks shows one passing entry per permission. */
function noPostureQueries(permission: string): Detail {
  const policyId = `dummy ${permission.toLowerCase()} policy: no posture checks defined`
  return { isPassing: true, policyId, policyType: permission, postureQueries: [] }
}
