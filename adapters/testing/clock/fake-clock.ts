import { checkArgument, type OptionRule } from '../../../src/domain/arguments/check-options.ts'
import type { Clock } from '../../../src/index.ts'

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
 * Makes a clock that starts at `now` (epoch ms), by default at the first instant of 2026, and stands still until it is told to move.
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

/** What an instant or a span takes: every timer would be compared in vain with what is no number. */
export const INSTANT: OptionRule = {
  shape: 'number',
  isNeeded: true,
  problem: (value: number) => (Number.isFinite(value) ? undefined : `takes a number of milliseconds, not ${value}`),
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
