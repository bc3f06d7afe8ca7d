import { recordingLogger } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
// Internals: the timetable alone, under a scheduler that the test turns.
import { Timetable } from '../../src/context/timetable.ts'
import { createScheduler, systemClock } from '../../src/platform/system-runtime.ts'

const BULK_MS = 3000
/** Milliseconds that a busy machine may delay a timer. */
const TOLERANCE_MS = 1000

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A timetable by the time of the machine, and when it did what. */
function open() {
  const logger = recordingLogger()
  const timetable = new Timetable({ clock: systemClock, scheduler: createScheduler(systemClock), logger })
  const began = Date.now()
  const done = new Map<string, number>()
  const note = (what: string) => void done.set(what, Date.now() - began)
  return { timetable, began, done, note, logger }
}

describe('what time brings', () => {
  it('is not late because sessions are judged for three seconds: neither dial time-outs nor the sign of life', async () => {
    const { timetable, began, done, note } = open()
    timetable.onDue('access', async () => {
      // Judging many sessions leaves turns to others.
      while (Date.now() - began < BULK_MS) await pause(5)
      note('access')
    })
    timetable.onDue('route', async () => note('route'))
    timetable.onDue('presence', async () => note('presence'))
    timetable.set('access', 'every session', began)
    timetable.set('route', 'dial', began + 500)
    timetable.set('presence', 'process', began + 700)
    await pause(700 + TOLERANCE_MS)
    expect([...done.keys()]).toEqual(['route', 'presence'])
    expect(done.get('route')).toBeLessThan(500 + TOLERANCE_MS)
    await timetable.close()
    expect([...done.keys()].at(-1)).toBe('access')
  })

  it('waits for its own kind alone: two batches of one occasion are never at work', async () => {
    const { timetable, began } = open()
    let atWork = 0
    let most = 0
    let seen = 0
    timetable.onDue('revocation', async (ids) => {
      atWork += 1
      most = Math.max(most, atWork)
      await pause(20)
      atWork -= 1
      seen += ids.length
    })
    for (let id = 0; id < 1200; id += 1) timetable.set('revocation', `id ${id}`, began + (id % 40))
    await expect.poll(() => seen).toBe(1200)
    expect(most).toBe(1)
    await timetable.close()
  })

  it('does at most three things at once that may take long', async () => {
    const { timetable, began } = open()
    const atWork = new Set<string>()
    let most = 0
    const done = new Set<string>()
    for (const occasion of ['overdue', 'withdrawn', 'access', 'revocation', 'audit', 'keys'] as const) {
      timetable.onDue(occasion, async () => {
        atWork.add(occasion)
        most = Math.max(most, atWork.size)
        await pause(30)
        atWork.delete(occasion)
        done.add(occasion)
      })
      timetable.set(occasion, 'all', began)
    }
    await expect.poll(() => done.size).toBe(6)
    expect(most).toBe(3)
    await timetable.close()
  })
})
