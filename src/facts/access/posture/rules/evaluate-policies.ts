import { type CheckFailure, kindOf, type PostureCheck, type PostureData } from '../checks/index.ts'
import type { MissingPosture } from '../checks/posture-check-kind.ts'

/** A service policy with the posture checks that its `postureCheckRoles` select. */
export interface CheckedPolicy {
  readonly id: string
  readonly name: string
  readonly checks: readonly PostureCheck[]
}

/** A failing service policy, with its failing checks. */
export interface PolicyFailure {
  readonly policyId: string
  readonly policyName: string
  readonly checks: readonly CheckFailure[]
}

/** The ids of the passing service policies, or the failures of all policies. */
export type PolicyDecision =
  | { readonly granted: true; readonly passing: readonly string[] }
  | { readonly granted: false; readonly failures: readonly PolicyFailure[] }

/**
 * Decides whether posture lets an API session use the grants of service policies, at `now` (epoch ms).
 *
 * One passing policy is enough, and a policy without posture checks always passes: a stricter policy beside it never takes access away.
 * Without any policy nothing is granted and nothing failed; the caller decides what that means.
 *
 * @example
 * const decision = evaluatePolicies([{ id: 'p1', name: 'staff', checks }], data, 'session-1', now)
 * if (!decision.granted) console.log(decision.failures)
 */
export function evaluatePolicies(
  policies: readonly CheckedPolicy[],
  data: PostureData,
  apiSessionId: string,
  now: number,
): PolicyDecision {
  const passes = rememberResults((check) => evaluateCheck(check, data, apiSessionId, now))
  const passing = policies.filter((policy) => policy.checks.every(passes))
  if (passing.length > 0) return { granted: true, passing: passing.map((policy) => policy.id) }
  const explain = (check: PostureCheck) => explainFailure(check, data, apiSessionId, now)
  const failures = policies.map(({ id, name, checks }) => ({
    policyId: id,
    policyName: name,
    checks: checks.filter((check) => !passes(check)).map(explain),
  }))
  return { granted: false, failures }
}

/**
 * The first policy that passes at `now` (epoch ms); policies without posture checks come first. For callers that only need to know whether
 * any policy passes.
 */
export function firstPassing<P extends Pick<CheckedPolicy, 'checks'>>(
  policies: readonly P[],
  data: PostureData,
  apiSessionId: string,
  now: number,
): P | undefined {
  const passes = rememberResults((check) => evaluateCheck(check, data, apiSessionId, now))
  return policies.find(({ checks }) => checks.length === 0) ?? policies.find(({ checks }) => checks.every(passes))
}

/** Policies share posture checks, so each is evaluated once. */
function rememberResults(evaluate: (check: PostureCheck) => boolean): (check: PostureCheck) => boolean {
  const results = new Map<PostureCheck, boolean>()
  return (check) => {
    const result = results.get(check) ?? evaluate(check)
    results.set(check, result)
    return result
  }
}

/**
 * True when a posture check passes for an API session at `now` (epoch ms). A check without reports fails.
 *
 * @example
 * const check = { id: 'check-1', name: 'at work', typeId: 'DOMAIN', domains: ['corp'] } as const
 * evaluateCheck(check, emptyPostureData(), 'session-1', now) // false
 */
export function evaluateCheck(check: PostureCheck, data: PostureData, apiSessionId: string, now: number): boolean {
  return kindOf(check.typeId).passes(check, data, apiSessionId, now)
}

/**
 * Lists the conditions that a check misses for an API session at `now` (epoch ms); empty when it passes.
 *
 * @example
 * missingPosture(check, emptyPostureData(), 'session-1', now) // [{ kind: 'not-reported' }]
 */
export function missingPosture(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): readonly MissingPosture[] {
  if (evaluateCheck(check, data, apiSessionId, now)) return []
  return kindOf(check.typeId).missing(check, data, apiSessionId, now)
}

/** True when the endpoint has reported values for the check. */
export function isPostureKnown(check: PostureCheck, data: PostureData, apiSessionId: string): boolean {
  return kindOf(check.typeId).isKnown(check, data, apiSessionId)
}

/**
 * The instant (epoch ms) at which a passing check fails by itself without new reports: an MFA timeout, or the end of a grace period.
 * `undefined` for a failing check, and for a check that passes for good.
 *
 * @example
 * const endsAt = nextDeadline(check, data, 'session-1', now)
 */
export function nextDeadline(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): number | undefined {
  const next = Math.min(...(kindOf(check.typeId).deadlines?.(check, data, apiSessionId) ?? []))
  return now < next && Number.isFinite(next) ? next : undefined
}

/**
 * Answers the actual and the expected value of a posture check for an API session at `now` (epoch ms), for the record of a failed service
 * request. Values that were never reported are empty.
 *
 * @example
 * const { actualValue, expectedValue } = explainFailure(check, data, 'session-1', now)
 */
export function explainFailure(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): CheckFailure {
  const { id, name, typeId } = check
  const failure = kindOf(typeId).failure(check, data, apiSessionId, now)
  // The type of the failure belongs to the type of the check, which `kindOf` does not express.
  return { postureCheckId: id, postureCheckName: name, postureCheckType: typeId, ...failure } as CheckFailure
}

/**
 * The next instant (epoch ms) at which a posture check of the service policies fails by itself without new reports; `undefined` without
 * such an instant.
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
