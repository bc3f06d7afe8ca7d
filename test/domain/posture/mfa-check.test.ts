import {
  applyResponses,
  clearMfa,
  emptyPostureData,
  evaluateCheck,
  explainFailure,
  type MfaCheck,
  nextDeadline,
  type PostureData,
  recordMfaPass,
} from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { at, mfaCheck, osCheck, reported, SESSION } from './checks.ts'

/** The posture data after events told as `<second> <pass|wake|unlock|no event|remove MFA>, …`. */
function history(events: string, data: PostureData = emptyPostureData()): PostureData {
  return events.split(', ').reduce((known, event) => {
    const [second = '', ...words] = event.split(' ')
    const what = words.join(' ')
    if (what === 'pass') return recordMfaPass(known, SESSION, at(Number(second)))
    if (what === 'remove MFA') return clearMfa(known)
    const state = { id: '0', typeId: 'ENDPOINT_STATE', woken: what === 'wake', unlocked: what === 'unlock' } as const
    return event === 'nothing' ? known : applyResponses(known, SESSION, [state], at(Number(second)))
  }, data)
}

/** The timeout of a check in seconds, and the seconds that are left of it, as the record of a failed request tells them. */
function timeoutOf(check: MfaCheck, data: PostureData, second: number) {
  const failure = explainFailure(check, data, SESSION, at(second))
  if (failure.postureCheckType !== 'MFA') throw new Error('the check is of another type')
  return failure.criteria
}

function timeoutRemaining(check: MfaCheck, data: PostureData, second: number): number {
  return timeoutOf(check, data, second).timeoutRemainingSeconds
}

const plain = {}
const wake = { promptOnWake: true }
const unlock = { promptOnUnlock: true }
const hour = { timeoutSeconds: 3600 }
const hourUnlock = { ...hour, ...unlock }

describe('MFA posture check', () => {
  it.each<[string, Partial<MfaCheck>, string, number, boolean, number, number | undefined]>([
    // situation, check, events, evaluated at, passes, seconds remaining, fails by itself at
    ['fails before MFA was passed', hour, 'nothing', 0, false, 0, undefined],
    ['fails before MFA was passed, without timeout', plain, 'nothing', 0, false, -1, undefined],
    ['fails after a wake without MFA', { ...hour, ...wake }, '0 wake', 1, false, 0, undefined],
    ['passes once MFA was passed', hour, '0 pass', 0, true, 3600, 3600],
    ['passes until the timeout', hour, '0 pass', 3599.999, true, 1, 3600],
    ['fails when the timeout elapses', hour, '0 pass', 3600, false, 0, undefined],
    ['passes after a new pass', hour, '0 pass, 3600 pass', 3700, true, 3500, 7200],
    ['never times out with timeout 0', { timeoutSeconds: 0 }, '0 pass', 1e9, true, -1, undefined],
    ['never times out with timeout -1', { timeoutSeconds: -1 }, '0 pass', 1e9, true, -1, undefined],
    ['fails when MFA was removed', hour, '0 pass, 1 remove MFA', 2, false, 0, undefined],
    ['has a grace period after a wake', wake, '0 pass, 10 wake', 309.999, true, -1, 310],
    ['fails when the grace period ends', wake, '0 pass, 10 wake', 310, false, -1, undefined],
    ['passes when a code was given in the grace period', wake, '0 pass, 10 wake, 20 pass', 900, true, -1, undefined],
    ['passes when a code was given after it', wake, '0 pass, 10 wake, 900 pass', 901, true, -1, undefined],
    ['takes no notice of a wake it does not prompt on', unlock, '0 pass, 10 wake', 900, true, -1, undefined],
    ['takes no notice of an unlock it does not prompt on', wake, '0 pass, 10 unlock', 900, true, -1, undefined],
    ['takes no notice of a state without an event', unlock, '0 pass, 10 no event', 900, true, -1, undefined],
    [
      'keeps an unlock when a later state has none',
      unlock,
      '0 pass, 10 unlock, 20 no event',
      310,
      false,
      -1,
      undefined,
    ],
    ['has a grace period after an unlock', hourUnlock, '0 pass, 100 unlock', 100, true, 300, 400],
    ['counts the grace period down', hourUnlock, '0 pass, 100 unlock', 250, true, 150, 400],
    ['fails after it', hourUnlock, '0 pass, 100 unlock', 401, false, 0, undefined],
    ['does not begin its grace period anew', wake, '0 pass, 10 wake, 200 wake', 309, true, -1, 310],
    ['fails at the end of the first grace period', wake, '0 pass, 10 wake, 200 wake', 310, false, -1, undefined],
    ['goes on failing after another unlock', hourUnlock, '0 pass, 100 unlock, 500 unlock', 501, false, 0, undefined],
    ['counts events from the last code on', wake, '0 pass, 10 wake, 20 pass, 200 wake', 499, true, -1, 500],
    ['takes a wake before MFA as answered by it', wake, '0 wake, 0 pass', 900, true, -1, undefined],
    [
      'takes a wake after MFA as unanswered, in the same instant too',
      wake,
      '0 pass, 0 wake',
      300,
      false,
      -1,
      undefined,
    ],
    ['begins anew with a new code', hourUnlock, '0 pass, 100 unlock, 401 pass', 401, true, 3600, 4001],
    ['times out in a grace period', hourUnlock, '0 pass, 3400 unlock', 3400, true, 200, 3600],
    [
      'ends with the sooner of two grace periods',
      { ...wake, ...unlock },
      '0 pass, 10 wake, 50 unlock',
      60,
      true,
      -1,
      310,
    ],
    [
      'fails when either grace period ended',
      { ...wake, ...unlock },
      '0 pass, 10 wake, 50 unlock',
      320,
      false,
      -1,
      undefined,
    ],
    ['has no more than its timeout when the clock was set back', hour, '0 pass', -60, true, 3600, 3600],
  ])('%s', (_rule, options, events, second, passes, remaining, deadline) => {
    const check = mfaCheck(options)
    const data = history(events)
    expect(evaluateCheck(check, data, SESSION, at(second))).toBe(passes)
    expect(timeoutRemaining(check, data, second)).toBe(remaining)
    expect(nextDeadline(check, data, SESSION, at(second))).toBe(deadline === undefined ? undefined : at(deadline))
  })

  it('counts for the API session that passed, not for another of the identity', () => {
    const data = history('0 pass')
    expect(evaluateCheck(mfaCheck(), data, 'session-2', at(1))).toBe(false)
    expect(evaluateCheck(mfaCheck(), { ...data, sessions: [] }, SESSION, at(1))).toBe(false)
  })

  it('has no deadline where it is another kind of check', () => {
    const data = reported({ id: 'any', typeId: 'OS', type: 'Linux', version: '1.0.0' })
    expect(nextDeadline(osCheck({ type: 'Linux', versions: [] }), data, SESSION, at(0))).toBeUndefined()
  })

  it.each([
    [0, -1],
    [-1, -1],
    [-30, -1],
    [1, 1],
    [3600, 3600],
  ])('timeoutSeconds %i counts as %i', (given, counted) => {
    expect(timeoutOf(mfaCheck({ timeoutSeconds: given }), emptyPostureData(), 0).timeoutSeconds).toBe(counted)
  })
})

