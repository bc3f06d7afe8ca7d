import { fakeClock } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { BoundedWindows, createRateLimiter, createRateLimiters } from '../../src/platform/rate-limits.ts'

const ALLOWED = { allowed: true }
const refused = (retryAfterMs: number) => ({ allowed: false, retryAfterMs })

function setUp(limit = 2, maxKeys = 100) {
  const clock = fakeClock()
  return { clock, limiter: createRateLimiter({ limit, windowMs: 1_000, maxKeys, clock }) }
}

describe('a rate limiter', () => {
  it('allows what the limit says and tells when the window ends', async () => {
    const { clock, limiter } = setUp()
    expect(await limiter.take('a')).toEqual(ALLOWED)
    clock.advance(400)
    expect(await limiter.take('a')).toEqual(ALLOWED)
    expect(await limiter.take('a')).toEqual(refused(600))
    clock.advance(599)
    expect(await limiter.take('a')).toEqual(refused(1))
    clock.advance(1)
    expect(await limiter.take('a')).toEqual(ALLOWED)
  })

  it('counts keys apart and costs together', async () => {
    const { limiter } = setUp(10)
    expect(await limiter.take('a', 10)).toEqual(ALLOWED)
    expect(await limiter.take('b', 11)).toEqual(refused(1_000))
    expect(await limiter.take('a')).toEqual(refused(1_000))
    expect(await limiter.take('c', 4)).toEqual(ALLOWED)
  })

  it('locks nobody out for longer than a window when the clock is put back', async () => {
    const { clock, limiter } = setUp(1)
    await limiter.take('a')
    clock.advance(-86_400_000)
    expect(await limiter.take('a')).toEqual(ALLOWED)
  })

  it('remembers a bounded number of keys, those that were used last', async () => {
    const windows = new BoundedWindows({ limit: 1, windowMs: 1_000, maxKeys: 3, clock: fakeClock() })
    for (let index = 0; index < 1_000; index += 1) {
      await windows.take(`key ${index}`)
      await windows.take('used')
    }
    expect(windows.size).toBe(3)
    expect(await windows.take('used')).toEqual(refused(1_000))
    expect(await windows.take('key 0')).toEqual(ALLOWED)
  })

  it.each([
    { limit: 0, windowMs: 1 },
    { limit: 1, windowMs: 0 },
    { limit: Number.NaN, windowMs: 1 },
  ])('has a rate: %j is refused', (identity) => {
    expect(() => createRateLimiters({ identity }, fakeClock())).toThrow('rateLimits.identity needs')
  })
})
