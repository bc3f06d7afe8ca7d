import { describe, expect, it } from 'vitest'
// Internals: the judgement alone, on ratios that the test decides.
import { judged } from '../../bench/guard/ratios.ts'

describe('the guard of the speed of a release', () => {
  it('takes the middle of the ratios, whatever single rounds were', () => {
    expect(judged([1, 1.02, 0.98, 1.01, 40]).median).toBe(1.01)
    expect(judged([1, 1.1, 1.2, 1.3]).median).toBeCloseTo(1.15)
  })

  it('tells a bound from five rounds on, below which the true median is in one of twenty cases at most', () => {
    expect(judged([1.3, 1.3, 1.3, 1.3]).least).toBe(0)
    expect(judged([1.5, 1.2, 1.3, 1.4, 1.6]).least).toBe(1.2)
    expect(judged([9, 8, 7, 6, 5, 4, 3, 2]).least).toBe(3)
    // Of fifteen the fourth: three or fewer of fifteen lie below a median with a chance of 0.018, four or fewer with 0.059.
    expect(judged(Array.from({ length: 15 }, (_, place) => place)).least).toBe(3)
  })

  it('finds that what is slower in every round is slower, and that noise is not', () => {
    expect(judged([1.2, 1.25, 1.22, 1.3, 1.21, 1.4, 1.28]).least).toBeGreaterThan(1.1)
    expect(judged([0.7, 1.6, 1.2, 0.9, 1.3, 1.15, 1.05]).least).toBeLessThan(1.1)
  })
})
