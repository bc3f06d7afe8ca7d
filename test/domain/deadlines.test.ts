import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: the timetable alone, under a scheduler that the test turns.
import { Deadlines } from '../../src/context/timetable.ts'

const key = fc.integer({ min: 0, max: 9 }).map(String)
const instant = fc.integer({ min: 0, max: 30 })
const edit = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, at: instant }),
  fc.record({ do: fc.constant('delete' as const), key }),
  fc.record({ do: fc.constant('take' as const), at: instant, limit: fc.integer({ min: 1, max: 4 }) }),
)

/** The same, by looking at everything each time. */
function naiveTake(model: Map<string, number>, now: number, limit: number): readonly number[] {
  const due = [...model].filter(([, at]) => at <= now).sort(([, a], [, b]) => a - b)
  return due.slice(0, limit).map(([, at]) => at)
}

describe('deadlines', () => {
  it('come up as a search through all of them would find them', () => {
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 300 }), (edits) => {
        const deadlines = new Deadlines()
        const model = new Map<string, number>()
        for (const change of edits) {
          if (change.do === 'set') {
            deadlines.set(change.key, change.at)
            model.set(change.key, change.at)
          } else if (change.do === 'delete') {
            deadlines.delete(change.key)
            model.delete(change.key)
          } else {
            const expected = naiveTake(model, change.at, change.limit)
            const taken = deadlines.takeDue(change.at, change.limit)
            expect(taken.map((name) => model.get(name))).toEqual(expected)
            for (const name of taken) model.delete(name)
          }
          expect(deadlines.size).toBe(model.size)
          expect(deadlines.next()).toBe(model.size === 0 ? undefined : Math.min(...model.values()))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('of 100,000 identities pass through a day in order', () => {
    const deadlines = new Deadlines()
    const day = 24 * 60 * 60 * 1000
    for (let id = 0; id < 100_000; id += 1) deadlines.set(`identity ${id}`, (id * 7919 * 104_729) % day)
    let [now, taken] = [-1, 0]
    for (let next = deadlines.next(); next !== undefined; next = deadlines.next()) {
      expect(next > now).toBe(true)
      now = next
      taken += deadlines.takeDue(now).length
    }
    expect(taken).toBe(100_000)
  })

  it('that are replaced again and again are one deadline', () => {
    const deadlines = new Deadlines()
    for (let at = 0; at < 10_000; at += 1) deadlines.set('identity', 10_000 - at)
    expect(deadlines.next()).toBe(1)
    expect(deadlines.takeDue(20_000)).toEqual(['identity'])
    expect(deadlines.next()).toBeUndefined()
  })
})
