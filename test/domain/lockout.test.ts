import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import { afterFailure, isLocked, NO_FAILED_ATTEMPTS } from '../../src/facts/credentials/lockout.rules.ts'

const MINUTE_MS = 60_000

describe('a password', () => {
  it.each([
    { maxAttempts: 0, failures: 1000, minutes: 5, locked: false },
    { maxAttempts: 3, failures: 2, minutes: 5, locked: false },
    { maxAttempts: 3, failures: 3, minutes: 5, locked: true },
    { maxAttempts: 3, failures: 9, minutes: 5, locked: true },
    { maxAttempts: 1, failures: 1, minutes: 0, locked: true },
  ])('of at most $maxAttempts attempts is locked after $failures failures: $locked', (row) => {
    const rules = { maxAttempts: row.maxAttempts, lockoutDurationMinutes: row.minutes }
    let attempts = NO_FAILED_ATTEMPTS
    for (let failure = 0; failure < row.failures; failure += 1) attempts = afterFailure(attempts, rules, 1000)
    expect(isLocked(attempts, 1000)).toBe(row.locked)
  })

  it.each([
    { minutes: 5, after: 5 * MINUTE_MS - 1, locked: true },
    { minutes: 5, after: 5 * MINUTE_MS, locked: false },
    { minutes: 0, after: 1000 * MINUTE_MS, locked: true },
  ])('locked for $minutes minutes is locked $after ms later: $locked', ({ minutes, after, locked }) => {
    const attempts = afterFailure(NO_FAILED_ATTEMPTS, { maxAttempts: 1, lockoutDurationMinutes: minutes }, 7)
    expect(isLocked(attempts, 7 + after)).toBe(locked)
  })

  it('has all of its attempts again when a lock has run out', () => {
    const rules = { maxAttempts: 2, lockoutDurationMinutes: 1 }
    const once = afterFailure(NO_FAILED_ATTEMPTS, rules, 0)
    const locked = afterFailure(once, rules, 0)
    const again = afterFailure(locked, rules, MINUTE_MS)
    expect([isLocked(locked, 0), isLocked(again, MINUTE_MS), again.failedAttempts]).toEqual([true, false, 1])
  })

  it('stays locked to the same instant, however often it is tried meanwhile', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(59_999),
        (maxAttempts, minutes, at) => {
          const rules = { maxAttempts, lockoutDurationMinutes: minutes }
          let attempts = NO_FAILED_ATTEMPTS
          for (let failure = 0; failure < maxAttempts; failure += 1) attempts = afterFailure(attempts, rules, 0)
          expect(afterFailure(attempts, rules, at)).toEqual(attempts)
          expect(attempts.lockedUntil).toBe(minutes * MINUTE_MS)
        },
      ),
    )
  })
})
