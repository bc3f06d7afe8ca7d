import type { AccessIndex } from '../../domain/access-index/index.ts'
import { instant } from '../../domain/instant.ts'
import { type PostureData, postureQuery, queryUpdatedAt } from '../../domain/posture/index.ts'
import { postureChecks } from '../../resources/posture-checks.ts'
import type { services } from '../../resources/services.ts'
import { configMaps } from '../config-map.ts'
import { type PolicyFacts, policyFacts, postureDataOf } from '../posture-facts.ts'
import { linksOf } from './links.ts'
import type { DeriveMembers, Detail } from './render.ts'

const ACCESS_TYPES = ['Bind', 'Dial'] as const

/**
 * What the caller (or the identity in whose place it looks) may do with services, which posture queries stand before it,
 * and the configs that it asked for, now or when it authenticated (interface: Service).
 */
export const serviceMembers: DeriveMembers<typeof services> = async (context, tx, call, records) => {
  const { caller } = call
  if (caller === undefined) return records.map(() => ({ config: {}, permissions: ['Invalid'], postureQueries: [] }))
  const identityId = call.serviceView?.identityId ?? caller.identity.id
  const wanted = call.serviceView?.configTypes ?? caller.apiSession.configTypes
  const configs = await configMaps(tx, records, identityId, wanted)
  const index = await context.access.at(tx)
  const granting = index.grantingPoliciesOf(
    identityId,
    records.map(({ id }) => id),
  )
  const policies = await policyFacts(tx, index, [...new Set(granting.flat())])
  const data = await postureDataOf(tx, identityId)
  const now = context.clock.now()
  const queries = new Map(
    [...policies.values()].map((policy) => [policy.id, policyQueries(policy, data, caller.apiSession.id, now)]),
  )
  return records.map((_, position) => {
    const policyIds = granting[position] ?? []
    const permissions = permissionsBy(policyIds.flatMap((id) => policies.get(id) ?? []))
    const found = policyIds.flatMap((policyId) => queries.get(policyId) ?? [])
    const config = configs[position] ?? {}
    return { config, permissions, postureQueries: found.length > 0 ? found : permissions.map(noPostureQueries) }
  })
}

/** What an identity may do with a service, in the order of the wire; `Invalid` alone when nothing. */
export function permissionsOf(index: AccessIndex, identityId: string, serviceId: string): readonly string[] {
  return orInvalid(ACCESS_TYPES.filter((type) => index.allows(identityId, serviceId, type)))
}

/** The same by the service policies that grant the access. */
function permissionsBy(policies: readonly PolicyFacts[]): readonly string[] {
  return orInvalid(ACCESS_TYPES.filter((wanted) => policies.some(({ type }) => type === wanted)))
}

function orInvalid(allowed: readonly string[]): readonly string[] {
  return allowed.length > 0 ? allowed : ['Invalid']
}

function policyQueries(policy: PolicyFacts, data: PostureData, apiSessionId: string, now: number): Detail {
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
