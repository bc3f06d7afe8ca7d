import {
  applyResponses,
  emptyPostureData,
  evaluatePolicies,
  explainFailure,
  type PostureCheck,
  recordMfaPass,
} from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import {
  at,
  domainCheck,
  macCheck,
  mfaCheck,
  osCheck,
  processCheck,
  processMultiCheck,
  reported,
  SESSION,
  START,
} from './checks.ts'

const passing = domainCheck('corp')
const failing = macCheck('14b22ce5f061')
const data = reported({ id: 'd', typeId: 'DOMAIN', domain: 'corp' })

function policy(id: string, ...checks: readonly PostureCheck[]) {
  return { id, name: `${id} policy`, checks }
}

describe('service policies with posture checks', () => {
  it.each([
    ['a policy without posture checks passes', [policy('p')], ['p']],
    ['a policy passes when all its checks pass', [policy('p', passing, passing)], ['p']],
    ['a policy fails when one of its checks fails', [policy('p', passing, failing)], undefined],
    ['one passing policy is enough', [policy('p', failing), policy('q', passing)], ['q']],
    ['a policy without checks grants beside one that fails', [policy('p', failing), policy('q')], ['q']],
    ['all passing policies are named', [policy('p', passing), policy('q', failing), policy('r')], ['p', 'r']],
    ['without any policy nothing is granted', [], undefined],
  ])('%s', (_rule, policies, granting) => {
    const decision = evaluatePolicies(policies, data, SESSION, START)
    expect(decision.granted ? decision.passing : undefined).toEqual(granting)
  })

  it('that fail are told with the checks that fail them', () => {
    const decision = evaluatePolicies([policy('p', passing, failing), policy('q', failing)], data, SESSION, START)
    const check = {
      postureCheckId: 'mac-check',
      postureCheckName: 'mac',
      postureCheckType: 'MAC',
      actualValue: [],
      expectedValue: ['14b22ce5f061'],
    }
    expect(decision).toEqual({
      granted: false,
      failures: [
        { policyId: 'p', policyName: 'p policy', checks: [check] },
        { policyId: 'q', policyName: 'q policy', checks: [check] },
      ],
    })
  })
})

const process = { id: 'process-check', typeId: 'PROCESS', path: '/usr/bin/av', isRunning: true, hash: 'AB' } as const
const windows = { type: 'Windows', versions: ['>=10'] } as const
const asked = { osType: 'Linux', path: '/usr/bin/av', hashes: ['cd'] } as const
const askedMulti = { ...asked, signerFingerprints: [] } as const

describe('a failing posture check', () => {
  it.each([
    ['OS, nothing reported', osCheck(windows), emptyPostureData(), { type: '', version: '' }, [windows]],
    [
      'OS',
      osCheck(windows),
      reported({ id: 'o', typeId: 'OS', type: 'Linux', version: '4.1.0' }),
      { type: 'Linux', version: '4.1.0' },
      [windows],
    ],
    ['DOMAIN, nothing reported', domainCheck('a', 'b'), emptyPostureData(), '', ['a', 'b']],
    ['DOMAIN', domainCheck('a'), data, 'corp', ['a']],
    ['MAC, nothing reported', macCheck('ab'), emptyPostureData(), [], ['ab']],
    ['MAC', macCheck('ab'), reported({ id: 'm', typeId: 'MAC', macAddresses: ['A:C'] }), ['ac'], ['ab']],
    [
      'PROCESS, nothing reported',
      processCheck({ ...asked, signerFingerprint: 'ef' }),
      emptyPostureData(),
      { hash: '', isRunning: false, signerFingerprints: null },
      { ...asked, signerFingerprint: 'ef' },
    ],
    [
      'PROCESS without a required signer',
      processCheck({ ...asked, signerFingerprint: '' }),
      reported(process),
      { hash: 'ab', isRunning: true, signerFingerprints: [] },
      asked,
    ],
    ['PROCESS_MULTI, nothing reported', processMultiCheck('AllOf', askedMulti), emptyPostureData(), [], [askedMulti]],
    [
      'PROCESS_MULTI',
      processMultiCheck('AllOf', askedMulti),
      reported(process),
      [{ hash: 'ab', isRunning: true, signerFingerprints: [], path: '/usr/bin/av' }],
      [askedMulti],
    ],
  ])('tells what was found and expected: %s', (_type, check, known, actualValue, expectedValue) => {
    const failure = explainFailure(check, known, SESSION, START)
    const { id: postureCheckId, name: postureCheckName, typeId: postureCheckType } = check
    const semantic = check.typeId === 'PROCESS_MULTI' ? { semantic: check.semantic } : {}
    const told = { postureCheckId, postureCheckName, postureCheckType, actualValue, expectedValue, ...semantic }
    expect(failure).toStrictEqual(told)
  })
})

describe('a failing MFA posture check', () => {
  const check = mfaCheck({ timeoutSeconds: 600, promptOnUnlock: true })
  const passed = recordMfaPass(emptyPostureData(), SESSION, START)
  const unlock = { id: '0', typeId: 'ENDPOINT_STATE', unlocked: true, woken: true } as const
  const pending = applyResponses(passed, SESSION, [unlock], at(10))
  const expected = { passedMfa: true, passedOnUnlock: true, passedOnWake: false, timedOut: false }
  const never = { passedMfa: false, passedOnUnlock: false, passedOnWake: false, timedOut: true }
  const fine = { passedMfa: true, passedOnUnlock: true, passedOnWake: true, timedOut: false }

  it.each([
    ['never passed', emptyPostureData(), 0, never, 0],
    ['passed', passed, 0, fine, 600],
    ['timed out', passed, 600, { ...fine, timedOut: true }, 0],
    ['unlocked, within the grace period', pending, 100, fine, 210],
    ['unlocked, after the grace period', pending, 310, { ...fine, passedOnUnlock: false }, 0],
  ])('tells what was found and expected: %s', (_situation, known, second, actualValue, remaining) => {
    const session = known.sessions[0]
    const date = (ms: number | null | undefined) => (typeof ms === 'number' ? new Date(ms).toISOString() : null)
    expect(explainFailure(check, known, SESSION, at(second))).toStrictEqual({
      postureCheckId: 'mfa-check',
      postureCheckName: 'mfa',
      postureCheckType: 'MFA',
      actualValue,
      expectedValue: expected,
      criteria: {
        passedMfaAt: date(session?.mfa?.passedAt),
        timeoutRemainingSeconds: remaining,
        timeoutSeconds: 600,
        unlockedAt: date(session?.unlockedAt),
        wokenAt: date(session?.wokenAt),
      },
    })
  })
})
