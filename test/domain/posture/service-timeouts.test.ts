import { applyResponses, clearMfa, emptyPostureData, recordMfaPass } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
// Internals: pure rules, tried by the thousand and at instants that no endpoint reports.
import { serviceTimeouts } from '../../../src/facts/access/posture/rules/index.ts'
import { at, macCheck, mfaCheck, SESSION, START } from './checks.ts'

const passed = recordMfaPass(emptyPostureData(), SESSION, START)
const unlock = { id: '0', typeId: 'ENDPOINT_STATE', unlocked: true } as const
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
