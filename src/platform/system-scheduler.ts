import type { Clock } from '../ports/clock.ts'
import type { Scheduler } from '../ports/scheduler.ts'

/** Longest sleep (ms): timers overflow after 24.8 days, and a clock that was set forward is noticed within a minute. */
const LONGEST_SLEEP_MS = 60_000

/** Timers of the host, read against the controller's clock; they do not keep the process running. */
export function createScheduler(clock: Clock): Scheduler {
  return {
    at(instant, work) {
      let timer: ReturnType<typeof setTimeout>
      const sleep = () => {
        const remaining = Math.max(0, instant - clock.now())
        timer = setTimeout(wake, Math.min(remaining, LONGEST_SLEEP_MS))
        // Runtimes other than Node give a number, which holds nothing alive either.
        if (typeof timer === 'object') timer.unref()
      }
      const wake = () => {
        if (clock.now() < instant) sleep()
        else void work()
      }
      sleep()
      return () => clearTimeout(timer)
    },
  }
}
