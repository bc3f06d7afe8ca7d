import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createDigest } from '../../src/platform/sha256-digest.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import { systemRandom } from '../../src/platform/system-random.ts'

describe('system clock', () => {
  it('answers the milliseconds of the host', () => {
    const before = Date.now()
    expect(systemClock.now()).toBeGreaterThanOrEqual(before)
    expect(systemClock.now()).toBeLessThanOrEqual(Date.now())
  })
})

describe('system random', () => {
  it('makes ids of ten letters and digits that do not repeat', () => {
    const ids = Array.from({ length: 5000 }, () => systemRandom.id())
    expect(ids.every((id) => /^[0-9a-zA-Z]{10}$/.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('draws every character equally often (chi-square under 61 degrees of freedom)', () => {
    const counts = new Map<string, number>()
    const draws = 62_000
    for (let at = 0; at < draws / 10; at += 1) {
      for (const char of systemRandom.id()) counts.set(char, (counts.get(char) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    const expected = draws / 62
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // A fair source exceeds 140 about once in ten million runs; modulo bias (256 = 4 * 62 + 8) adds about 460.
    expect(chiSquare).toBeLessThan(140)
  })

  it('makes version 4 UUIDs', () => {
    expect(systemRandom.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(systemRandom.uuid()).not.toBe(systemRandom.uuid())
  })
})

describe('digest', () => {
  it.each(['', 'token', 'zażółć 🔑'])('answers the SHA-256 of the UTF-8 text %j', async (text) => {
    expect((await createDigest()).sha256(text)).toBe(createHash('sha256').update(text).digest('hex'))
  })
})
