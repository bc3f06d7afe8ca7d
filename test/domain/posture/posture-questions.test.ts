import fc from 'fast-check'
import { applyResponses, clearMfa, emptyPostureData, evaluateCheck, recordMfaPass } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
// Internals: the questions to endpoints and the views of reports, at instants and of states that no endpoint brings about.
import {
  postureDataView,
  postureQuery,
  queryUpdatedAt,
  recordSdkInfo,
  serviceTimeouts,
} from '../../../src/facts/access/posture/rules/index.ts'
import { check, data, instantMs } from './arbitraries.ts'
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

const passed = recordMfaPass(emptyPostureData(), SESSION, START)
const unlock = { id: '0', typeId: 'ENDPOINT_STATE', unlocked: true } as const
const none = { timeout: -1, timeoutRemaining: -1, processes: [] }
const unlocked = applyResponses(passed, SESSION, [unlock], at(100))

describe('posture queries', () => {
  it.each([
    ['OS', osCheck({ type: 'Linux', versions: [] }), { ...none, queryType: 'OS', isPassing: false }],
    ['DOMAIN', domainCheck('corp'), { ...none, queryType: 'DOMAIN', isPassing: true }],
    ['MAC', macCheck('ab'), { ...none, queryType: 'MAC', isPassing: false }],
    [
      'PROCESS, without hashes and signer',
      processCheck({ hashes: ['ab'], signerFingerprint: 'cd' }),
      { ...none, queryType: 'PROCESS', isPassing: false, process: { osType: 'Linux', path: '/usr/bin/av' } },
    ],
    [
      'PROCESS_MULTI, without hashes and signers',
      processMultiCheck('AllOf', { path: '/a', hashes: ['ab'] }, { path: '/b', osType: 'Windows' }),
      {
        ...none,
        queryType: 'PROCESS_MULTI',
        isPassing: false,
        processes: [
          { osType: 'Linux', path: '/a' },
          { osType: 'Windows', path: '/b' },
        ],
      },
    ],
  ])('ask for %s', (_type, check, query) => {
    const data = reported({ id: 'd', typeId: 'DOMAIN', domain: 'corp' })
    expect(postureQuery(check, data, SESSION, START)).toStrictEqual(query)
  })

  const mfa = { queryType: 'MFA', processes: [] }
  it.each([
    ['without timeout', {}, passed, 5, { ...mfa, isPassing: true, timeout: -1, timeoutRemaining: -1 }],
    [
      'with a timeout',
      { timeoutSeconds: 3600 },
      passed,
      600,
      { ...mfa, isPassing: true, timeout: 3600, timeoutRemaining: 3000, timeoutAt: at(3600) },
    ],
    [
      'never passed',
      { timeoutSeconds: 3600, promptOnWake: true },
      emptyPostureData(),
      5,
      { ...mfa, isPassing: false, timeout: 3600, timeoutRemaining: 0, timeoutAt: at(5), promptOnWake: true },
    ],
    [
      'in a grace period',
      { timeoutSeconds: 3600, promptOnUnlock: true },
      unlocked,
      250,
      { ...mfa, isPassing: true, timeout: 3600, timeoutRemaining: 150, timeoutAt: at(400), promptOnUnlock: true },
    ],
  ])('ask for MFA %s', (_situation, options, data, second, query) => {
    expect(postureQuery(mfaCheck(options), data, SESSION, at(second))).toStrictEqual(query)
  })

  it.each([
    ['with the check', mfaCheck({ promptOnUnlock: true }), passed, 0, 0],
    ['with a later unlock', mfaCheck({ promptOnUnlock: true }), unlocked, 0, 100],
    ['with the check after the unlock', mfaCheck({ promptOnUnlock: true }), unlocked, 200, 200],
    ['not with an unlock it does not prompt on', mfaCheck({ promptOnWake: true }), unlocked, 0, 0],
    ['not with an unlock where it asks for something else', macCheck('ab'), unlocked, 0, 0],
  ])('change %s', (_cause, check, data, updated, changed) => {
    expect(queryUpdatedAt(check, data, SESSION, at(updated))).toBe(at(changed))
  })

  it('do not change with an unlock before MFA was ever passed', () => {
    const data = reported({ id: '0', typeId: 'ENDPOINT_STATE', unlocked: true })
    expect(queryUpdatedAt(mfaCheck({ promptOnUnlock: true }), data, SESSION, at(-50))).toBe(at(-50))
  })
})

