import { kindOf, type PostureCheck, type PostureCheckTypeId, type PostureData } from './checks/index.ts'
import { evaluateCheck } from './evaluate-check.ts'
import { NO_TIMEOUT, type QueryMembers } from './kind/posture-check-kind.ts'

/** What a client is asked to report for a posture check. Timeouts are seconds, -1 for none; `timeoutAt` is epoch ms. */
export interface PostureQuery extends QueryMembers {
  readonly queryType: PostureCheckTypeId
  readonly isPassing: boolean
}

/** The posture query of a check for an API session at `now` (epoch ms), without the base fields of the check. */
export function postureQuery(check: PostureCheck, data: PostureData, apiSessionId: string, now: number): PostureQuery {
  return {
    queryType: check.typeId,
    isPassing: evaluateCheck(check, data, apiSessionId, now),
    timeout: NO_TIMEOUT,
    timeoutRemaining: NO_TIMEOUT,
    processes: [],
    ...kindOf(check.typeId).query?.(check, data, apiSessionId, now),
  }
}

/**
 * When the query of a check last changed (epoch ms): the check's own `updatedAt`, or a later unlock or wake that
 * prompts for an MFA code. Clients compare it to notice that a grace period began.
 */
export function queryUpdatedAt(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  updatedAt: number,
): number {
  return Math.max(updatedAt, kindOf(check.typeId).queryChangedAt?.(check, data, apiSessionId) ?? updatedAt)
}
