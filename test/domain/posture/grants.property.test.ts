import fc from 'fast-check'
import { AccessIndex, applyResponses, emptyPostureData, evaluatePolicies, type PostureCheck } from 'portcullis/policy'
import { expect, it } from 'vitest'
// Internals: pure rules, tried by the thousand and at instants that no endpoint reports.
import { firstPassing } from '../../../src/facts/access/posture/rules/index.ts'
import { NaiveAccess } from '../../support/naive-access.ts'
import { runs } from '../../support/property-runs.ts'

const SESSION = 'session'
const NOW = 1_700_000_000_000
const CHECKS = ['c0', 'c1', 'c2', 'c3']
const TYPES = ['Dial', 'Bind'] as const

const network = fc.record({
  checks: fc.tuple(
    ...CHECKS.map((id) =>
      fc.record({
        id: fc.constant(id),
        domains: fc.subarray(['home', 'corp', 'lab']),
        roleAttributes: fc.subarray(['a', 'b']),
      }),
    ),
  ),
  policies: fc.array(
    fc.record({
      type: fc.constantFrom(...TYPES),
      semantic: fc.constantFrom('AllOf' as const, 'AnyOf' as const),
      roles: fc.record({
        identities: fc.subarray(['#all', '#other']),
        services: fc.subarray(['#all', '@other']),
        'posture-checks': fc.subarray(['#a', '#b', '@c0', '@c3']),
      }),
    }),
    { maxLength: 12 },
  ),
  domain: fc.constantFrom('home', 'corp', 'lab', 'elsewhere'),
})

it('what policies grant together decides as all of them do one by one', () => {
  fc.assert(
    fc.property(network, ({ checks, policies, domain }) => {
      const index = new AccessIndex()
      const naive = new NaiveAccess()
      for (const access of [index, naive]) {
        access.putEntity('identities', { id: 'me', roleAttributes: [] })
        access.putEntity('services', { id: 'it', roleAttributes: [] })
        for (const { id, roleAttributes } of checks) access.putEntity('posture-checks', { id, roleAttributes })
        for (const [at, policy] of policies.entries()) access.putPolicy('service-policies', { id: `p${at}`, ...policy })
      }
      const known = new Map<string, PostureCheck>(
        checks.map(({ id, domains }) => [id, { id, name: id, typeId: 'DOMAIN', domains }]),
      )
      const checksOf = (ids: readonly string[]) => ids.flatMap((id) => known.get(id) ?? [])
      const data = applyResponses(emptyPostureData(), SESSION, [{ id: 'd', typeId: 'DOMAIN', domain }], NOW)
      const [merged = []] = index.grantsOf('me', ['it'])
      for (const type of TYPES) {
        const each = naive.grantingPolicies('me', 'it', type).map((id) => {
          return { id, name: id, checks: checksOf(naive.selectedBy('service-policies', id, 'posture-checks')) }
        })
        const together = merged
          .filter((grant) => grant.type === type)
          .map((grant) => ({ ...grant, checks: checksOf(grant.checks) }))
        const decision = evaluatePolicies(each, data, SESSION, NOW)
        const carrying = firstPassing(together, data, SESSION, NOW)
        expect(carrying !== undefined).toBe(decision.granted)
        if (carrying !== undefined && decision.granted) expect(decision.passing).toContain(carrying.policyId)
      }
    }),
    runs(2_000, 300),
  )
})
