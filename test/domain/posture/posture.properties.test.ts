import fc from 'fast-check'
import {
  emptyPostureData,
  evaluateCheck,
  evaluatePolicies,
  explainFailure,
  nextDeadline,
  type PostureData,
} from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { check, data, instantMs, named, range } from './arbitraries.ts'
import { mfaCheck, osCheck, reported, SESSION, START } from './checks.ts'

const policy = fc.record({ ...named, checks: fc.array(check, { maxLength: 3 }) })
const policies = fc.array(policy, { maxLength: 4 })

describe('access through service policies', () => {
  it('is never gained by adding a posture check to the only policy', () => {
    fc.assert(
      fc.property(policy, check, data, instantMs, (only, added, known, now) => {
        const before = evaluatePolicies([only], known, SESSION, now)
        const after = evaluatePolicies([{ ...only, checks: [...only.checks, added] }], known, SESSION, now)
        expect(after.granted && !before.granted).toBe(false)
      }),
    )
  })

  it('is never lost by adding a policy, passing or failing', () => {
    fc.assert(
      fc.property(policies, policy, data, instantMs, (some, added, known, now) => {
        const before = evaluatePolicies(some, known, SESSION, now)
        const after = evaluatePolicies([...some, added], known, SESSION, now)
        expect(before.granted && !after.granted).toBe(false)
      }),
    )
  })

  it('is always granted beside a policy without checks', () => {
    fc.assert(
      fc.property(policies, data, instantMs, (some, known, now) => {
        const free = { id: 'free', name: 'free', checks: [] }
        const decision = evaluatePolicies([...some, free], known, SESSION, now)
        expect(decision.granted && decision.passing).toContain('free')
      }),
    )
  })

  it('is denied with exactly the checks that fail', () => {
    fc.assert(
      fc.property(policies, data, instantMs, (some, known, now) => {
        const decision = evaluatePolicies(some, known, SESSION, now)
        if (decision.granted) return
        const failing = some.map(({ checks }) => checks.filter((one) => !evaluateCheck(one, known, SESSION, now)))
        expect(decision.failures.map((failure) => failure.checks.length)).toEqual(failing.map((one) => one.length))
        expect(failing.every((one) => one.length > 0)).toBe(true)
      }),
    )
  })
})

describe('posture evaluation', () => {
  it('answers for every check and report, and alike after storage as JSON', () => {
    fc.assert(
      fc.property(check, data, instantMs, (one, known, now) => {
        const restored: PostureData = JSON.parse(JSON.stringify(known))
        const passes = evaluateCheck(one, known, SESSION, now)
        expect(evaluateCheck(one, restored, SESSION, now)).toBe(passes)
        expect(explainFailure(one, known, SESSION, now).postureCheckType).toBe(one.typeId)
      }),
    )
  })

  it('fails every check while nothing was reported', () => {
    fc.assert(
      fc.property(check, instantMs, (one, now) => {
        expect(evaluateCheck(one, emptyPostureData(), SESSION, now)).toBe(false)
      }),
    )
  })

  it('changes by itself exactly at the next deadline', () => {
    fc.assert(
      fc.property(check, data, instantMs, (one, known, now) => {
        const passes = (instant: number) => evaluateCheck(one, known, SESSION, instant)
        const deadline = nextDeadline(one, known, SESSION, now)
        if (deadline === undefined) expect(passes(now + 1e9)).toBe(passes(now))
        else expect([now, deadline - 1, deadline].map(passes)).toEqual([true, true, false])
      }),
    )
  })

  it('passes an MFA check with a timeout exactly while time remains', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.boolean(),
        data,
        instantMs,
        (seconds, promptOnWake, known, now) => {
          const one = mfaCheck({ timeoutSeconds: seconds, promptOnWake })
          const failure = explainFailure(one, known, SESSION, now)
          const isLeft = failure.postureCheckType === 'MFA' && failure.criteria.timeoutRemainingSeconds > 0
          expect(isLeft).toBe(evaluateCheck(one, known, SESSION, now))
        },
      ),
    )
  })
})

describe('normalisation', () => {
  it('reads or refuses any text as a version range', () => {
    const os = reported({ id: 'any', typeId: 'OS', type: 'Linux', version: '1.2.3' })
    const passes = (one: string) => evaluateCheck(osCheck({ type: 'Linux', versions: [one] }), os, SESSION, START)
    fc.assert(fc.property(fc.oneof(range, fc.string()), (one) => typeof passes(one) === 'boolean'))
  })

  it('keeps what is normalised already', () => {
    fc.assert(
      fc.property(fc.string(), (one) => {
        const kept = (macAddresses: readonly string[]) =>
          reported({ id: 'any', typeId: 'MAC', macAddresses: [...macAddresses] }).mac?.addresses ?? []
        const digits = kept([one])
        expect(kept(digits)).toEqual(digits)
      }),
    )
  })
})
