import { emptyPostureData, recordMfaPass } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
// Internals: the decision of edge routers, which no explanation asks for, in rows and orders that are tried one by one.
import {
  type DecisionFacts,
  type DecisionReason,
  decideAccess,
  type GuardedGrant,
  type PartyFacts,
} from '../../src/facts/access/decision.rules.ts'
import { at, domainCheck, macCheck, mfaCheck, reported, SESSION, START } from './posture/checks.ts'

const CORP = domainCheck('corp')
const FAILING = macCheck('14b22ce5f061')
const MFA = mfaCheck({ timeoutSeconds: 60 })
/** Passes until {@link MFA_ENDS} where the second factor was proved at the start. */
const MFA_ENDS = at(60)

const NOTHING = { data: emptyPostureData(), apiSessionId: SESSION }
const DATA = recordMfaPass(reported({ id: 'd', typeId: 'DOMAIN', domain: 'corp' }), SESSION, START)
const REPORTS = { data: DATA, apiSessionId: SESSION }

function dial(policyId: string, ...checks: GuardedGrant['checks']): GuardedGrant {
  return { policyId, type: 'Dial', checks }
}

function bind(policyId: string, ...checks: GuardedGrant['checks']): GuardedGrant {
  return { policyId, type: 'Bind', checks }
}

const PARTY: PartyFacts = { routerId: 'r1', lack: undefined, endsAt: undefined, isJudgedThere: false }
const ROUTERS = { ofIdentity: 2, ofService: 2, common: ['r1', 'r2'] }

/** A caller of the APIs with one grant without checks, unless told otherwise. */
function facts(change: Partial<DecisionFacts>): DecisionFacts {
  return {
    identity: { isDisabled: false },
    hasService: true,
    grants: [dial('p1')],
    posture: NOTHING,
    routers: ROUTERS,
    namesEveryPolicy: true,
    ...change,
  }
}

const decided = (change: Partial<DecisionFacts>) => decideAccess('Dial', facts(change), START)

/** Each obstacle of a party at an edge router, in the order in which the router learns of them, and the facts that bring it about. */
const AT_ROUTERS: readonly (readonly [DecisionReason, Partial<DecisionFacts>])[] = [
  ['not-a-tunneler', { party: { ...PARTY, lack: 'not-a-tunneler' } }],
  ['service-unknown', { hasService: false }],
  ['identity-unknown', { identity: undefined }],
  ['identity-disabled', { identity: { isDisabled: true } }],
  ['api-session-over', { party: { ...PARTY, lack: 'api-session-over' } }],
  ['factor-missing', { party: { ...PARTY, lack: 'factor-missing' } }],
  ['service-session-over', { party: { ...PARTY, lack: 'service-session-over' } }],
  ['no-policy-in-force', { grants: [], hasPolicyOutOfTerm: true }],
  ['no-policy-for-pair', { grants: [] }],
  ['only-other-type', { grants: [bind('p1')] }],
  ['no-edge-router-for-identity', { routers: { ...ROUTERS, ofIdentity: 0 } }],
  ['no-edge-router-for-service', { routers: { ...ROUTERS, ofService: 0 } }],
  ['no-common-edge-router', { routers: { ...ROUTERS, common: [] } }],
  ['other-edge-router', { routers: { ...ROUTERS, common: ['r2'] } }],
  ['posture-failing', { grants: [dial('p1', FAILING)] }],
]

describe('a party at an edge router', () => {
  it.each(AT_ROUTERS)('is refused: %s', (reason, change) => {
    expect(decided({ party: PARTY, ...change })).toMatchObject({ verdict: 'refused', reason })
  })

  const pairs = AT_ROUTERS.flatMap(([reason, change], position) =>
    AT_ROUTERS.slice(position + 1).flatMap(([later, changed]) => {
      // Two obstacles of one fact stand in each other's place.
      const isOneFact = Object.keys(change).some((name) => Object.hasOwn(changed, name))
      return isOneFact ? [] : [[reason, later, { ...change, ...changed }] as const]
    }),
  )
  it.each(pairs)('is told %s before %s', (reason, _later, both) => {
    expect(decided({ party: PARTY, ...both }).reason).toBe(reason)
  })

  it.each<[string, Partial<DecisionFacts>, DecisionReason]>([
    ['both may use its router', {}, 'granted'],
    ['edge routers do not matter', { routers: undefined }, 'granted'],
    ['another policy of the type is out of its term', { hasPolicyOutOfTerm: true }, 'granted'],
    [
      'its router judges posture',
      { grants: [dial('p1', FAILING)], party: { ...PARTY, isJudgedThere: true } },
      'granted',
    ],
    ['nothing hosts the service', { terminators: 0 }, 'no-terminators'],
  ])('is let in where %s', (_where, change, reason) => {
    expect(decided({ party: PARTY, ...change })).toMatchObject({ verdict: 'allowed', reason })
  })
})

