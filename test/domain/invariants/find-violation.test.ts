import {
  emptyPostureData,
  findViolation,
  type Invariant,
  type PolicySet,
  type RoleSelector,
  violationText,
} from 'portcullis/policy'
import { describe, expect, it } from 'vitest'

const NOTHING: PolicySet = {
  servicePolicies: [],
  edgeRouterPolicies: [],
  serviceEdgeRouterPolicies: [],
  identities: [],
  services: [],
  edgeRouters: [],
  postureChecks: [],
}

function any(...roles: string[]): RoleSelector {
  return { roles, semantic: 'AnyOf' }
}

function dials(name: string, identityRoles: string[], serviceRoles: string[], semantic: 'AnyOf' | 'AllOf' = 'AnyOf') {
  return { id: name, name, type: 'Dial' as const, semantic, identityRoles, serviceRoles, postureCheckRoles: [] }
}

const neverConfidential: Invariant = { identity: any('#contractor'), type: 'Dial', service: any('#confidential') }

describe('an invariant about who never reaches what', () => {
  it('is proved when no policy lets any possible identity through', () => {
    const policies = { ...NOTHING, servicePolicies: [dials('open', ['#all'], ['#internal'], 'AllOf')] }
    const bind: Invariant = { ...neverConfidential, type: 'Bind' }
    expect(findViolation(bind, policies)).toBeUndefined()
    expect(findViolation({ ...neverConfidential, unless: { service: any('#internal') } }, policies)).toBeUndefined()
  })

  it('is broken by an identity that could exist, though none does: with the fewest role attributes', () => {
    const policies = { ...NOTHING, servicePolicies: [dials('staff', ['#staff'], ['#internal', '#confidential'])] }
    const violation = findViolation(neverConfidential, policies)
    expect(violation).toMatchObject({
      identity: { id: undefined, roleAttributes: ['contractor', 'staff'] },
      service: { id: undefined, roleAttributes: ['confidential'] },
      policies: [{ name: 'staff' }],
      size: 3,
      present: undefined,
    })
    expect(violation && violationText(neverConfidential, violation)).toBe(
      "An identity with the role attributes 'contractor' and 'staff' can dial a service with the role attribute 'confidential', by the service policy 'staff'. No present identity can yet.",
    )
  })

  it('holds where exceptions except every way', () => {
    const policies = { ...NOTHING, servicePolicies: [dials('staff', ['#staff'], ['#confidential'])] }
    expect(findViolation({ ...neverConfidential, unless: { identity: any('#staff') } }, policies)).toBeUndefined()
    expect(findViolation({ ...neverConfidential, unless: { identity: any('#boss') } }, policies)).toBeDefined()
  })

  it('takes entities that policies name with the role attributes that they have', () => {
    const identities = [{ id: 'carla', name: 'Carla', roleAttributes: ['contractor', 'evening'] }]
    const services = [{ id: 'pay', name: 'Payroll', roleAttributes: ['confidential'] }]
    const policies = { ...NOTHING, identities, services, servicePolicies: [dials('one', ['@carla'], ['@pay'])] }
    const violation = findViolation(neverConfidential, policies)
    expect(violation).toMatchObject({ identity: { name: 'Carla' }, service: { name: 'Payroll' }, size: 3 })
    expect(violation && violationText(neverConfidential, violation)).toContain(
      "'Carla' already can reach 'Payroll' so.",
    )
    const moved = { ...policies, identities: [{ id: 'carla', name: 'Carla', roleAttributes: ['staff'] }] }
    expect(findViolation(neverConfidential, moved)).toBeUndefined()
  })

  it('asks for an edge router of `via` that both may use', () => {
    const policies: PolicySet = {
      ...NOTHING,
      servicePolicies: [dials('all', ['#all'], ['#all'])],
      edgeRouterPolicies: [
        { id: 'e', name: 'cloud', semantic: 'AnyOf', identityRoles: ['#contractor'], edgeRouterRoles: ['#cloud'] },
      ],
      serviceEdgeRouterPolicies: [
        { id: 's', name: 'carried', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#cloud', '#office'] },
      ],
    }
    expect(findViolation({ ...neverConfidential, via: any('#cloud') }, policies)).toMatchObject({
      edgeRouter: { roleAttributes: ['cloud'] },
      policies: [{ name: 'all' }, { name: 'cloud' }, { name: 'carried' }],
    })
    // An edge router could carry both role attributes.
    expect(findViolation({ ...neverConfidential, via: any('#office') }, policies)?.edgeRouter?.roleAttributes).toEqual([
      'cloud',
      'office',
    ])
    const apart = { ...policies, edgeRouterPolicies: [] }
    expect(findViolation({ ...neverConfidential, via: any('#cloud') }, apart)).toBeUndefined()
  })

  it('looks at posture where the invariant says what is known, or which checks excuse a policy', () => {
    const check = { id: 'd', name: 'domain', typeId: 'DOMAIN', domains: ['corp'] } as const
    const guarded = { ...dials('guarded', ['#contractor'], ['#confidential']), postureCheckRoles: ['#managed'] }
    const policies = {
      ...NOTHING,
      servicePolicies: [guarded],
      postureChecks: [{ id: 'd', roleAttributes: ['managed'], check }],
    }
    expect(findViolation(neverConfidential, policies)).toBeDefined()
    const posture = { data: emptyPostureData(), apiSessionId: '', at: 0 }
    expect(findViolation({ ...neverConfidential, posture }, policies)).toBeUndefined()
    expect(findViolation({ ...neverConfidential, unless: { posture: ['@d'] } }, policies)).toBeUndefined()
    expect(findViolation({ ...neverConfidential, unless: { posture: ['#managed'] } }, policies)).toBeUndefined()
    // An entry that selects no check excuses nothing.
    expect(findViolation({ ...neverConfidential, unless: { posture: ['#none'] } }, policies)).toBeDefined()
  })

  it('answers for ten thousand policies with long lists at once', () => {
    const roles = Array.from({ length: 60 }, (_, i) => `#team-${i}`)
    const servicePolicies = Array.from({ length: 10_000 }, (_, i) => dials(`p${i}`, roles, [`#app-${i}`]))
    const started = process.cpuUsage()
    expect(findViolation(neverConfidential, { ...NOTHING, servicePolicies })?.size).toBe(4)
    // Microseconds of the processor: a busy machine takes longer.
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000)
  })
})