const notReported = { lastUpdatedAt: null, postureCheckId: '', timedOut: false }
const reportedNow = { lastUpdatedAt: new Date(START), postureCheckId: 'c1', timedOut: false }

describe('the view of posture data', () => {
  it('is empty for an identity that reported nothing', () => {
    expect(postureDataView(emptyPostureData())).toStrictEqual({
      apiSessionPostureData: {},
      domain: { ...notReported, domain: null },
      mac: { ...notReported, addresses: null },
      os: { ...notReported, build: null, type: null, version: null },
      processes: [],
    })
  })

  it('shows what was reported', () => {
    const data = reported(
      { id: 'c1', typeId: 'OS', type: 'Linux', version: '5.4.0', build: '#1' },
      { id: 'c1', typeId: 'DOMAIN', domain: 'corp' },
      { id: 'c1', typeId: 'MAC', macAddresses: ['AA:BB'] },
      { id: 'c0', typeId: 'PROCESS', path: '/a' },
      { id: 'c1', typeId: 'PROCESS', path: '/b', isRunning: true, hash: 'AB', signerFingerprints: ['CD'] },
    )
    expect(postureDataView(data)).toStrictEqual({
      apiSessionPostureData: {},
      domain: { ...reportedNow, domain: 'corp' },
      mac: { ...reportedNow, addresses: ['aabb'] },
      os: { ...reportedNow, build: '#1', type: 'Linux', version: '5.4.0' },
      processes: [
        { ...reportedNow, postureCheckId: 'c0', binaryHash: '', isRunning: false, signerFingerprints: [] },
        { ...reportedNow, binaryHash: 'ab', isRunning: true, signerFingerprints: ['cd'] },
      ],
    })
  })

  const unlockedFirst = applyResponses(emptyPostureData(), SESSION, [unlock], at(10))
  it.each([
    ['an unlock without MFA', unlockedFirst, null, false, false, false, 10],
    ['MFA passed', passed, 0, true, true, true, null],
    ['MFA passed after an unlock', recordMfaPass(unlockedFirst, SESSION, at(20)), 20, true, true, true, 10],
    ['an unlock after MFA', applyResponses(passed, SESSION, [unlock], at(10)), 0, true, false, true, 10],
  ] as const)('shows %s', (_event, data, passedSecond, passedMfa, passedOnUnlock, passedOnWake, unlockedSecond) => {
    const passedAt = passedSecond === null ? null : new Date(at(passedSecond))
    const unlockedAt = unlockedSecond === null ? null : new Date(at(unlockedSecond))
    expect(postureDataView(data).apiSessionPostureData).toStrictEqual({
      [SESSION]: {
        endpointState: { unlockedAt, wokenAt: null },
        mfa: { apiSessionId: SESSION, passedAt, passedMfa, passedOnUnlock, passedOnWake },
      },
    })
  })

  it('shows what the SDK said about itself', () => {
    const data = recordSdkInfo(emptyPostureData(), SESSION, { type: 'ziti-sdk-c', version: '1.0.0' })
    expect(postureDataView(data).apiSessionPostureData[SESSION]?.sdkInfo).toEqual({
      type: 'ziti-sdk-c',
      version: '1.0.0',
    })
  })

  it('shows an API session whatever its id is called', () => {
    const view = postureDataView(recordMfaPass(emptyPostureData(), '__proto__', START))
    expect(Object.keys(view.apiSessionPostureData)).toEqual(['__proto__'])
    expect(JSON.stringify(view)).toContain('"__proto__":{"endpointState"')
  })
})

