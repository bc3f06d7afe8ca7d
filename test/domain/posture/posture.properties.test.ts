import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyResponses,
  emptyPostureData,
  evaluateCheck,
  evaluatePolicies,
  explainFailure,
  nextDeadline,
  normaliseHex,
  OS_TYPES,
  type PostureCheck,
  type PostureData,
  type PostureResponse,
  parseVersionRange,
  postureDataView,
  postureQuery,
  recordMfaPass,
  timeoutRemaining,
} from '../../../src/facts/access/posture/rules/index.ts'
import { mfaCheck, SESSION } from './checks.ts'

// Few values each, so that reports and checks meet often; arbitrary text beside them.
const text = fc.oneof(fc.constantFrom('', '__proto__', '/a', '/b', 'ab', 'AB:', 'corp', 'Linux', '1.0.0'), fc.string())
const texts = fc.array(text, { maxLength: 3 })
const version = fc.oneof(fc.constantFrom('', '1', '1.2', '1.2.3', '5.15.0-91-generic', 'unknown'), fc.string())
const range = fc.oneof(fc.constantFrom('*', '>=1', '1.2.x', '!=1.2.x', '^1.2 || 5.x', '~1'), fc.string())
const osType = fc.constantFrom(...OS_TYPES)
const named = { id: text, name: text }
const second = fc.integer({ min: 0, max: 1000 })
const instantMs = second.map((value) => value * 1000)

const multiProcess = fc.record({ osType, path: text, hashes: texts, signerFingerprints: texts })
const check: fc.Arbitrary<PostureCheck> = fc.oneof(
  fc.record({
    ...named,
    typeId: fc.constant('OS' as const),
    operatingSystems: fc.array(fc.record({ type: osType, versions: fc.array(range, { maxLength: 2 }) })),
  }),
  fc.record({ ...named, typeId: fc.constant('DOMAIN' as const), domains: texts }),
  fc.record({ ...named, typeId: fc.constant('MAC' as const), macAddresses: texts }),
  fc.record({
    ...named,
    typeId: fc.constant('PROCESS' as const),
    process: fc.record({ osType, path: text, hashes: texts, signerFingerprint: text }),
  }),
  fc.record({
    ...named,
    typeId: fc.constant('PROCESS_MULTI' as const),
    semantic: fc.constantFrom('AllOf' as const, 'OneOf' as const, 'AnyOf' as const),
    processes: fc.array(multiProcess, { maxLength: 3 }),
  }),
  fc.record({
    ...named,
    typeId: fc.constant('MFA' as const),
    timeoutSeconds: fc.integer({ min: -1, max: 1000 }),
    promptOnWake: fc.boolean(),
    promptOnUnlock: fc.boolean(),
    ignoreLegacyEndpoints: fc.boolean(),
  }),
)

const response: fc.Arbitrary<PostureResponse> = fc.oneof(
  fc.record({ id: text, typeId: fc.constant('OS' as const), type: fc.oneof(osType, text), version, build: text }),
  fc.record({ id: text, typeId: fc.constant('DOMAIN' as const), domain: text }),
  fc.record({ id: text, typeId: fc.constant('MAC' as const), macAddresses: texts }),
  fc.record({
    id: text,
    typeId: fc.constant('PROCESS' as const),
    path: text,
    isRunning: fc.boolean(),
    hash: text,
    signerFingerprints: texts,
  }),
  fc.record({
    id: text,
    typeId: fc.constant('ENDPOINT_STATE' as const),
    unlocked: fc.boolean(),
    woken: fc.boolean(),
  }),
)

const data: fc.Arbitrary<PostureData> = fc
  .record({ responses: fc.array(response), reportedAt: instantMs, passedAt: fc.option(instantMs) })
  .map(({ responses, reportedAt, passedAt }) => {
    const reported = applyResponses(emptyPostureData(), SESSION, responses, reportedAt)
    return passedAt === null ? reported : recordMfaPass(reported, SESSION, passedAt)
  })

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
        expect(postureQuery(one, known, SESSION, now).isPassing).toBe(passes)
        expect(explainFailure(one, known, SESSION, now).postureCheckType).toBe(one.typeId)
        expect(postureDataView(known).processes).toHaveLength(known.processes.length)
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
          expect(timeoutRemaining(one, known, SESSION, now) > 0).toBe(evaluateCheck(one, known, SESSION, now))
        },
      ),
    )
  })
})

describe('normalisation', () => {
  it('reads or refuses any text as a version range', () => {
    fc.assert(fc.property(fc.oneof(range, fc.string()), (one) => typeof parseVersionRange(one).ok === 'boolean'))
  })

  it('keeps what is normalised already', () => {
    fc.assert(
      fc.property(fc.string(), (one) => {
        const digits = normaliseHex(one)
        expect(normaliseHex(digits ?? '')).toBe(digits)
      }),
    )
  })
})
