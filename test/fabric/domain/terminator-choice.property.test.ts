import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: pure rules of circuits and paths, compared with an oracle by the thousand.
import {
  type Candidate,
  chooseTerminator,
  circuitEnded,
  dialFailed,
  dialSucceeded,
  dynamicCost,
  type TerminatorStrategy,
  UNUSED,
} from '../../../src/facts/fabric/rules/index.ts'
import { runs } from '../../support/property-runs.ts'

const precedence = fc.constantFrom('required' as const, 'default' as const, 'failed' as const)
const candidates: fc.Arbitrary<Candidate[]> = fc
  .array(fc.record({ precedence, cost: fc.nat(200_000) }), { maxLength: 8 })
  .map((drawn) => drawn.map((one, position) => ({ ...one, id: `t${position}`, routerId: 'r' })))
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const strategy = fc.constantFrom<TerminatorStrategy>('smartrouting', 'random', 'weighted', 'sticky')
const RANK = { required: 0, default: 1, failed: 2 }

describe('the choice of a terminator', () => {
  it('is one of the best precedence, if there is any at all', () => {
    fc.assert(
      fc.property(strategy, candidates, random, (by, known, drawn) => {
        const chosen = chooseTerminator(by, known, { random: drawn })
        const best = Math.min(...known.map((candidate) => RANK[candidate.precedence]))
        expect(chosen === undefined).toBe(known.length === 0)
        if (chosen !== undefined) expect(RANK[chosen.precedence]).toBe(best)
      }),
      runs(300),
    )
  })

  it('is the cheapest of them by smart routing, and for a sticky client that has none of them', () => {
    fc.assert(
      fc.property(candidates, random, (known, drawn) => {
        const order = [...known].sort(
          (left, right) => RANK[left.precedence] - RANK[right.precedence] || left.cost - right.cost,
        )
        const chosen = chooseTerminator('smartrouting', known, { random: drawn })
        expect(chosen?.cost).toBe(order[0]?.cost)
        expect(chooseTerminator('sticky', known, { random: drawn, stickTo: 'gone' })).toEqual(chosen)
      }),
      runs(300),
    )
  })

  it('stays with a sticky client unless others are of a better precedence', () => {
    const known: Candidate[] = [
      { id: 'cheap', routerId: 'r', precedence: 'default', cost: 1 },
      { id: 'dear', routerId: 'r', precedence: 'default', cost: 99 },
      { id: 'failed', routerId: 'r', precedence: 'failed', cost: 0 },
    ]
    expect(chooseTerminator('sticky', known, { random: 0, stickTo: 'dear' })?.id).toBe('dear')
    expect(chooseTerminator('sticky', known, { random: 0, stickTo: 'failed' })?.id).toBe('cheap')
    // Smart routing looks at the costs alone.
    expect(chooseTerminator('smartrouting', known, { random: 0, stickTo: 'dear' })?.id).toBe('cheap')
  })

  it('is the one with the lowest id of equally cheap ones, in whatever order they are known', () => {
    const known = ['b', 'a', 'c'].map((id): Candidate => ({ id, routerId: 'r', precedence: 'default', cost: 7 }))
    for (const order of [known, known.toReversed()]) {
      expect(chooseTerminator('smartrouting', order, { random: 0 })?.id).toBe('a')
    }
  })

  it.each([
    ['random', [25, 75], [0.5, 0.5]],
    ['weighted', [25, 75], [0.75, 0.25]],
    // Each has the share of the others in all costs, 3/4, 3/4 and 2/4, of the two wholes that these make; 0 counts as 1.
    ['weighted', [0, 1, 2], [0.375, 0.375, 0.25]],
  ] as const)('meets each with its share: %s, by costs of %j', (by, costs, shares) => {
    const known = costs.map((cost, at): Candidate => ({ id: `t${at}`, routerId: 'r', precedence: 'default', cost }))
    const draws = Array.from({ length: 1000 }, (_, position) => position / 1000)
    const chosen = draws.map((drawn) => chooseTerminator(by, known, { random: drawn })?.id)
    expect(known.map(({ id }) => chosen.filter((one) => one === id).length / draws.length)).toEqual(shares)
  })
})

describe('the dynamic cost of a terminator', () => {
  const step = fc.oneof(
    fc.constant('failed' as const),
    fc.constant('succeeded' as const),
    fc.constant('ended' as const),
    fc.nat(20).map((minutes) => minutes),
  )

  it('is never beyond its bounds, and nothing is left of failures in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        let [use, now, open] = [UNUSED, 0, 0]
        for (const one of steps) {
          if (one === 'failed') use = dialFailed(use, now)
          else if (one === 'succeeded') {
            use = dialSucceeded(use, now)
            open += 1
          } else if (one === 'ended') {
            use = circuitEnded(use)
            open = Math.max(0, open - 1)
          } else now += one * 60_000
          expect(dynamicCost(use, now)).toBeGreaterThanOrEqual(2 * open)
          expect(dynamicCost(use, now)).toBeLessThanOrEqual(65_535)
        }
        expect(dynamicCost(use, now + 24 * 60 * 60_000)).toBe(2 * open)
      }),
      runs(300),
    )
  })

  it('grows by 20 with a failure, falls by 2 with a success and by 10 with each minute', () => {
    const failed = dialFailed(dialFailed(UNUSED, 1000), 1000)
    expect(dynamicCost(failed, 1000)).toBe(40)
    expect(dynamicCost(dialSucceeded(failed, 1000), 1000)).toBe(40)
    expect(dynamicCost(failed, 60_999)).toBe(40)
    expect(dynamicCost(failed, 61_000)).toBe(30)
    expect(dynamicCost(failed, 121_000)).toBe(20)
  })

  it('falls faster with the time since the last failure: by 2 to the power of a fifth of the minutes, once that is more than 10', () => {
    let use = UNUSED
    for (let failures = 0; failures < 20; failures += 1) use = dialFailed(use, 30_000)
    const after = (minutes: number) => dynamicCost(use, 30_000 + minutes * 60_000)
    // 2 to the power of 16/5 is 9.2, of 17/5 10.6, of 18/5 12.1, of 19/5 13.9 and of 4 it is 16.
    expect([0, 16, 17, 18, 19, 20].map(after)).toEqual([400, 240, 230, 218, 204, 188])
  })

  it('loses no part of a minute where a dial succeeds meanwhile', () => {
    const failed = dialFailed(dialFailed(UNUSED, 0), 0)
    const succeeded = dialSucceeded(failed, 59_999)
    expect(dynamicCost(succeeded, 59_999)).toBe(40)
    expect(dynamicCost(succeeded, 60_000)).toBe(30)
  })
})
