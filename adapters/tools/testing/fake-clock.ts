import { checkArgument, type OptionRule } from '../../../src/base/arguments.ts'
import type { Clock, Scheduler } from '../../../src/index.ts'

/** A clock that a test moves. Instants and spans are milliseconds. */
export interface FakeClock extends Clock {
  /** True when it goes by itself as well. */
  readonly isTicking: boolean
  /** Moves forward (or, with a negative span, back) and answers the new instant. */
  advance(milliseconds: number): number
  /** Moves to an instant: epoch milliseconds. */
  set(now: number): void
  /** Adds a listener that is called after every move. */
  onMove(listener: () => void): void
}

/**
 * Makes a clock that starts at `now` (epoch ms), by default at the first instant of 2026, and stands still until it is moved.
 *
 * @example
 * const clock = fakeClock(Date.UTC(2026, 5, 1))
 * clock.advance(60_000)
 */
export function fakeClock(now = Date.UTC(2026, 0, 1)): FakeClock {
  checkArgument('fakeClock', 'now', now, INSTANT)
  let current = now
  return movable(
    false,
    () => current,
    (instant) => {
      current = instant
    },
  )
}

/**
 * Makes a clock that starts at `now` (epoch ms), by default at the present, and goes by itself: for clients that have clocks of their
 * own. It can be moved as well.
 *
 * @example
 * const clock = liveClock()
 * clock.advance(24 * 3_600_000) // tomorrow, and going on
 */
export function liveClock(now = Date.now()): FakeClock {
  checkArgument('liveClock', 'now', now, INSTANT)
  let ahead = now - Date.now()
  return movable(
    true,
    () => Date.now() + ahead,
    (instant) => {
      ahead = instant - Date.now()
    },
  )
}

/** The rule of an instant or a span: every timer would be compared in vain with a value that is no number. */
const INSTANT: OptionRule = {
  shape: 'number',
  isNeeded: true,
  problem: (value: number) => (Number.isFinite(value) ? undefined : `takes a number of milliseconds, not ${value}`),
}

/** The rule of the span by which time passes: it never goes back. */
export const SPAN: OptionRule = {
  shape: 'number',
  isNeeded: true,
  problem: (value: number) => (value >= 0 && value < Infinity ? undefined : `takes 0 or more, not ${value}`),
}

function movable(isTicking: boolean, now: () => number, move: (instant: number) => void): FakeClock {
  const listeners: (() => void)[] = []
  const set = (instant: number) => {
    checkArgument('clock.set', 'now', instant, INSTANT)
    move(instant)
    for (const listener of listeners) listener()
  }
  return {
    isTicking,
    now,
    advance: (milliseconds) => {
      checkArgument('clock.advance', 'milliseconds', milliseconds, INSTANT)
      set(now() + milliseconds)
      return now()
    },
    set,
    onMove: (listener) => void listeners.push(listener),
  }
}

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

/** The longest wait of a host timer, in ms; a later timer is set again then. */
const LONGEST_WAIT_MS = 2_147_483_647

/**
 * Makes a scheduler that follows `clock`. If the clock runs by itself, so do the timers. Timers hold no process alive.
 *
 * @example
 * const clock = fakeClock()
 * const scheduler = fakeScheduler(clock)
 * await scheduler.runUntil(clock.now() + 60_000) // what was due in this minute has happened
 */
export function fakeScheduler(clock: FakeClock): FakeScheduler {
  const timers = new Set<Timer>()
  const running = new Set<Promise<void>>()

  let alarm: ReturnType<typeof setTimeout> | undefined

  const fireDue = () => {
    const due = [...timers].filter(({ instant }) => instant <= clock.now()).sort((a, b) => a.instant - b.instant)
    for (const timer of due) {
      timers.delete(timer)
      const work = timer.work().finally(() => running.delete(work))
      running.add(work)
    }
    setAlarm()
  }
  /** Where the clock goes by itself, the host says when the next timer is due. */
  const setAlarm = () => {
    clearTimeout(alarm)
    if (!clock.isTicking || timers.size === 0) return
    alarm = setTimeout(fireDue, Math.min(Math.max(earliest() - clock.now(), 0), LONGEST_WAIT_MS))
    alarm.unref()
  }
  const earliest = () => Math.min(...[...timers].map((timer) => timer.instant))
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
      else setAlarm()
      return () => {
        timers.delete(timer)
        setAlarm()
      }
    },
    runUntil: async (instant) => {
      checkArgument('runUntil', 'instant', instant, INSTANT)
      await idle()
      for (;;) {
        const next = earliest()
        if (next > instant) break
        clock.set(Math.max(next, clock.now()))
        await idle()
      }
      clock.set(Math.max(instant, clock.now()))
      await idle()
    },
    idle,
    get pending() {
      return timers.size
    },
  }
}

/** Turns of the event loop that bring nothing new until all work counts as done: a stream of Node hands on in a later turn. */
const QUIET_TURNS = 2
/** The most turns that are waited for: two endpoints may talk for ever. A dial takes some twenty. */
const MOST_TURNS = 200
const ONE_BYTE = new Uint8Array(1)

/** Kept here because a test may replace the global one by a clock of its own. */
const { setImmediate } = globalThis

/**
 * Resolves when the work of this process that no timer has to set off is done: requests that are being answered, messages between
 * endpoints, signatures that are being verified. Without this a test could let seconds pass by its clock in less time than one signature
 * takes, and every dial would time out. Sockets and other threads are not waited for.
 */
export async function workUnderWay(): Promise<void> {
  for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; turns += 1) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    // The threads that verify signatures take work in the order in which it was given.
    await crypto.subtle.digest('SHA-256', ONE_BYTE)
    quiet = process.getActiveResourcesInfo().includes('Immediate') ? 0 : quiet + 1
  }
}
