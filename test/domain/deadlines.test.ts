import fc from 'fast-check'
import { fakeClock, fakeScheduler, recordingLogger } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
// Internals: the timetable alone, under a scheduler that the test turns.
import { Deadlines, Timetable } from '../../src/context/timetable.ts'

const MINUTE = 60_000

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
      fc.property(fc.array(edit, { maxLength: 300, size: 'max' }), (edits) => {
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

describe('a timetable', () => {
  const open = () => {
    const clock = fakeClock(0)
    const scheduler = fakeScheduler(clock)
    const logger = recordingLogger()
    return { clock, scheduler, logger, timetable: new Timetable({ clock, scheduler, logger }) }
  }

  it('keeps one timer, however much is due, and none when it is closed', async () => {
    const { scheduler, timetable } = open()
    for (let id = 0; id < 1000; id += 1) timetable.set('revocation', `id ${id}`, 1000 + id)
    timetable.set('auth-request', 'x', 5)
    expect(scheduler.pending).toBe(1)
    await timetable.close()
    expect(scheduler.pending).toBe(0)
    timetable.set('revocation', 'late', 1)
    expect(scheduler.pending).toBe(0)
  })

  it('does everything that is due, in batches', async () => {
    const { scheduler, timetable } = open()
    const batches: (readonly string[])[] = []
    timetable.onDue('revocation', async (ids) => void batches.push(ids))
    for (let id = 0; id < 1200; id += 1) timetable.set('revocation', `id ${id}`, 10)
    timetable.set('revocation', 'never', 20)
    timetable.set('revocation', 'never', undefined)
    await scheduler.runUntil(30)
    expect(batches.map(({ length }) => length)).toEqual([500, 500, 200])
    expect(new Set(batches.flat()).size).toBe(1200)
  })

  it('tries again a minute later what failed', async () => {
    const { clock, scheduler, logger, timetable } = open()
    const at: number[] = []
    timetable.onDue('revocation', async () => {
      at.push(clock.now())
      if (at.length === 1) throw new Error('storage is away')
    })
    timetable.set('revocation', 'id', 10)
    await scheduler.runUntil(10 * MINUTE)
    expect(at).toEqual([10, 10 + MINUTE])
    expect(logger.entries).toMatchObject([{ level: 'error', fields: { error: 'Error: storage is away' } }])
  })
})
