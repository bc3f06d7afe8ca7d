import type { AccessIndex, AccessType } from '../../domain/access-index/index.ts'
import {
  evaluatePolicies,
  nextPolicyDeadline,
  type PolicyDecision,
  type PostureData,
} from '../../domain/posture/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { policyFacts } from '../posture/posture-facts.ts'

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

/**
 * Decides by posture among the service policies that grant the access: one passing policy is enough.
 * `until` is the next instant at which a posture check starts to fail by itself. Instants are epoch ms.
 */
export async function decideByPosture(
  tx: ReadTransaction,
  index: AccessIndex,
  question: AccessQuestion,
  data: PostureData,
  now: number,
): Promise<PolicyDecision & { readonly until?: number | undefined }> {
  const granting = index.grantingPolicies(question.identityId, question.serviceId, question.type)
  const policies = await policyFacts(tx, index, granting)
  const facts = [...policies.values()]
  const decision = evaluatePolicies(facts, data, question.apiSessionId, now)
  return { ...decision, until: nextPolicyDeadline(facts, data, question.apiSessionId, now) }
}
