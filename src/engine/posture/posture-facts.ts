import type { AccessIndex, Grant } from '../../domain/access-index/index.ts'
import { ids } from '../../domain/filter/index.ts'
import type { PostureCheck } from '../../domain/posture/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import type { EngineContext } from '../context/context.ts'
import { impassable, postureCheckOf } from './posture-check-of.ts'

/** What service policies grant, as posture sees it: with the checks that stand before it, and their records. */
export interface CheckedGrant {
  readonly policyId: string
  readonly type: Grant['type']
  readonly checks: readonly PostureCheck[]
  readonly checkRecords: readonly { readonly check: PostureCheck; readonly record: RecordOf<typeof postureChecks> }[]
}

/**
 * What service policies grant an identity at each service, as it is shown to clients and named in sessions: one for all
 * policies of a type that ask for the same posture checks, or each policy where the controller does as deployed ones do.
 */
export function grantsOf(
  { settings }: Pick<EngineContext, 'settings'>,
  index: AccessIndex,
  identityId: string,
  serviceIds: readonly string[],
): readonly (readonly Grant[])[] {
  return settings.profile.namesEveryPolicy
    ? index.separateGrantsOf(identityId, serviceIds)
    : index.grantsOf(identityId, serviceIds)
}

/** The posture checks of grants, each grant once, in order. One read, whatever their number; none where nothing is asked for. */
export async function checkedGrants(
  tx: ReadTransaction,
  grants: Iterable<Grant>,
): Promise<ReadonlyMap<Grant, CheckedGrant>> {
  const asked = new Set(grants)
  const wanted = new Set([...asked].flatMap(({ checks }) => checks))
  const { items, damaged = [] } =
    wanted.size === 0 ? { items: [] } : await tx.collection(postureChecks).find({ where: ids(wanted) })
  const known = new Map(items.map((record) => [record.id, { check: postureCheckOf(record), record }]))
  // Nobody passes a check that cannot be read.
  const failing = new Map(damaged.map(({ id }) => [id, impassable(id)]))
  return new Map(
    [...asked].map((grant) => {
      const checkRecords = grant.checks.flatMap((id) => known.get(id) ?? [])
      const impassables = grant.checks.flatMap((id) => failing.get(id) ?? [])
      const checks = [...checkRecords.map(({ check }) => check), ...impassables]
      return [grant, { policyId: grant.policyId, type: grant.type, checks, checkRecords }]
    }),
  )
}
