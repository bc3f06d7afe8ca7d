import { explainFailure } from './check-failure.ts'
import type { CheckFailure, PostureCheck, PostureData } from './checks/index.ts'
import { evaluateCheck } from './evaluate-check.ts'

/** A service policy with the posture checks that its `postureCheckRoles` select. */
export interface CheckedPolicy {
  readonly id: string
  readonly name: string
  readonly checks: readonly PostureCheck[]
}

/** A service policy that fails, with the checks that fail it. */
export interface PolicyFailure {
  readonly policyId: string
  readonly policyName: string
  readonly checks: readonly CheckFailure[]
}

/** The ids of the service policies that pass, or why none does. */
export type PolicyDecision =
  | { readonly granted: true; readonly passing: readonly string[] }
  | { readonly granted: false; readonly failures: readonly PolicyFailure[] }

/**
 * Decides whether posture lets an API session use what the service policies grant, at `now` (epoch ms).
 *
 * One passing policy is enough, and a policy without posture checks always passes: a stricter policy beside it never
 * takes access away. Without any policy nothing is granted and nothing failed; what that means is the caller's to say.
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
 * The first of the policies that passes at `now` (epoch ms), one without posture checks before all others: whoever has to know
 * no more than that one passes looks no further.
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
