import { applyResponses, emptyPostureData, recordMfaPass } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
// Internals: pure rules, tried by the thousand and at instants that no endpoint reports.
import { postureDataView, recordSdkInfo } from '../../../src/facts/access/posture/rules/index.ts'
import { at, reported, SESSION, START } from './checks.ts'

const never = { lastUpdatedAt: null, postureCheckId: '', timedOut: false }
const now = { lastUpdatedAt: new Date(START), postureCheckId: 'c1', timedOut: false }

describe('the view of posture data', () => {
  it('is empty for an identity that reported nothing', () => {
    expect(postureDataView(emptyPostureData())).toStrictEqual({
      apiSessionPostureData: {},
      domain: { ...never, domain: null },
      mac: { ...never, addresses: null },
      os: { ...never, build: null, type: null, version: null },
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
      domain: { ...now, domain: 'corp' },
      mac: { ...now, addresses: ['aabb'] },
      os: { ...now, build: '#1', type: 'Linux', version: '5.4.0' },
      processes: [
        { ...now, postureCheckId: 'c0', binaryHash: '', isRunning: false, signerFingerprints: [] },
        { ...now, binaryHash: 'ab', isRunning: true, signerFingerprints: ['cd'] },
      ],
    })
  })

  const unlock = { id: '0', typeId: 'ENDPOINT_STATE', unlocked: true } as const
  const passed = recordMfaPass(emptyPostureData(), SESSION, START)
  const unlocked = applyResponses(emptyPostureData(), SESSION, [unlock], at(10))
  it.each([
    ['an unlock without MFA', unlocked, null, false, false, false, 10],
    ['MFA passed', passed, 0, true, true, true, null],
    ['MFA passed after an unlock', recordMfaPass(unlocked, SESSION, at(20)), 20, true, true, true, 10],
    ['an unlock after MFA', applyResponses(passed, SESSION, [unlock], at(10)), 0, true, false, true, 10],
  ] as const)('shows %s', (_event, data, passed, passedMfa, passedOnUnlock, passedOnWake, unlockedSecond) => {
    const passedAt = passed === null ? null : new Date(at(passed))
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
