import type { AccessIndex, AccessType } from '../../domain/access-index/index.ts'
import { ids } from '../../domain/filter/index.ts'
import {
  evaluatePolicies,
  firstPassing,
  nextPolicyDeadline,
  type PolicyFailure,
  type PostureData,
} from '../../domain/posture/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { servicePolicies } from '../../resources/access/policies.ts'
import type { EngineContext } from '../context/context.ts'
import { type CheckedGrant, checkedGrants, grantsOf } from '../posture/posture-facts.ts'

/** The services that an identity may dial or bind, whatever its posture: ids in ascending order. */
export function reachableServices(index: AccessIndex, identityId: string): readonly string[] {
  return index.servicesOf(identityId)
}

/** Reports whether an identity may dial or bind a service, whatever its posture. */
export function isReachable(index: AccessIndex, identityId: string, serviceId: string): boolean {
  return index.allows(identityId, serviceId, 'Dial') || index.allows(identityId, serviceId, 'Bind')
}

/** Whose access to which service is in question. */
export interface AccessQuestion {
  readonly identityId: string
  readonly apiSessionId: string
  readonly serviceId: string
  readonly type: AccessType
}

/** What carries the access: the policies by name of their ids, and the next instant (epoch ms) at which that may end by itself. */
export interface Carried {
  readonly policyIds: readonly string[]
  readonly until: number | undefined
}

/** Decides by posture, at `now` (epoch ms), what of the grants carries an access; nothing where none passes. */
export function carriedBy(
  { settings }: Pick<EngineContext, 'settings'>,
  grants: readonly CheckedGrant[],
  data: PostureData,
  apiSessionId: string,
  now: number,
): Carried | undefined {
  const isPassing = (grant: CheckedGrant) => firstPassing([grant], data, apiSessionId, now) !== undefined
  const first = firstPassing(grants, data, apiSessionId, now)
  if (first === undefined) return undefined
  const passing = settings.profile.namesEveryPolicy ? grants.filter(isPassing) : [first]
  const until = nextPolicyDeadline(settings.profile.namesEveryPolicy ? grants : passing, data, apiSessionId, now)
  return { policyIds: passing.map(({ policyId }) => policyId), until }
}

/** Decides by posture among what service policies grant: one that passes is enough, and what asks for nothing passes. */
export async function decideByPosture(
  context: Pick<EngineContext, 'settings'>,
  tx: ReadTransaction,
  index: AccessIndex,
  question: AccessQuestion,
  data: PostureData,
  now: number,
): Promise<Carried | { readonly refusedBy: readonly PolicyFailure[] }> {
  const { identityId, serviceId, apiSessionId, type } = question
  const [grants = []] = grantsOf(context, index, identityId, [serviceId])
  const ofType = grants.filter((grant) => grant.type === type)
  const checked = [...(await checkedGrants(tx, ofType)).values()]
  const carried = carriedBy(context, checked, data, apiSessionId, now)
  return carried ?? { refusedBy: await failuresOf(tx, checked, data, apiSessionId, now) }
}

/** Why each of the grants fails, by the names of their policies. */
async function failuresOf(
  tx: ReadTransaction,
  grants: readonly CheckedGrant[],
  data: PostureData,
  apiSessionId: string,
  now: number,
): Promise<readonly PolicyFailure[]> {
  const where = ids(new Set(grants.map(({ policyId }) => policyId)))
  const { items } = await tx.collection(servicePolicies).find({ where })
  const names = new Map(items.map(({ id, name }) => [id, name]))
  const policies = grants.map(({ policyId, checks }) => ({ id: policyId, name: names.get(policyId) ?? '', checks }))
  const decision = evaluatePolicies(policies, data, apiSessionId, now)
  return decision.granted ? [] : decision.failures
}
