import { type RoleSelector, readRoles } from '../../../base/roles.ts'
import { attributesHeld, grantsAt } from '../../authority/authority.rules.ts'
import { type DecisionFacts, decideAccess, type Reason } from '../decision.rules.ts'
import type { AccessType } from '../index/index.ts'
import {
  evaluateCheck,
  explainFailure,
  isPostureKnown,
  missingPosture,
  nextDeadline,
  type PostureCheck,
} from '../posture/rules/index.ts'
import type {
  AccessFacts,
  CheckExplanation,
  EdgeRouterExplanation,
  Explanation,
  NamedEntity,
  PolicyExplanation,
  PolicyUnderReview,
  ShownRole,
  SideExplanation,
} from './explanation.rules.ts'
import { suggestionsFor } from './suggest.rules.ts'
import { worksNow } from './works-now.rules.ts'

/**
 * Explains whether an identity may dial or bind a service: in the order of the checks for a new session (policies, posture, common edge
 * routers), with all evaluated facts.
 *
 * @example
 * const { allowed, reason, suggestions } = explainAccess(facts)
 */
export function explainAccess(facts: AccessFacts): Explanation {
  const { asked, type, at, identity, service } = facts
  const selected = identity && service ? explainPolicies(facts, identity, service) : []
  const edgeRouters = explainEdgeRouters(facts)
  const decision = decideAccess(type, decisionFacts(facts, selected, edgeRouters), at)
  const carrying = new Set(decision.policies)
  const policies = selected.map((policy) => ({ ...policy, grants: carrying.has(policy.id) }))
  const allowed = decision.verdict === 'allowed'
  const holdsUntil = allowed ? lastEnd(policies) : null
  const explanation = {
    allowed,
    // A question by name involves no party at an edge router.
    reason: decision.reason as Reason,
    asked,
    type,
    at,
    identity: identity ? { id: identity.id, name: identity.name } : null,
    service: service ? { id: service.id, name: service.name } : null,
    apiSessionId: facts.apiSessionId ?? null,
    policies,
    edgeRouters,
    hosts: facts.hosts ?? null,
    wire: facts.wire ? worksNow(allowed, type, edgeRouters, facts.wire) : null,
    holdsUntil,
    changesAt: identity?.isDisabled
      ? (identity.disabledUntil ?? null)
      : (holdsUntil ?? earliest(nextBeginning(policies, type), nextGrant(facts))),
    // The current facts do not tell the past.
    since: null,
  }
  return { ...explanation, suggestions: suggestionsFor(explanation, facts) }
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

/** Picks the facts of the decision from the facts of the explanation. */
function decisionFacts(
  { type: asked, identity, service, posture, apiSessionId = NO_API_SESSION, policies, hosts }: AccessFacts,
  explained: readonly PolicyExplanation[],
  { ofIdentity, ofService, common, online }: EdgeRouterExplanation,
): DecisionFacts {
  const selecting = explained.filter(({ identitySide, serviceSide }) => identitySide.selects && serviceSide.selects)
  const checksOf = new Map(policies.map(({ id, checks }) => [id, checks]))
  const inForce = selecting.filter(isWithinTerm)
  return {
    identity,
    hasService: service !== undefined,
    grants: inForce.map(({ id, type }) => ({ policyId: id, type, checks: checksOf.get(id) ?? [] })),
    hasPolicyOutOfTerm: selecting.some((policy) => policy.type === asked && !isWithinTerm(policy)),
    posture: { data: posture, apiSessionId },
    routers: {
      ofIdentity: ofIdentity.length,
      ofService: ofService.length,
      common: common.map(({ id }) => id),
      online: online.map(({ id }) => id),
    },
    terminators: hosts?.terminatorCount,
    namesEveryPolicy: true,
  }
}

function isWithinTerm({ term }: PolicyExplanation): boolean {
  return term === null || term.phase === 'in-force'
}

/** The instant at which the first policy of a type begins that selects both; null without such a policy. */
function nextBeginning(policies: readonly PolicyExplanation[], asked: AccessType): number | null {
  const coming = policies.filter(
    ({ type, identitySide, serviceSide }) => type === asked && identitySide.selects && serviceSide.selects,
  )
  return earliest(...coming.map(({ term }) => (term?.phase === 'coming' ? term.startsAt : null)))
}

/** The instant at which a grant begins by which a policy in force selects the identity too; null without such a grant. */
function nextGrant({ identity, service, policies, type: asked }: AccessFacts): number | null {
  const coming = (identity?.attributeGrants ?? []).filter(({ phase }) => phase === 'coming')
  if (identity === undefined || service === undefined || coming.length === 0) return null
  const open = policies.filter(
    ({ type, term, semantic, serviceRoles }) =>
      type === asked &&
      (term === undefined || term.phase === 'in-force') &&
      explainSide({ roles: serviceRoles, semantic }, service).selects,
  )
  const begins = coming
    .map(({ startsAt }) => Date.parse(startsAt ?? ''))
    .filter((at) => {
      const then = { ...identity, attributeGrants: grantsAt(identity, at, 'due') }
      return open.some(({ identityRoles: roles, semantic }) => explainSide({ roles, semantic }, then).selects)
    })
  return earliest(...begins)
}

function earliest(...instants: readonly (number | null)[]): number | null {
  const first = Math.min(...instants.map(orNever))
  return Number.isFinite(first) ? first : null
}

/** The instant at which the last granting policy ends, each by its term, a grant or its first failing check; null if a policy does not end. */
function lastEnd(policies: readonly PolicyExplanation[]): number | null {
  const ends = policies
    .filter(({ grants }) => grants)
    .map(({ checks, term, ...policy }) =>
      Math.min(...[...checks.map(({ holdsUntil }) => holdsUntil), term?.until, selectedUntil(policy)].map(orNever)),
    )
  const last = Math.max(...ends)
  return Number.isFinite(last) ? last : null
}

/** The instant at which a policy that selects an identity loses it by the ends of grants; null where it does not. */
function selectedUntil({
  semantic,
  identitySide,
}: Pick<PolicyExplanation, 'semantic' | 'identitySide'>): number | null {
  const { matched, grants = [] } = identitySide
  const ends = matched.map(({ role, fromGrant }) => {
    const own = grants.filter(({ attribute, phase }) => phase === 'in-force' && `#${attribute}` === role)
    return fromGrant === true ? Math.max(...own.map(({ until }) => Date.parse(until))) : null
  })
  const isNamed = matched.some(({ role }) => role === '#all' || role.startsWith('@'))
  if (semantic === 'AnyOf' || isNamed) return ends.includes(null) ? null : Math.max(...ends.map(orNever))
  return earliest(...ends)
}

function orNever(at: number | null | undefined): number {
  return at ?? Number.POSITIVE_INFINITY
}

/** No API session has this id: posture of an API session is then unknown. */
const NO_API_SESSION = ''

/** Compares a service policy with the identity and the service of the question. The decision over all policies tells whether it grants. */
function explainPolicy(
  policy: PolicyUnderReview,
  identity: NamedEntity,
  service: NamedEntity,
  facts: AccessFacts,
): PolicyExplanation {
  const { id, name, type, semantic } = policy
  const identitySide = explainSide({ roles: policy.identityRoles, semantic }, identity)
  const serviceSide = explainSide({ roles: policy.serviceRoles, semantic }, service)
  const selectsBoth = identitySide.selects && serviceSide.selects
  const term = policy.term ?? null
  const applies = selectsBoth && type === facts.type && (term === null || term.phase === 'in-force')
  const checks = selectsBoth ? policy.checks.map((check) => explainCheck(check, facts)) : []
  return { id, name, type, semantic, identitySide, serviceSide, applies, grants: false, checks, term }
}

function explainCheck(
  check: PostureCheck,
  { posture, apiSessionId = NO_API_SESSION, at }: AccessFacts,
): CheckExplanation {
  const { id, name, typeId } = check
  const { expectedValue: expected, actualValue } = explainFailure(check, posture, apiSessionId, at)
  return {
    id,
    name,
    typeId,
    isPassing: evaluateCheck(check, posture, apiSessionId, at),
    expected,
    known: isPostureKnown(check, posture, apiSessionId) ? actualValue : null,
    missing: missingPosture(check, posture, apiSessionId, at),
    holdsUntil: nextDeadline(check, posture, apiSessionId, at) ?? null,
  }
}

/** Compares a role list with an entity: the matching entries, and the role attributes that the entity lacks. */
function explainSide(selector: RoleSelector, entity: NamedEntity): SideExplanation {
  const { all, attributes, ids } = readRoles(selector.roles)
  const holds = attributesHeld(entity)
  const held = attributes.filter((attribute) => holds.includes(attribute))
  const isNamed = ids.has(entity.id)
  const matched: readonly ShownRole[] = [
    ...(all ? [shown('#all')] : []),
    ...(isNamed ? [{ role: `@${entity.id}`, name: `@${entity.name}` }] : []),
    ...held.map((attribute) => {
      const role = `#${attribute}`
      if (entity.roleAttributes.includes(attribute)) return shown(role)
      if (entity.claimAttributes?.includes(attribute)) {
        return { role, name: `${role} (claims)`, fromClaims: true as const }
      }
      if (entity.directoryAttributes?.includes(attribute)) {
        return { role, name: `${role} (directory)`, fromDirectory: true as const }
      }
      return { role, name: `${role} (grant)`, fromGrant: true as const }
    }),
  ]
  const byAttributes =
    selector.semantic === 'AllOf' ? held.length > 0 && held.length === attributes.length : held.length > 0
  const selects = all || isNamed || byAttributes
  const lacking = selects ? [] : attributes.filter((attribute) => !held.includes(attribute))
  const byGrant = matched.flatMap(({ role, fromGrant }) => (fromGrant === true ? role : []))
  const grants = (entity.attributeGrants ?? []).filter(({ attribute, phase }) =>
    phase === 'in-force' ? byGrant.includes(`#${attribute}`) : lacking.includes(attribute),
  )
  return { selects, matched, lacking, ...(grants.length > 0 && { grants }) }
}

function shown(role: string): ShownRole {
  return { role, name: role }
}
