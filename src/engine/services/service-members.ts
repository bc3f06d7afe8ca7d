import type { Grant } from '../../domain/access-index/index.ts'
import { type PostureData, postureQuery, queryUpdatedAt } from '../../domain/posture/index.ts'
import { instant } from '../../domain/time/instant.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import type { services } from '../../resources/services/services.ts'
import { configMaps } from '../configs/config-map.ts'
import { type Call, knownCaller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { type CheckedGrant, checkedGrants, grantsOf } from '../posture/posture-facts.ts'
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
  // Deployed controllers look for configs in the list of services alone.
  const noConfig = context.settings.profile.showsEmptyListsAsNull && call.serviceView === undefined ? null : {}
  if (caller === undefined) {
    return records.map(() => ({ config: noConfig, permissions: ['Invalid'], postureQueries: [] }))
  }
  const identityId = call.serviceView?.identityId ?? caller.identity.id
  const wanted = call.serviceView?.configTypes ?? caller.apiSession.configTypes
  const configs = await configMaps(tx, records, identityId, wanted)
  const index = await context.access.at(tx)
  const granted = grantsOf(
    context,
    index,
    identityId,
    records.map(({ id }) => id),
  )
  const distinct = new Set(granted)
  const checked = await checkedGrants(tx, new Set([...distinct].flat()))
  const data = await postureDataOf(tx, identityId, caller.apiSession.id)
  const now = context.clock.now()
  const hasChecks = index.hasAny('posture-checks')
  const members = new Map(
    [...distinct].map((grants) => {
      const permissions = permissionsOf(grants)
      const found = grants.flatMap((grant) => checked.get(grant) ?? [])
      const postureQueries = found.map((grant) => grantQueries(grant, data, caller.apiSession.id, now))
      const shown = hasChecks && found.length > 0 ? postureQueries : permissions.map(noPostureQueries)
      return [grants, { permissions, postureQueries: keepText(shown) }]
    }),
  )
  return records.map((_, position) => {
    const config = configs[position] ?? {}
    const shown = Object.keys(config).length > 0 ? config : noConfig
    return { config: shown, ...members.get(granted[position] ?? []) }
  })
}

function permissionsOf(grants: readonly Grant[]): readonly string[] {
  const allowed = ACCESS_TYPES.filter((wanted) => grants.some(({ type }) => type === wanted))
  return allowed.length > 0 ? allowed : ['Invalid']
}

/** What is asked of an identity's endpoint before it may use what is granted, and whether that is fulfilled. */
function grantQueries(grant: CheckedGrant, data: PostureData, apiSessionId: string, now: number): Detail {
  const queries = grant.checkRecords.map(({ check, record }) => {
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
  return { isPassing, policyId: grant.policyId, policyType: grant.type, postureQueries: queries }
}

/** Old SDKs take "no entry" for failing: where no posture check exists, each permission has one passing entry. */
function noPostureQueries(permission: string): Detail {
  const policyId = `dummy ${permission.toLowerCase()} policy: no posture checks defined`
  return { isPassing: true, policyId, policyType: permission, postureQueries: [] }
}