const wake = { id: '0', typeId: 'ENDPOINT_STATE', woken: true, unlocked: false } as const
const onUnlock = mfaCheck({ promptOnUnlock: true })
const onWake = mfaCheck({ promptOnWake: true })
const hour = mfaCheck({ promptOnUnlock: true, promptOnWake: true, timeoutSeconds: 3600 })
const day = { ...hour, timeoutSeconds: 86400 }

describe('services told when an MFA grace period begins', () => {
  it.each([
    ['told on an unlock the check prompts on', [onUnlock], [unlock], 0, -1],
    ['told on a wake the check prompts on', [onWake], [wake], 0, -1],
    ['not told on a wake it does not prompt on', [onUnlock], [wake], 0, undefined],
    ['not told on an unlock it does not prompt on', [onWake], [unlock], 0, undefined],
    ['not told without unlock or wake', [onUnlock], [{ ...unlock, unlocked: false }], 0, undefined],
    ['not told without endpoint state', [onUnlock], [{ id: 'd', typeId: 'DOMAIN', domain: 'corp' }], 0, undefined],
    ['told with the timeout of the check', [hour], [unlock], 100, 3600],
    ['told while more than the grace period remains', [hour], [unlock], 3299, 3600],
    ['not told when the timeout comes first anyway', [hour], [unlock], 3400, undefined],
    ['not told when exactly the grace period remains', [hour], [wake], 3300, undefined],
    ['told with the lowest timeout', [day, onUnlock, hour], [unlock], 0, 3600],
    ['not told for other checks', [macCheck('ab')], [unlock], 0, undefined],
    ['not told without checks', [], [unlock], 0, undefined],
  ] as const)('%s', (_rule, checks, responses, second, timeout) => {
    const told = serviceTimeouts(
      [{ id: 's', name: 'web', checks }],
      applyResponses(passed, SESSION, responses, at(second)),
      SESSION,
      responses,
      at(second),
    )
    const entry = { id: 's', name: 'web', postureQueryType: 'MFA', timeoutRemaining: 300 }
    expect(told).toEqual(timeout === undefined ? [] : [{ ...entry, timeout }])
  })

  it.each([
    ['told of what is left of a running grace period', 100, 200],
    ['told of its last second', 299, 1],
    ['not told when it ended without a code', 300, undefined],
  ])('%s when another unlock follows', (_rule, second, timeoutRemaining) => {
    const first = applyResponses(passed, SESSION, [unlock], START)
    const again = applyResponses(first, SESSION, [unlock], at(second))
    const told = serviceTimeouts([{ id: 's', name: 'web', checks: [onUnlock] }], again, SESSION, [unlock], at(second))
    expect(told.map((service) => service.timeoutRemaining)).toEqual(
      timeoutRemaining === undefined ? [] : [timeoutRemaining],
    )
  })

  it.each([
    ['never passed MFA', emptyPostureData()],
    ['lost MFA', clearMfa(passed)],
  ])('are none when the API session %s', (_situation, data) => {
    const services = [{ id: 's', name: 'web', checks: [onUnlock] }]
    expect(serviceTimeouts(services, applyResponses(data, SESSION, [unlock], at(1)), SESSION, [unlock], at(1))).toEqual(
      [],
    )
  })
})

it('every check is asked for as it is decided, and every reported process is shown', () => {
  fc.assert(
    fc.property(check, data, instantMs, (one, known, now) => {
      expect(postureQuery(one, known, SESSION, now).isPassing).toBe(evaluateCheck(one, known, SESSION, now))
      expect(postureDataView(known).processes).toHaveLength(known.processes.length)
    }),
  )
})