describe('a caller of the APIs', () => {
  it.each<[string, Partial<DecisionFacts>]>([
    ['posture before edge routers', { grants: [dial('p1', FAILING)], routers: { ...ROUTERS, common: [] } }],
    ['no router of its own', { grants: [dial('p1', FAILING)], routers: undefined }],
  ])('is told of %s', (_what, change) => {
    expect(decided(change).reason).toBe('posture-failing')
  })

  it.each<[string, 'Dial' | 'Bind', Partial<DecisionFacts>, DecisionReason]>([
    ['a dial that nothing hosts', 'Dial', { terminators: 0 }, 'no-terminators'],
    ['a dial of which nobody counted the hosts', 'Dial', { terminators: undefined }, 'granted'],
    ['a dial of a hosted service', 'Dial', { terminators: 1 }, 'granted'],
    ['hosting what nothing hosts', 'Bind', { terminators: 0 }, 'granted'],
    ['routers that are away', 'Dial', { routers: { ...ROUTERS, online: [] } }, 'all-common-edge-routers-offline'],
    [
      'routers that are away, of a service that nothing hosts',
      'Dial',
      { routers: { ...ROUTERS, online: [] }, terminators: 0 },
      'all-common-edge-routers-offline',
    ],
    ['one router that is there', 'Dial', { routers: { ...ROUTERS, online: ['r2'] } }, 'granted'],
  ])('is let in, and told why nothing connects: %s', (_what, type, change, reason) => {
    const grants = [dial('p1'), bind('p2')]
    expect(decideAccess(type, facts({ grants, ...change }), START)).toMatchObject({ verdict: 'allowed', reason })
  })
})

describe('the policies and edge routers of a decision', () => {
  const grants = [dial('fails', FAILING), dial('asks', CORP), bind('other'), dial('asks too', CORP), dial('open')]
  it.each<[string, Partial<DecisionFacts>, readonly string[]]>([
    ['every policy that passes', { posture: REPORTS }, ['asks', 'asks too', 'open']],
    ['the policy without checks, if one is enough', { posture: REPORTS, namesEveryPolicy: false }, ['open']],
    ['the policy that nothing can take away, at a router', { posture: REPORTS, party: PARTY }, ['open']],
    [
      'every policy of the type without a look at posture',
      { posture: undefined },
      ['fails', 'asks', 'asks too', 'open'],
    ],
    ['the first of the type without a look at posture', { posture: undefined, namesEveryPolicy: false }, ['fails']],
    ['none without a report', { grants: grants.slice(0, 4) }, []],
    ['none of the other type', { grants: [bind('other')], posture: undefined }, []],
    [
      'those that pass for a refused identity as well',
      { identity: { isDisabled: true }, posture: REPORTS },
      ['asks', 'asks too', 'open'],
    ],
  ])('are %s', (_what, change, policies) => {
    expect(decided({ grants, ...change })).toMatchObject({ policies, routers: ['r1', 'r2'] })
  })

  it('are no edge routers where they do not matter', () => {
    expect(decided({ routers: undefined }).routers).toEqual([])
  })

  it.each<[string, readonly GuardedGrant[], Partial<DecisionFacts>, readonly string[], boolean]>([
    ['by reports', [dial('a', CORP), dial('b', CORP)], {}, ['a', 'b'], true],
    ['by the first of them', [dial('a', CORP), dial('b', CORP)], { namesEveryPolicy: false }, ['a'], true],
    ['without reports', [dial('a', CORP), dial('b'), dial('c')], {}, ['b', 'c'], false],
    ['without a look at posture', [dial('a', CORP)], { posture: undefined }, ['a'], false],
    ['by nothing', [dial('a', FAILING)], {}, [], false],
  ])('at a router hold %s', (_what, ofType, change, policies, isByReports) => {
    expect(decided({ grants: ofType, posture: REPORTS, party: PARTY, ...change })).toMatchObject({
      policies,
      isByReports,
    })
  })

  it('say nothing of reports to a caller of the APIs', () => {
    expect(decided({ grants: [dial('a', CORP)], posture: REPORTS }).isByReports).toBe(false)
  })
})

describe('the instant until which a decision holds', () => {
  const END = at(30)
  const ENDING: PartyFacts = { ...PARTY, endsAt: END }
  it.each<[string, Partial<DecisionFacts>, number | undefined]>([
    ['never without a check that ends', { grants: [dial('a', CORP)], posture: REPORTS }, undefined],
    ['the end of a check', { grants: [dial('a', MFA)], posture: REPORTS }, MFA_ENDS],
    [
      'the end of a check of a policy beside it',
      { grants: [dial('a', CORP), dial('b', MFA)], posture: REPORTS },
      MFA_ENDS,
    ],
    [
      'never, if the policy that is named has no such check',
      { grants: [dial('a', CORP), dial('b', MFA)], posture: REPORTS, namesEveryPolicy: false },
      undefined,
    ],
    [
      'never, if a check ends that carries nothing, beside a check that fails',
      { grants: [dial('a', CORP), dial('b', MFA, FAILING)], posture: REPORTS },
      undefined,
    ],
    ['the end of the API session', { party: ENDING }, END],
    [
      'the end of the API session before that of a check',
      { grants: [dial('a', MFA)], posture: REPORTS, party: ENDING },
      END,
    ],
    [
      'the end of a check before that of the API session',
      { grants: [dial('a', MFA)], posture: REPORTS, party: { ...ENDING, endsAt: at(90) } },
      MFA_ENDS,
    ],
    [
      'never for what no check carries',
      { grants: [dial('a', MFA), dial('b')], posture: REPORTS, party: PARTY },
      undefined,
    ],
    ['never without a look at posture', { grants: [dial('a', MFA)], posture: undefined }, undefined],
    ['never for a refusal', { hasService: false, party: ENDING }, undefined],
    ['the end of a disabling', { identity: { isDisabled: true, disabledUntil: END } }, END],
    ['never for who is disabled for good', { identity: { isDisabled: true, disabledUntil: null } }, undefined],
    ['never for who is disabled, as far as is known', { identity: { isDisabled: true } }, undefined],
    [
      'never for another obstacle than the disabling',
      { identity: { isDisabled: true, disabledUntil: END }, hasService: false },
      undefined,
    ],
    [
      'never for an end of a disabling that is over',
      { identity: { isDisabled: false, disabledUntil: END } },
      undefined,
    ],
  ])('is %s', (_what, change, until) => {
    expect(decided(change).until).toBe(until)
  })
})
