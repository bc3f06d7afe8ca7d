import { fewOf, listed, quoted } from '../../../base/text.ts'
import { kindOf } from '../posture/rules/index.ts'
import type { Explanation, PolicyExplanation, Suggestion } from './explanation.rules.ts'

/** The most existing policies that are suggested; the nearest first. */
const MAX_POLICIES = 3
/** The most edge routers that a suggestion names. */
const MAX_NAMES = 5

/** Suggests steps against the reason, most helpful first; empty without an obstacle. */
export function suggestionsFor(explanation: Omit<Explanation, 'suggestions'>): readonly Suggestion[] {
  const { reason, asked, type, identity, service, edgeRouters, hosts } = explanation
  if (reason === 'identity-unknown' || reason === 'service-unknown') {
    const [kind, name] = reason === 'identity-unknown' ? ['identity', asked.identity] : ['service', asked.service]
    return [
      { kind: 'check-spelling', entities: [], text: `Check the ${kind}: none has the id or name ${quoted(name)}.` },
    ]
  }
  if (identity === null || service === null) return []
  const who = { kind: 'identities', ...identity }
  const what = { kind: 'services', ...service }
  switch (reason) {
    case 'identity-disabled':
      return [{ kind: 'enable-identity', entities: [who], text: `Enable ${quoted(who.name)}.` }]
    case 'no-policy-for-pair':
    case 'only-other-type': {
      const text = `Create a ${type} service policy that selects ${quoted(who.name)} and ${quoted(what.name)}.`
      return [...nearMisses(explanation, who, what), { kind: 'create-service-policy', entities: [who, what], text }]
    }
    case 'no-policy-in-force':
      return terms(explanation.policies, type)
    case 'posture-failing':
      return failingChecks(explanation.policies, who.name)
    case 'no-edge-router-for-identity': {
      const text = `Let an edge router policy select ${quoted(who.name)}.`
      return [{ kind: 'assign-edge-router-to-identity', entities: [who], text }]
    }
    case 'no-edge-router-for-service': {
      const text = `Let a service edge router policy select ${quoted(what.name)}.`
      return [{ kind: 'assign-edge-router-to-service', entities: [what], text }]
    }
    case 'no-common-edge-router': {
      const text = `Let one edge router serve both ${quoted(who.name)} and ${quoted(what.name)}.`
      return [{ kind: 'share-edge-router', entities: [who, what], text }]
    }
    case 'all-common-edge-routers-offline': {
      const routers = edgeRouters.common.map(({ id, name }) => ({ kind: 'edge-routers', id, name }))
      const names = routers.map(({ name }) => quoted(name))
      const text = `Bring one of these edge routers online: ${fewOf(names, MAX_NAMES)}.`
      const isHosted = type === 'Bind' || hosts === null || hosts.terminatorCount > 0
      return [{ kind: 'bring-edge-router-online', entities: routers, text }, ...(isHosted ? [] : [hosting(what)])]
    }
    case 'no-terminators': {
      return [hosting(what)]
    }
    case 'granted':
      return []
  }
}

type Entity = Suggestion['entities'][number]

function hosting(service: Entity): Suggestion {
  const text = `Let an identity that may bind ${quoted(service.name)} host it, or give it a terminator at a router.`
  return { kind: 'host-service', entities: [service], text }
}

/** Policies of the type that select both and are not in force. */
function terms(policies: readonly PolicyExplanation[], asked: PolicyExplanation['type']): readonly Suggestion[] {
  return policies
    .filter(({ type, identitySide, serviceSide }) => type === asked && identitySide.selects && serviceSide.selects)
    .slice(0, MAX_POLICIES)
    .map(({ id, name, term }) => {
      const change = term?.phase === 'coming' ? 'begin earlier' : 'end later'
      const text = `Let the policy ${quoted(name)} ${change}, or create another ${asked} service policy.`
      return { kind: 'change-term', entities: [{ kind: 'service-policies', id, name }], text }
    })
}

/** Policies of the type that select one side and would select the other side with more role attributes. */
function nearMisses({ policies, type }: Pick<Explanation, 'policies' | 'type'>, who: Entity, what: Entity) {
  return policies
    .filter((policy) => policy.type === type && policy.identitySide.selects !== policy.serviceSide.selects)
    .flatMap((policy): readonly Suggestion[] => {
      const [entity, side] = policy.identitySide.selects ? [what, policy.serviceSide] : [who, policy.identitySide]
      const roleAttributes = policy.semantic === 'AllOf' ? side.lacking : side.lacking.slice(0, 1)
      if (roleAttributes.length === 0) return []
      const added = `the role attribute${roleAttributes.length > 1 ? 's' : ''} ${listed(roleAttributes)}`
      const text = `Give ${quoted(entity.name)} ${added}: the policy ${quoted(policy.name)} would then select both.`
      const entities = [entity, { kind: 'service-policies', id: policy.id, name: policy.name }]
      return [{ kind: 'add-role-attributes', entities, roleAttributes, text }]
    })
    .sort((a, b) => (a.roleAttributes?.length ?? 0) - (b.roleAttributes?.length ?? 0))
    .slice(0, MAX_POLICIES)
}

/** A single passing policy is enough, so suggestions help the policy with the fewest failing checks. */
function failingChecks(policies: readonly PolicyExplanation[], identityName: string): readonly Suggestion[] {
  const failing = policies
    .filter(({ applies }) => applies)
    .map((policy) => ({ policy, checks: policy.checks.filter(({ isPassing }) => !isPassing) }))
    .sort((a, b) => a.checks.length - b.checks.length)
  const [nearest] = failing
  return (nearest?.checks ?? []).map(({ id, name, typeId }): Suggestion => {
    const entities = [{ kind: 'posture-checks', id, name }]
    if (kindOf(typeId).fulfilledBy === 'user') {
      return {
        kind: 'pass-mfa',
        entities,
        text: `Let ${quoted(identityName)} prove a second factor for ${quoted(name)}.`,
      }
    }
    const text = `Let the endpoint of ${quoted(identityName)} fulfil the posture check ${quoted(name)}, or change the check.`
    return { kind: 'fulfil-posture-check', entities, text }
  })
}
