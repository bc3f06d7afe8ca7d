import { fewOf, listed, quoted } from '../../../base/text.ts'
import { kindOf } from '../posture/rules/index.ts'
import type {
  AccessFacts,
  Explanation,
  PolicyExplanation,
  RouterPolicyCounts,
  Suggestion,
} from './explanation.rules.ts'

/** The most existing policies that are suggested; the nearest first. */
const MAX_POLICIES = 3
/** The most edge routers that a suggestion names. */
const MOST_NAMES = 5

/**
 * Suggests steps against every obstacle, in the order of the checks; empty without an obstacle. Steps that help against one obstacle follow
 * each other, the most helpful first.
 */
export function suggestionsFor(
  explanation: Omit<Explanation, 'suggestions'>,
  circumstances: Circumstances,
): readonly Suggestion[] {
  const { reason, asked, identity, service } = explanation
  if (reason === 'identity-unknown' || reason === 'service-unknown') {
    const [kind, name] = reason === 'identity-unknown' ? ['identity', asked.identity] : ['service', asked.service]
    return [
      { kind: 'check-spelling', entities: [], text: `Check the ${kind}: none has the id or name ${quoted(name)}.` },
    ]
  }
  if (identity === null || service === null || reason === 'granted') return []
  const who = { kind: 'identities', ...identity }
  const what = { kind: 'services', ...service }
  const disabled: Suggestion = { kind: 'enable-identity', entities: [who], text: `Enable ${quoted(who.name)}.` }
  return [
    ...(reason === 'identity-disabled' ? [disabled] : []),
    ...policySteps(explanation, who, what, circumstances),
    ...routerSteps(explanation, who, what, circumstances.routerPolicies),
    ...hostSteps(explanation, what),
  ]
}

type Asked = Omit<Explanation, 'suggestions'>
/** Facts that change how a step is said. */
type Circumstances = Pick<AccessFacts, 'routerPolicies' | 'hasDirectory'>

/** Steps towards a service policy that grants the access: a policy, a term, or posture. */
function policySteps(
  { policies, type }: Asked,
  who: Entity,
  what: Entity,
  { hasDirectory = false }: Circumstances,
): readonly Suggestion[] {
  const applying = policies.filter(({ applies }) => applies)
  if (applying.some(({ checks }) => checks.every(({ isPassing }) => isPassing))) return []
  if (applying.length > 0) return failingChecks(applying, who.name)
  const later = terms(policies, type)
  if (later.length > 0) return later
  const text = `Create a ${type} service policy that selects ${quoted(who.name)} and ${quoted(what.name)}.`
  const near = nearMisses({ policies, type }, who, what, hasDirectory)
  return [...near, { kind: 'create-service-policy', entities: [who, what], text }]
}

/** Steps towards an online edge router that both may use. */
function routerSteps(
  { edgeRouters }: Asked,
  who: Entity,
  what: Entity,
  counts: RouterPolicyCounts | undefined,
): readonly Suggestion[] {
  const { ofIdentity, ofService, common, online } = edgeRouters
  if (online.length > 0) return []
  if (common.length > 0) {
    const routers = common.map(({ id, name }) => ({ kind: 'edge-routers', id, name }))
    const names = routers.map(({ name }) => quoted(name))
    const text = `Bring one of these edge routers online: ${fewOf(names, MOST_NAMES)}.`
    return [{ kind: 'bring-edge-router-online', entities: routers, text }]
  }
  const lacksAny = counts?.edgeRouters === 0
  const creation = 'Create an edge router and bring it online: the network has none.'
  const steps: Suggestion[] = lacksAny ? [{ kind: 'create-edge-router', entities: [], text: creation }] : []
  const sides = [
    { routers: ofIdentity, policies: counts?.ofIdentity, entity: who, ...IDENTITY_SIDE },
    { routers: ofService, policies: counts?.ofService, entity: what, ...SERVICE_SIDE },
  ]
  for (const { routers, policies = 0, entity, kind, policy } of sides) {
    const name = quoted(entity.name)
    if (routers.length > 0) continue
    // Policies that select a side alone wait for an edge router.
    if (policies === 0) steps.push({ kind, entities: [entity], text: `Let ${policy} select ${name}.` })
    else if (!lacksAny)
      steps.push(selectRouter(entity, `Let ${policy} that selects ${name} select an edge router too.`))
  }
  if (steps.length > 0) return steps
  const text = `Let one edge router serve both ${quoted(who.name)} and ${quoted(what.name)}.`
  return [{ kind: 'share-edge-router', entities: [who, what], text }]
}

const IDENTITY_SIDE = { kind: 'assign-edge-router-to-identity', policy: 'an edge router policy' } as const
const SERVICE_SIDE = { kind: 'assign-edge-router-to-service', policy: 'a service edge router policy' } as const

function selectRouter(entity: Entity, text: string): Suggestion {
  return { kind: 'select-edge-router', entities: [entity], text }
}

/** Steps towards a host of a service that is dialed. */
function hostSteps({ type, hosts }: Asked, what: Entity): readonly Suggestion[] {
  if (type === 'Bind' || hosts === null || hosts.terminatorCount > 0) return []
  const name = quoted(what.name)
  const text =
    hosts.mayBindCount === 0
      ? `Create a Bind service policy that selects ${name} and the identity that hosts it, or give it a terminator at a router.`
      : `Let an identity that may bind ${name} host it, or give it a terminator at a router.`
  return [{ kind: 'host-service', entities: [what], text }]
}

type Entity = Suggestion['entities'][number]

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
function nearMisses(
  { policies, type }: Pick<Explanation, 'policies' | 'type'>,
  who: Entity,
  what: Entity,
  hasDirectory: boolean,
) {
  return policies
    .filter((policy) => policy.type === type && policy.identitySide.selects !== policy.serviceSide.selects)
    .flatMap((policy): readonly Suggestion[] => {
      const [entity, side] = policy.identitySide.selects ? [what, policy.serviceSide] : [who, policy.identitySide]
      const roleAttributes = policy.semantic === 'AllOf' ? side.lacking : side.lacking.slice(0, 1)
      if (roleAttributes.length === 0) return []
      const added = `the role attribute${roleAttributes.length > 1 ? 's' : ''} ${listed(roleAttributes)}`
      const place = hasDirectory && entity === who ? ', here or in the directory' : ''
      const text = `Give ${quoted(entity.name)} ${added}${place}: the policy ${quoted(policy.name)} would then select both.`
      const entities = [entity, { kind: 'service-policies', id: policy.id, name: policy.name }]
      return [{ kind: 'add-role-attributes', entities, roleAttributes, text }]
    })
    .sort((a, b) => (a.roleAttributes?.length ?? 0) - (b.roleAttributes?.length ?? 0))
    .slice(0, MAX_POLICIES)
}

/** A single passing policy is enough, so suggestions help the policy with the fewest failing checks. */
function failingChecks(policies: readonly PolicyExplanation[], identityName: string): readonly Suggestion[] {
  const failing = policies
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
