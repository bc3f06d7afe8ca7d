import { fakeClock, fakeScheduler, recordingLogger } from 'portcullis/testing'
import { Timetable } from '../../src/context/timetable.ts'
import type { BenchRow } from '../row.ts'
import { timed, timedSync } from './timing.ts'

const TIMEOUTS = 100_000
const DAY_MS = 24 * 60 * 60 * 1000

/** A day of virtual time in which the second factor of each of 100,000 identities times out, spread over the day. */
export async function benchTimeouts(): Promise<BenchRow[]> {
  const deadlines = Array.from({ length: TIMEOUTS }, (_, number) => 1 + ((number * 7919) % DAY_MS))
  const days = await Promise.all(Array.from({ length: 4 }, () => prepareDay(deadlines)))
  const { value, unit } = await timed(3, async () => {
    await days.pop()?.()
  })
  const ceiling = {
    name: 'sorting the instants',
    value: timedSync(5, () => Float64Array.from(deadlines).sort().length),
  }
  return [{ name: 'a day with 100,000 MFA timeouts', value, unit, ceiling, target: '<300 ms (W16)' }]
}

/** Sets every timeout; what is answered turns the clock by a day. */
async function prepareDay(deadlines: readonly number[]): Promise<() => Promise<void>> {
  const clock = fakeClock(0)
  const scheduler = fakeScheduler(clock)
  const timetable = new Timetable({ clock, scheduler, logger: recordingLogger() })
  let due = 0
  timetable.onDue('revocation', async (ids) => {
    due += ids.length
  })
  for (const [number, at] of deadlines.entries()) timetable.set('revocation', `i${number}`, at)
  return async () => {
    await scheduler.runUntil(DAY_MS)
    if (due !== TIMEOUTS) throw new Error(`${due} of ${TIMEOUTS} timeouts came due`)
    await timetable.close()
  }
}
