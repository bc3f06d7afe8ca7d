import { evaluateCheck } from '../posture/index.ts'
import { selects } from '../roles.ts'
import type { GrantingPolicy, Invariant, PolicySet, PresentCheck } from './invariant.ts'

/** The service policies that may break an invariant: of its type, and not held back by posture. */
export function grantingPolicies(invariant: Invariant, policies: PolicySet): readonly GrantingPolicy[] {
  return policies.servicePolicies.filter((policy) => {
    if (policy.type !== invariant.type) return false
    const checks = checksOf(policy, policies.postureChecks)
    return maySucceed(invariant, checks) && !isExcepted(invariant, checks, policies.postureChecks)
  })
}

function checksOf({ postureCheckRoles, semantic }: GrantingPolicy, checks: readonly PresentCheck[]) {
  return checks.filter((check) => selects({ roles: postureCheckRoles, semantic }, check))
}

/** In the state in question every check passes; without one, some endpoint is taken to be in a state in which they do. */
function maySucceed({ posture }: Invariant, checks: readonly PresentCheck[]): boolean {
  if (posture === undefined) return true
  return checks.every(({ check }) => evaluateCheck(check, posture.data, posture.apiSessionId, posture.at))
}

function isExcepted({ unless }: Invariant, demanded: readonly PresentCheck[], all: readonly PresentCheck[]): boolean {
  const entries = unless?.posture ?? []
  const isDemanded = (role: string) => {
    const named = all.filter((check) => selects({ roles: [role], semantic: 'AnyOf' }, check))
    return named.length > 0 && named.every((check) => demanded.includes(check))
  }
  return entries.length > 0 && entries.every(isDemanded)
}
