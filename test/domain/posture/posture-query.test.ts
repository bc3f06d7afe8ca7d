import { applyResponses, emptyPostureData, recordMfaPass } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
// Internals: pure rules, tried by the thousand and at instants that no endpoint reports.
import { postureQuery, queryUpdatedAt } from '../../../src/facts/access/posture/rules/index.ts'
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

const none = { timeout: -1, timeoutRemaining: -1, processes: [] }
const passed = recordMfaPass(emptyPostureData(), SESSION, START)
const unlocked = applyResponses(passed, SESSION, [{ id: '0', typeId: 'ENDPOINT_STATE', unlocked: true }], at(100))

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
