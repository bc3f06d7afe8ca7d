import type { PostureData } from './checks/index.ts'
import { nextDeadline } from './evaluate-check.ts'
import type { CheckedPolicy } from './evaluate-policies.ts'

/**
 * The next instant (epoch ms) at which a posture check of the service policies starts to fail by itself, if nothing is
 * reported until then; `undefined` when none does.
 *
 * @example
 * const endsAt = nextPolicyDeadline([{ checks }], data, 'session-1', now)
 */
export function nextPolicyDeadline(
  policies: readonly Pick<CheckedPolicy, 'checks'>[],
  data: PostureData,
  apiSessionId: string,
  now: number,
): number | undefined {
  const checks = new Set(policies.flatMap((policy) => policy.checks))
  const deadlines = [...checks].flatMap((check) => nextDeadline(check, data, apiSessionId, now) ?? [])
  return deadlines.length === 0 ? undefined : deadlines.reduce((a, b) => Math.min(a, b))
}
