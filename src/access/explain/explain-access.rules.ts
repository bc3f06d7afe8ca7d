import { explainPolicy } from './explain-policy.ts'
import type { EdgeRouterExplanation, Explanation, PolicyExplanation } from './explanation.ts'
import type { AccessFacts } from './facts.ts'
import type { Reason } from './reason.ts'
import { suggestionsFor } from './suggest.ts'

/**
 * Explains whether an identity may dial or bind a service: by the same order of questions as a session is created in
 * (policies, posture, common edge routers), with everything that was looked at.
 *
 * @example
 * const { allowed, reason, suggestions } = explainAccess(facts)
 */
export function explainAccess(facts: AccessFacts): Explanation {
  const { asked, type, at, identity, service } = facts
  const policies = identity && service ? explainPolicies(facts, identity, service) : []
  const edgeRouters = explainEdgeRouters(facts)
  const reason = reasonOf(facts, policies, edgeRouters)
  const allowed = reason === 'granted' || reason === 'all-common-edge-routers-offline'
  const holdsUntil = allowed ? lastEnd(policies) : null
  const explanation = {
    allowed,
    reason,
    asked,
    type,
    at,
    identity: identity ? { id: identity.id, name: identity.name } : null,
    service: service ? { id: service.id, name: service.name } : null,
    apiSessionId: facts.apiSessionId ?? null,
    policies,
    edgeRouters,
    holdsUntil,
    changesAt: identity?.isDisabled ? (identity.disabledUntil ?? null) : holdsUntil,
  }
  return { ...explanation, suggestions: suggestionsFor(explanation) }
}

type Named = NonNullable<AccessFacts['identity'] | AccessFacts['service']>

function explainPolicies(facts: AccessFacts, identity: Named, service: Named): readonly PolicyExplanation[] {
  const rank = ({ applies, identitySide, serviceSide }: PolicyExplanation) => {
    if (applies) return 0
    return identitySide.selects && serviceSide.selects ? 1 : 2
  }
  return facts.policies
    .map((policy) => explainPolicy(policy, identity, service, facts))
    .filter(({ identitySide, serviceSide }) => identitySide.selects || serviceSide.selects)
    .sort((a, b) => rank(a) - rank(b))
}

function explainEdgeRouters({ identityRouters, serviceRouters }: AccessFacts): EdgeRouterExplanation {
  const ofServiceIds = new Set(serviceRouters.map(({ id }) => id))
  const common = identityRouters.filter(({ id }) => ofServiceIds.has(id))
  return {
    ofIdentity: identityRouters,
    ofService: serviceRouters,
    common,
    online: common.filter(({ isOnline }) => isOnline),
  }
}

function reasonOf(
  { identity, service }: AccessFacts,
  policies: readonly PolicyExplanation[],
  { ofIdentity, ofService, common, online }: EdgeRouterExplanation,
): Reason {
  if (identity === undefined) return 'identity-unknown'
  if (service === undefined) return 'service-unknown'
  if (identity.isDisabled) return 'identity-disabled'
  if (!policies.some(({ identitySide, serviceSide }) => identitySide.selects && serviceSide.selects)) {
    return 'no-policy-for-pair'
  }
  if (!policies.some(({ applies }) => applies)) return 'only-other-type'
  if (!policies.some(({ grants }) => grants)) return 'posture-failing'
  if (ofIdentity.length === 0) return 'no-edge-router-for-identity'
  if (ofService.length === 0) return 'no-edge-router-for-service'
  if (common.length === 0) return 'no-common-edge-router'
  return online.length === 0 ? 'all-common-edge-routers-offline' : 'granted'
}

/** When the last of the granting policies fails: each with its first check, and never if it has none that ends. */
function lastEnd(policies: readonly PolicyExplanation[]): number | null {
  const ends = policies
    .filter(({ grants }) => grants)
    .map(({ checks }) => Math.min(...checks.flatMap(({ holdsUntil }) => holdsUntil ?? [])))
  const last = Math.max(...ends)
  return Number.isFinite(last) ? last : null
}
