import type { Scheduler } from '../../src/index.ts'
import type { FakeClock } from './fakes.ts'

/** A scheduler whose timers go off when a fake clock is moved to their instant or beyond: no test ever sleeps. */
export interface FakeScheduler extends Scheduler {
  /** Moves the clock to `instant` (epoch ms), stopping at every timer on the way until its work is done. */
  runUntil(instant: number): Promise<void>
  /** Resolves when no work is running. */
  idle(): Promise<void>
  /** How many timers have not gone off yet. */
  readonly pending: number
}

interface Timer {
  readonly instant: number
  readonly work: () => Promise<void>
}

/** Makes a scheduler that follows `clock`. */
export function fakeScheduler(clock: FakeClock): FakeScheduler {
  const timers = new Set<Timer>()
  const running = new Set<Promise<void>>()

  const fireDue = () => {
    const due = [...timers].filter(({ instant }) => instant <= clock.now()).sort((a, b) => a.instant - b.instant)
    for (const timer of due) {
      timers.delete(timer)
      const work = timer.work().finally(() => running.delete(work))
      running.add(work)
    }
  }
  const idle = async () => {
    // Work may set timers that are due at once, which begin in a later turn.
    for (await Promise.resolve(); running.size > 0; await Promise.resolve()) await Promise.all(running)
  }
  clock.onMove(fireDue)

  return {
    at: (instant, work) => {
      const timer = { instant, work }
      timers.add(timer)
      if (instant <= clock.now()) queueMicrotask(fireDue)
      return () => timers.delete(timer)
    },
    runUntil: async (instant) => {
      await idle()
      for (;;) {
        const next = Math.min(...[...timers].map((timer) => timer.instant))
        if (next > instant) break
        clock.set(Math.max(next, clock.now()))
        await idle()
      }
      clock.set(instant)
      await idle()
    },
    idle,
    get pending() {
      return timers.size
    },
  }
}
