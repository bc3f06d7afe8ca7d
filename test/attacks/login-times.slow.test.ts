import { describe, expect, it, onTestFinished } from 'vitest'
// Internals: the real password hasher, with an Argon2 that counts or is slow.
import { createPasswordHasher } from '../../src/platform/argon2-password-hasher.ts'
import { login } from '../support/people.ts'
import { REFUSED, refusedPeople, WRONG } from './refused-people.ts'

describe('A3: a refused login', () => {
  it('takes the same time for all of them', { retry: 2, timeout: 60_000 }, async () => {
    const mounted = await refusedPeople({ passwordHasher: createPasswordHasher() })
    onTestFinished(() => mounted.dispose())
    const times = new Map<string, number[]>(REFUSED.map((username) => [username, []]))
    for (let round = 0; round < 25; round += 1) {
      for (const [username, taken] of times) {
        const from = performance.now()
        await login(mounted, { username, password: WRONG })
        taken.push(performance.now() - from)
      }
    }
    const medians = [...times.values()].map((taken) => taken.sort((a, b) => a - b)[12] ?? Number.NaN)
    // Argon2 takes milliseconds; a login without it takes less than one.
    expect(Math.min(...medians)).toBeGreaterThan(2)
    expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(1.25)
  })
})
