import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { DAY_MS } from '../../../src/base/time.ts'
import { type ControllerEvents, EVENT_NAMES, type EventName, type HostEvents } from '../../../src/index.ts'
import type { FakeClock, FakeScheduler } from './fake-clock.ts'

/** Which event a test waits for, and for how long. */
export interface Wait<E extends EventName> {
  /** Which events count. Default: every one of the name. */
  readonly where?: (event: ControllerEvents[E]) => boolean
  /** How long it may take, in ms of the test's clock. Default: a day, or 4 s of a clock that goes by itself. */
  readonly withinMs?: number
  /**
   * How long nothing may happen, in ms of the computer's clock: no event comes, and the test does not move its clock. A clock that
   * stands still would let the test wait for ever. Default: 4 s, which is less than test runners give a test; at least `withinMs`
   * where the clock goes by itself.
   */
  readonly patienceMs?: number
}

/** The events of a controller, to be waited for as well. */
export interface TestEvents extends HostEvents {
  /**
   * Resolves with the next event of a name, from the call on: call it before what causes the event, await it after. Rejects when no such
   * event comes in time, with the names of the other events, and with any error of `where`.
   *
   * @example
   * const ended = net.events.wait('session.ended')
   * await net.as('laptop').report({ domain: 'elsewhere.example' })
   * expect((await ended).reason).toBe('posture-failed')
   */
  wait<E extends EventName>(name: E, wait?: Wait<E>): Promise<ControllerEvents[E]>
}

const OPTIONS: OptionRules<Wait<EventName>> = { where: 'function', withinMs: 'number', patienceMs: 'number' }

const PATIENCE_MS = 4000

/** Greatest number of other events that the message names when the awaited event did not come. */
const MOST_TOLD = 10

/** Lets a test wait for events. */
export function waitingEvents(events: HostEvents, clock: FakeClock, scheduler: FakeScheduler): TestEvents {
  const restarts = new Set<() => void>()
  clock.onMove(() => {
    for (const restart of restarts) restart()
  })
  const { on } = events
  return {
    ...events,
    wait: (name, asked = {}) =>
      new Promise((resolve, reject) => {
        checkOptions('events.wait', asked, OPTIONS)
        const { where = () => true, withinMs = clock.isTicking ? PATIENCE_MS : DAY_MS } = asked
        const { patienceMs = Math.max(PATIENCE_MS, clock.isTicking ? withinMs : 0) } = asked
        const others: string[] = []
        const settle = (done: () => void) => {
          clearTimeout(patience)
          restarts.delete(restart)
          cancel()
          for (const stop of stops) stop()
          done()
        }
        const told = (other: string) => {
          others.push(other)
          restart()
        }
        const expire = (span: string) =>
          settle(() => reject(new Error(`no event '${name}' came within ${span}${cameInstead(others)}`)))
        let patience: ReturnType<typeof setTimeout> | undefined
        const restart = () => {
          clearTimeout(patience)
          patience = setTimeout(() => expire(`${patienceMs} ms of the computer's clock`), patienceMs)
        }
        // First of all: a name that no event has throws.
        const stops = [
          on(name, (event) => {
            try {
              if (where(event)) settle(() => resolve(event))
              else told(`${name} ${JSON.stringify(event)}`)
            } catch (error) {
              settle(() => reject(error))
            }
          }),
          ...EVENT_NAMES.filter((other) => other !== name).map((other) => on(other, () => told(other))),
        ]
        const deadline = clock.now() + withinMs + 1
        const cancel = scheduler.at(deadline, async () => {
          // A clock that was moved past the deadline at once may still have earlier work to do, which may report the event.
          const before = clock.now() > deadline ? scheduler.idle() : Promise.resolve()
          void before.then(() => expire(`${withinMs} ms of the test's clock`))
        })
        restarts.add(restart)
        restart()
      }),
  }
}

function cameInstead(others: readonly string[]): string {
  if (others.length === 0) return ', nor any other'
  const counts = new Map<string, number>()
  for (const text of others) counts.set(text, (counts.get(text) ?? 0) + 1)
  const told = [...counts].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`))
  const more = told.length > MOST_TOLD ? ` and ${told.length - MOST_TOLD} more` : ''
  return `; these came: ${told.slice(0, MOST_TOLD).join(', ')}${more}`
}
