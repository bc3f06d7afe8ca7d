import { explanationText, type Reason } from 'portcullis'
import type { AccessFacts, SuggestionKind } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { CORP, explained, policy, REASONS, router } from './facts.ts'

interface Row {
  readonly reason: Reason
  readonly allowed?: true
  readonly change: Partial<AccessFacts>
  readonly suggests: readonly SuggestionKind[]
  readonly says: string
}

const alice = { id: 'i1', name: 'alice', roleAttributes: ['users'], isDisabled: false }

const OVER = { phase: 'over', startsAt: null, until: 0, reason: null, givenBy: null } as const

const ROWS: readonly Row[] = [
  {
    reason: 'identity-unknown',
    change: { identity: undefined },
    suggests: ['check-spelling'],
    says: "'alice' may not dial 'web': there is no such identity.",
  },
  {
    reason: 'service-unknown',
    change: { service: undefined },
    suggests: ['check-spelling'],
    says: "'alice' may not dial 'web': there is no such service.",
  },
  {
    reason: 'identity-disabled',
    change: { identity: { ...alice, isDisabled: true } },
    suggests: ['enable-identity'],
    says: "'alice' may not dial 'web': the identity is disabled.",
  },
  {
    reason: 'no-policy-in-force',
    change: { policies: [policy({ term: OVER })] },
    suggests: ['change-term'],
    says: "'alice' may not dial 'web': service policies select both, but none of them is in force.",
  },
  {
    reason: 'no-policy-for-pair',
    change: { policies: [policy({ serviceRoles: ['#other'] })] },
    suggests: ['add-role-attributes', 'create-service-policy'],
    says: "'alice' may not dial 'web': no service policy selects both.",
  },
  {
    reason: 'only-other-type',
    change: { policies: [policy({ type: 'Bind' })] },
    suggests: ['create-service-policy'],
    says: "'alice' may not dial 'web': service policies select both, but only for the other of Dial and Bind.",
  },
  {
    reason: 'posture-failing',
    change: { policies: [policy({ checks: [CORP] })] },
    suggests: ['fulfil-posture-check'],
    says: "'alice' may not dial 'web': every service policy that selects both has a posture check that fails.",
  },
  {
    reason: 'no-edge-router-for-identity',
    change: { identityRouters: [] },
    suggests: ['assign-edge-router-to-identity'],
    says: "'alice' may not dial 'web': no edge router policy gives the identity an edge router.",
  },
  {
    reason: 'no-edge-router-for-service',
    change: { serviceRouters: [] },
    suggests: ['assign-edge-router-to-service'],
    says: "'alice' may not dial 'web': no service edge router policy gives the service an edge router.",
  },
  {
    reason: 'no-common-edge-router',
    change: { serviceRouters: [router('r3')] },
    suggests: ['share-edge-router'],
    says: "'alice' may not dial 'web': the identity and the service have no edge router in common.",
  },
  {
    reason: 'all-common-edge-routers-offline',
    allowed: true,
    change: { identityRouters: [router('r1', false), router('r2')] },
    suggests: ['bring-edge-router-online'],
    says: "'alice' may dial 'web', but nothing will connect, because all of their common edge routers are offline.",
  },
  {
    reason: 'no-terminators',
    allowed: true,
    change: { hosts: { terminatorCount: 0, hosts: [], mayBindCount: 2 } },
    suggests: ['host-service'],
    says: "'alice' may dial 'web', but nothing will connect, because nothing hosts the service: it has no terminator.",
  },
  { reason: 'granted', allowed: true, change: {}, suggests: [], says: "'alice' may dial 'web'." },
]

describe('the reason of an explanation', () => {
  it('is one of a closed list, each with a row below', () => {
    expect(ROWS.map(({ reason }) => reason)).toEqual(REASONS)
  })

  it.each(ROWS)('$reason', ({ reason, allowed = false, change, suggests, says }) => {
    const explanation = explained(change)
    expect(explanation).toMatchObject({ reason, allowed })
    expect(explanation.suggestions.map(({ kind }) => kind)).toEqual(suggests)
    expect(explanationText(explanation).split('\n')[0]).toBe(says)
  })

  it('comes with steps against all obstacles at once, in the order of the checks', () => {
    const hosts = { terminatorCount: 0, hosts: [], mayBindCount: 0 }
    const change = { identity: { ...alice, isDisabled: true }, identityRouters: [], serviceRouters: [], hosts }
    const { reason, suggestions } = explained({ ...change, policies: [policy({ checks: [CORP] })] })
    expect([reason, ...suggestions.map(({ kind }) => kind)]).toEqual([
      'identity-disabled',
      'enable-identity',
      'fulfil-posture-check',
      'assign-edge-router-to-identity',
      'assign-edge-router-to-service',
      'host-service',
    ])
    expect(suggestions.at(-1)?.text).toContain('Create a Bind service policy')
  })

  it.each([
    [{ edgeRouters: 0, ofIdentity: 1, ofService: 1 }, ['create-edge-router']],
    [{ edgeRouters: 0, ofIdentity: 0, ofService: 1 }, ['create-edge-router', 'assign-edge-router-to-identity']],
    [{ edgeRouters: 2, ofIdentity: 1, ofService: 0 }, ['select-edge-router', 'assign-edge-router-to-service']],
    [{ edgeRouters: 2, ofIdentity: 1, ofService: 1 }, ['select-edge-router', 'select-edge-router']],
  ])('comes without steps to router policies that exist: %j', (routerPolicies, suggests) => {
    const { suggestions } = explained({ identityRouters: [], serviceRouters: [], routerPolicies })
    expect(suggestions.map(({ kind }) => kind)).toEqual(suggests)
  })

  it.each(REASONS.map((reason, position) => [reason, REASONS.slice(position + 1)] as const))(
    '%s comes before %j',
    (reason, later) => {
      const everything = [reason, ...later].map((one) => ROWS.find((row) => row.reason === one)?.change ?? {})
      // The first obstacle wins, so its facts are laid over those of every later one.
      expect(explained(Object.assign({}, ...everything.reverse())).reason).toBe(reason)
    },
  )
})
