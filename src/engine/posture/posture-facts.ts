import type { AccessIndex } from '../../domain/access-index/index.ts'
import { ids } from '../../domain/filter/index.ts'
import type { CheckedPolicy, PostureCheck } from '../../domain/posture/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { servicePolicies } from '../../resources/access/policies.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import { impassable, postureCheckOf } from './posture-check-of.ts'

/** A service policy as posture sees it, with its record and the records of its checks. */
export interface PolicyFacts extends CheckedPolicy {
  readonly type: 'Dial' | 'Bind'
  readonly checkRecords: readonly { readonly check: PostureCheck; readonly record: RecordOf<typeof postureChecks> }[]
}

/** The service policies of the given ids with the posture checks that they select now. Two reads, whatever the number. */
export async function policyFacts(
  tx: ReadTransaction,
  index: AccessIndex,
  policyIds: readonly string[],
): Promise<ReadonlyMap<string, PolicyFacts>> {
  const { items: policies } = await tx.collection(servicePolicies).find({ where: ids(policyIds) })
  const checked = policies.filter(({ postureCheckRoles }) => postureCheckRoles.length > 0)
  const checkIds = new Map(checked.map(({ id }) => [id, index.selectedBy('service-policies', id, 'posture-checks')]))
  const wanted = [...new Set([...checkIds.values()].flat())]
  const { items: records, damaged = [] } = await tx.collection(postureChecks).find({ where: ids(wanted) })
  const known = new Map(records.map((record) => [record.id, { check: postureCheckOf(record), record }]))
  return new Map(
    policies.map(({ id, name, type }) => {
      const checkRecords = (checkIds.get(id) ?? []).flatMap((checkId) => known.get(checkId) ?? [])
      const selected = new Set(checkIds.get(id))
      // Nobody passes a check that cannot be read.
      const failing = damaged.filter((record) => selected.has(record.id)).map((record) => impassable(record.id))
      const checks = [...checkRecords.map(({ check }) => check), ...failing]
      return [id, { id, name, type: type === 'Bind' ? 'Bind' : 'Dial', checks, checkRecords }]
    }),
  )
}