describe('a timed-out MFA pass', () => {
  const short = mfaCheck({ timeoutSeconds: 60 })
  const checks = [short, mfaCheck(hour), mfaCheck()]

  it('fails the checks whose timeout has elapsed, and no other, until the next pass', () => {
    const passed = history('0 pass')
    expect(checks.map((check) => evaluateCheck(check, passed, SESSION, at(60)))).toEqual([false, true, true])
    expect(checks.map((check) => timeoutRemaining(check, passed, 60))).toEqual([0, 3540, -1])
    const again = history('61 pass', passed)
    expect(checks.map((check) => evaluateCheck(check, again, SESSION, at(61)))).toEqual([true, true, true])
  })
})

describe('legacy endpoints', () => {
  it.each([
    ['the C SDK of 0.25.0', { type: 'ziti-sdk-c', version: '0.25.0' }, false],
    ['a newer C SDK', { type: 'ziti-sdk-c', version: '1.0.0' }, false],
    ['an older C SDK', { type: 'ziti-sdk-c', version: '0.24.9' }, true],
    ['a prerelease of 0.25.0', { type: 'ziti-sdk-c', version: '0.25.0-rc1' }, true],
    ['a C SDK of unreadable version', { type: 'ziti-sdk-c', version: 'main' }, true],
    ['a C SDK without version', { type: 'ziti-sdk-c' }, true],
    ['another SDK', { type: 'ziti-sdk-golang', version: '1.0.0' }, true],
    ['an SDK that says nothing', {}, true],
  ])('%s', (_sdk, sdkInfo, legacy) => {
    const { sessions, ...others } = history('0 pass')
    const data = { ...others, sessions: sessions.map((session) => ({ ...session, sdkInfo })) }
    const sparing = mfaCheck({ ...hour, ignoreLegacyEndpoints: true })
    expect(timeoutRemaining(sparing, data, 0)).toBe(legacy ? -1 : 3600)
    expect(timeoutRemaining(mfaCheck(hour), data, 0)).toBe(3600)
    expect(evaluateCheck(sparing, data, SESSION, at(3600))).toBe(false)
  })

  it('are also those whose SDK is unknown', () => {
    const sparing = mfaCheck({ ...hour, ignoreLegacyEndpoints: true })
    expect(timeoutRemaining(sparing, history('0 pass'), 0)).toBe(-1)
    expect(timeoutRemaining(sparing, emptyPostureData(), 0)).toBe(0)
  })
})
