import type { AccessIndex } from '../../domain/access-index/index.ts'
import { ids } from '../../domain/filter/index.ts'
import {
  type CheckedPolicy,
  emptyPostureData,
  type PostureCheck,
  type PostureData,
} from '../../domain/posture/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { servicePolicies } from '../../resources/policies.ts'
import { postureChecks } from '../../resources/posture-checks.ts'
import { postureData } from '../../resources/posture-records.ts'
import type { RecordOf } from '../../resources/resource.ts'
import { ifReadable } from '../records/damaged-records.ts'
import { impassable, postureCheckOf } from './posture-check-of.ts'

/** What an identity's endpoints reported, empty when nothing was or when it cannot be read. */
export async function postureDataOf(tx: ReadTransaction, identityId: string): Promise<PostureData> {
  return knownPosture(await ifReadable(() => tx.collection(postureData).get(identityId)))
}

/** What a record says that endpoints reported; nothing of what no type of check asked for when it was stored. */
export function knownPosture(record: Pick<RecordOf<typeof postureData>, 'data'> | undefined): PostureData {
  return { ...emptyPostureData(), ...record?.data }
}

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
