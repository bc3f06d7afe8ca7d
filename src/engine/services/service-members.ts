import type { Grant } from '../../domain/access-index/index.ts'
import { type PostureData, postureQuery, queryUpdatedAt } from '../../domain/posture/index.ts'
import { instant } from '../../domain/time/instant.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import type { services } from '../../resources/services/services.ts'
import { type ConfigMap, configMaps, NO_CONFIGS } from '../configs/config-map.ts'
import { type Call, knownCaller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { type CheckedGrant, checkedGrants, grantsOf } from '../posture/posture-facts.ts'
import { postureFor } from '../posture/posture-of.ts'
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
  const noConfig = context.settings.profile.showsEmptyAsDeployed && call.serviceView === undefined ? null : NO_CONFIGS
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
  const data = await postureFor([...checked.values()], tx, identityId, caller.apiSession.id)
  const now = context.clock.now()
  const hasChecks = index.hasAny('posture-checks')
  const members = new Map(
    [...distinct].map((grants) => {
      const found = grants.flatMap((grant) => checked.get(grant) ?? [])
      if (!hasChecks || found.length === 0) return [grants, unguarded(permissionsOf(grants))]
      return [grants, accessMembers(found, (grant) => grantQueries(grant, data, caller.apiSession.id, now))]
    }),
  )
  return records.map((_, position) => {
    const access = members.get(granted[position] ?? NOTHING_GRANTED) ?? unguarded(permissionsOf(NOTHING_GRANTED))
    const config = configs[position] ?? NO_CONFIGS
    return withConfigs(access, Object.keys(config).length > 0 ? config : noConfig)
  })
}

const NOTHING_GRANTED: readonly Grant[] = []

/** What a service shows of the rights of an identity at it. */
interface AccessMembers extends Detail {
  readonly permissions: readonly string[]
  readonly postureQueries: readonly Detail[]
}

/** By what they permit: the same for every service and every identity, so that texts of services are, too. */
const UNGUARDED = new Map<string, AccessMembers>()

/** Old SDKs take "no entry" for failing: where no posture check exists, each permission has one passing entry. */
function unguarded(permissions: readonly string[]): AccessMembers {
  const known = UNGUARDED.get(String(permissions))
  if (known !== undefined) return known
  const members = { permissions, postureQueries: keepText(permissions.map(noPostureQueries)) }
  UNGUARDED.set(String(permissions), members)
  return members
}

function accessMembers(grants: readonly CheckedGrant[], queriesOf: (grant: CheckedGrant) => Detail): AccessMembers {
  return { permissions: permissionsOf(grants), postureQueries: keepText(grants.map(queriesOf)) }
}

/** Rights without any configs, with their text. */
const WITHOUT_CONFIGS = new WeakMap<AccessMembers, Detail>()

function withConfigs(access: AccessMembers, config: ConfigMap | null): Detail {
  if (config !== NO_CONFIGS) return { config, ...access }
  const known = WITHOUT_CONFIGS.get(access) ?? keepText({ config, ...access })
  WITHOUT_CONFIGS.set(access, known)
  return known
}

function permissionsOf(grants: readonly Pick<Grant, 'type'>[]): readonly string[] {
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

function noPostureQueries(permission: string): Detail {
  const policyId = `dummy ${permission.toLowerCase()} policy: no posture checks defined`
  return { isPassing: true, policyId, policyType: permission, postureQueries: [] }
}
