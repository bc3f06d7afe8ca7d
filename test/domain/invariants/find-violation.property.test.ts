import fc from 'fast-check'
import { findViolation, type Invariant, type PolicySet, type RoleSelector, selects } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { patience, runs } from '../../support/property-runs.ts'

// Small enough to look at every entity that could be: all sets of these, and one more that nobody mentions is like none.
const ATTRIBUTES = ['a', 'b', 'c']
const IDS = ['x', 'y']

const roles = fc.oneof(
  { weight: 1, arbitrary: fc.constant(['#all']) },
  {
    weight: 6,
    arbitrary: fc.uniqueArray(fc.constantFrom('#a', '#b', '#c', '@x', '@y'), { minLength: 1, maxLength: 3 }),
  },
)
const semantic = fc.constantFrom('AnyOf', 'AllOf')
const selector: fc.Arbitrary<RoleSelector> = fc.record({ roles, semantic })
const entities = fc
  .uniqueArray(fc.constantFrom(...IDS), { maxLength: 2 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.record({ id: fc.constant(id), name: fc.constant(id), roleAttributes: fc.subarray(ATTRIBUTES) }),
      ),
    ),
  )
const named = { id: fc.nat().map(String), name: fc.constant('policy'), semantic }
const type = fc.constantFrom('Dial', 'Bind')

const policySet: fc.Arbitrary<PolicySet> = fc.record({
  servicePolicies: fc.array(
    fc.record({ ...named, type, identityRoles: roles, serviceRoles: roles, postureCheckRoles: fc.constant([]) }),
    { minLength: 1, maxLength: 3 },
  ),
  edgeRouterPolicies: fc.array(fc.record({ ...named, identityRoles: roles, edgeRouterRoles: roles }), {
    minLength: 1,
    maxLength: 2,
  }),
  serviceEdgeRouterPolicies: fc.array(fc.record({ ...named, serviceRoles: roles, edgeRouterRoles: roles }), {
    minLength: 1,
    maxLength: 2,
  }),
  identities: entities,
  services: entities,
  edgeRouters: entities,
  postureChecks: fc.constant([]),
})

const invariant: fc.Arbitrary<Invariant> = fc.record({
  identity: selector,
  type,
  service: selector,
  via: fc.option(selector, { nil: undefined }),
  unless: fc.record({
    identity: fc.option(selector, { nil: undefined }),
    service: fc.option(selector, { nil: undefined }),
  }),
})

interface Entity {
  readonly id: string
  readonly roleAttributes: readonly string[]
}

/** Everything that could be: what is there as it is, and something new with each set of role attributes. */
function possible(present: readonly Entity[]): readonly Entity[] {
  const sets: string[][] = [[]]
  for (const attribute of ATTRIBUTES) sets.push(...sets.map((set) => [...set, attribute]))
  return [...present, ...sets.map((roleAttributes) => ({ id: '', roleAttributes }))]
}

/** The size of the smallest violation, by trying every identity with every service and every edge router. */
function sizeByTrying({ identity, type, service, via, unless }: Invariant, policies: PolicySet): number | undefined {
  const sizes: number[] = []
  const excepted = (list: RoleSelector | undefined, entity: Entity) => list !== undefined && selects(list, entity)
  for (const who of possible(policies.identities)) {
    if (!selects(identity, who) || excepted(unless?.identity, who)) continue
    for (const what of possible(policies.services)) {
      if (!selects(service, what) || excepted(unless?.service, what)) continue
      const isGranted = policies.servicePolicies.some(
        (policy) =>
          policy.type === type &&
          selects({ roles: policy.identityRoles, semantic: policy.semantic }, who) &&
          selects({ roles: policy.serviceRoles, semantic: policy.semantic }, what),
      )
      if (!isGranted) continue
      const size = who.roleAttributes.length + what.roleAttributes.length
      if (via === undefined) sizes.push(size)
      else {
        for (const router of possible(policies.edgeRouters)) {
          const isCommon =
            policies.edgeRouterPolicies.some(
              ({ semantic, identityRoles, edgeRouterRoles }) =>
                selects({ roles: identityRoles, semantic }, who) &&
                selects({ roles: edgeRouterRoles, semantic }, router),
            ) &&
            policies.serviceEdgeRouterPolicies.some(
              ({ semantic, serviceRoles, edgeRouterRoles }) =>
                selects({ roles: serviceRoles, semantic }, what) &&
                selects({ roles: edgeRouterRoles, semantic }, router),
            )
          if (selects(via, router) && isCommon) sizes.push(size + router.roleAttributes.length)
        }
      }
    }
  }
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}

describe('the decision about an invariant', () => {
  it(
    'agrees with trying every possible set of role attributes, in the answer and in the size of the counterexample',
    () => {
      let broken = 0
      let kept = 0
      fc.assert(
        fc.property(invariant, policySet, (asked, policies) => {
          const violation = findViolation(asked, policies)
          expect(violation?.size).toBe(sizeByTrying(asked, policies))
          if (violation === undefined) kept++
          else broken++
        }),
        runs(1500),
      )
      // Neither answer is rare among the cases.
      expect(Math.min(broken, kept)).toBeGreaterThan(50)
    },
    patience(30_000),
  )
})
